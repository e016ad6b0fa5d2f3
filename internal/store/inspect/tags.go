package inspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"retwis/internal/record"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// TagRecord returns the stored state of a hashtag, and of the claim of its name.
func (s *Inspector) TagRecord(ctx context.Context, id retwis.TagID) (record.Tag, error) {
	r, err := s.tagOf(ctx, id)
	if err != nil || !r.Exists {
		return r, err
	}
	r.Holder, _, err = s.TagHolder(ctx, retwis.FoldTag(r.Name))
	return r, err
}

// tagOf returns the record of a hashtag alone.
func (s *Inspector) tagOf(ctx context.Context, id retwis.TagID) (record.Tag, error) {
	name, err := s.db.Client.HGet(ctx, s.db.OfBucket(id.Bucket()).Hashtag(id).Record(), "name").Result()
	if errors.Is(err, redis.Nil) {
		return record.Tag{}, nil
	}
	if err != nil {
		return record.Tag{}, fmt.Errorf("inspect hashtag %s: %w", id, err)
	}
	return record.Tag{Exists: true, Name: name}, nil
}

// TagHolder returns the hashtag that claims a folded name, 0 if the claim is malformed, and false if none does.
func (s *Inspector) TagHolder(ctx context.Context, folded string) (retwis.TagID, bool, error) {
	claim, err := s.db.Client.Get(ctx, s.db.OfName(folded).TagName(folded)).Result()
	if errors.Is(err, redis.Nil) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("inspect the claim of a hashtag: %w", err)
	}
	tag, malformed := store.ParseTagClaim(claim)
	if malformed == nil && s.db.OfBucket(tag.ID.Bucket()) == s.db.OfName(folded) {
		return tag.ID, true, nil
	}
	return 0, true, nil
}

// RepairTag makes the record of a hashtag and the claim of a folded name agree: see the script.
func (s *Repairer) RepairTag(ctx context.Context, folded string, id retwis.TagID) error {
	r, err := s.inspector.tagOf(ctx, id)
	if err != nil {
		return err
	}
	spells := ""
	if r.Exists && retwis.FoldTag(r.Name) == folded {
		spells = "1"
	}
	p := s.db.OfName(folded)
	if folded == "" {
		p = s.db.OfBucket(id.Bucket())
	}
	err = s.db.Do(ctx, rdb.Call{
		Script: script.RepairTag, Keys: []string{p.TagName(folded), p.Hashtag(id).Record(), p.Hashtag(id).Posts()},
		Args: []any{id.String(), r.Name, spells, p.Prefix(rdb.TagKeys)},
	}).Err()
	if err != nil {
		return fmt.Errorf("repair hashtag %s: %w", id, err)
	}
	return nil
}

// InsertEntry inserts an entry into a timeline that cannot be rebuilt: see [store.Timelines.Insert].
func (s *Repairer) InsertEntry(ctx context.Context, id retwis.TimelineID, entry retwis.Element) error {
	return s.timelines.Insert(ctx, id, []retwis.Element{entry})
}
