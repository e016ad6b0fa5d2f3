package inspect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"retwis/internal/record"
	"retwis/internal/retwis"
	"retwis/internal/store/rdb"

	"github.com/redis/go-redis/v9"
)

// Scan scans all keys of the database in small steps and calls found with the subjects of each step, not concurrently.
// It finds everything that exists throughout the scan at least once.
func (s *Inspector) Scan(ctx context.Context, found func(record.Scanned) error) error {
	var mu sync.Mutex
	scan := func(ctx context.Context, node *redis.Client) error {
		var cursor uint64
		for {
			keys, next, err := node.Scan(ctx, cursor, "{*}:[lnqrtu][aeisu][egkmop][elort:_]*", rdb.ScanStep).Result()
			if err != nil {
				return fmt.Errorf("scan the keys: %w", err)
			}
			some, names := s.sortKeys(keys)
			if some.Names, err = s.nameClaims(ctx, names); err != nil {
				return err
			}
			mu.Lock()
			err = found(some)
			mu.Unlock()
			if err != nil {
				return err
			}
			if cursor = next; cursor == 0 {
				return ctx.Err()
			}
		}
	}
	return s.db.ForEachMaster(ctx, scan)
}

// sortKeys returns the subjects among keys, and the names. It ignores keys of other programs and of partitions that do not
// exist.
func (s *Inspector) sortKeys(keys []string) (found record.Scanned, names []string) {
	for _, key := range keys {
		_, rest, _ := strings.Cut(key, "}:")
		kind, value, _ := strings.Cut(rest, ":")
		switch kind {
		case "user":
			if id, err := retwis.ParseUserID(value); err == nil && s.db.OfUser(id).User(id).Account() == key {
				found.Users = append(found.Users, id)
			}
		case "name":
			if s.db.OfName(value).Name(value) == key {
				names = append(names, value)
			}
		case string(rdb.TagKeys):
			number, _, _ := strings.Cut(value, ":") // a record or a timeline
			if id, err := retwis.ParseTagID(number); err == nil && strings.HasPrefix(key, s.db.OfBucket(id.Bucket()).Tag) {
				found.Tags = append(found.Tags, id)
			}
		case "tag_name":
			if s.db.OfName(value).TagName(value) == key {
				found.TagNames = append(found.TagNames, value)
			}
		case string(retwis.ReplyReference), string(retwis.QuoteReference), string(retwis.RepostReference):
			if id, err := retwis.ParsePostID(value); err == nil {
				to := record.Referenced{Kind: retwis.ReferenceKind(kind), Post: id}
				if p, ok := s.db.OfPost(id); ok && p.References(to.Kind, id) == key {
					found.Referenced = append(found.Referenced, to)
				}
			}
		case string(rdb.LikerKeys), string(rdb.LikePartitionKeys):
			if id, err := retwis.ParsePostID(value); err == nil {
				if _, ok := s.db.OfPost(id); ok {
					found.Liked = append(found.Liked, id)
				}
			}
		}
	}
	return found, names
}

// nameClaims returns the holders of names. It omits names that are free by now.
func (s *Inspector) nameClaims(ctx context.Context, names []string) ([]record.NameClaim, error) {
	if len(names) == 0 {
		return nil, nil
	}
	pipe := s.db.Client.Pipeline()
	holders := make([]*redis.StringCmd, len(names))
	for i, name := range names {
		holders[i] = pipe.Get(ctx, s.db.OfName(name).Name(name))
	}
	_, _ = pipe.Exec(ctx) // every holder has its own error
	var claims []record.NameClaim
	for i, name := range names {
		holder, err := holders[i].Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return nil, fmt.Errorf("read the holder of a name: %w", err)
		}
		if err == nil {
			id, _ := retwis.ParseUserID(holder) // 0 if it is not an id
			claims = append(claims, record.NameClaim{Folded: name, Owner: id})
		}
	}
	return claims, nil
}

// NameOwner returns the holder of a name, false if it is free.
func (s *Inspector) NameOwner(ctx context.Context, folded string) (retwis.UserID, bool, error) {
	claims, err := s.nameClaims(ctx, []string{folded})
	if err != nil || len(claims) == 0 {
		return 0, false, err
	}
	return claims[0].Owner, true, nil
}
