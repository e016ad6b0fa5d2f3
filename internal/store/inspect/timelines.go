package inspect

import (
	"context"
	"errors"
	"fmt"

	"retwis/internal/record"
	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"

	"github.com/redis/go-redis/v9"
)

// TimelineRecord returns the stored state of a timeline. It does not rebuild it.
func (s *Inspector) TimelineRecord(ctx context.Context, id retwis.TimelineID) (record.Timeline, error) {
	p := s.db.OfTimeline(id)
	r := record.Timeline{ID: id, Sources: map[retwis.UserID]int64{}}
	owner := ""
	if id.Kind == retwis.HomeTimeline {
		owner = id.Owner.String()
	}
	reply, err := s.db.Do(ctx, rdb.Call{
		Script: script.InspectTimeline,
		Keys:   []string{p.Timeline(id).Entries(), p.Timeline(id).Sources(), p.Timeline(id).Epoch(), p.LargeAuthors(), p.Timeline(id).Owner()},
		Args:   []any{owner, p.Tag + ":", s.options.HomeCap, p.Timeline(id).Marker()},
	}).Slice()
	if err != nil || len(reply) != 8 {
		return r, fmt.Errorf("inspect timeline %s: %d fields: %w", id, len(reply), err)
	}
	if id.FannedOut() && rdb.Text(reply[0]) != "active" {
		return r, nil
	}
	r.Epoch = rdb.Number(reply[1])
	if entries, _ := reply[2].([]any); len(entries) > 0 {
		r.End = record.ListTrimmed
		switch rdb.Text(entries[len(entries)-1]) {
		case rdb.ListComplete:
			r.End, entries = record.ListComplete, entries[:len(entries)-1]
		case rdb.ListBuilding:
			r.End, entries = record.ListBuilding, entries[:len(entries)-1]
		}
		r.Entries, r.Foreign = elements(entries)
	}
	sources, _ := reply[3].([]any)
	for i := 0; i+1 < len(sources); i += 2 {
		author, err := retwis.ParseUserID(rdb.Text(sources[i]))
		if err != nil {
			return r, fmt.Errorf("inspect timeline %s: %w", id, err)
		}
		r.Sources[author] = rdb.Score(sources[i+1])
	}
	pending, _ := reply[4].([]any)
	r.Pending, _ = elements(pending)
	if gap := rdb.Text(reply[5]); gap != "" {
		e, err := retwis.ParseElement(gap)
		if err != nil {
			return r, fmt.Errorf("inspect timeline %s: %w", id, err)
		}
		r.Gap = e.ID
	}
	r.Marker = rdb.Text(reply[6])
	r.Displaced = retwis.PostID(rdb.Number(reply[7]))
	return r, nil
}

// Assigned reports whether the clock of the partition that assigns a post id has reached it.
func (s *Inspector) Assigned(ctx context.Context, id retwis.PostID) (bool, error) {
	p, ok := s.db.OfPost(id)
	if !ok {
		return false, nil
	}
	clock, err := s.db.Client.Get(ctx, p.Clock()).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return false, fmt.Errorf("inspect the clock of post %s: %w", id, err)
	}
	return id < retwis.FirstPostID(clock/1000+1), nil
}

// elements parses the entries of a list, and counts those that are not elements.
func elements(entries []any) (parsed []retwis.Element, foreign int) {
	for _, entry := range entries {
		e, err := retwis.ParseElement(rdb.Text(entry))
		if err != nil {
			foreign++
			continue
		}
		parsed = append(parsed, e)
	}
	return parsed, foreign
}

// PostsDownTo returns the entries of the profiles of authors from the newest down to an id, newest first, and at most most per author.
func (s *Inspector) PostsDownTo(ctx context.Context, authors []retwis.UserID, downTo retwis.PostID, most int) (map[retwis.UserID][]retwis.Element, error) {
	posts := make(map[retwis.UserID][]retwis.Element, len(authors))
	from := make([]retwis.PostID, len(authors))
	for step := min(most, 16+2*most/max(len(authors), 1)); len(authors) > 0; step = min(4*step, 1000) {
		found, err := s.timelines.ReadProfiles(ctx, authors, from, true, step)
		if err != nil {
			return nil, err
		}
		var left []retwis.UserID
		var next []retwis.PostID
		for i, author := range authors {
			for _, post := range found[i] {
				if post.ID >= downTo {
					posts[author] = append(posts[author], post)
				}
			}
			n := len(found[i])
			if n == step && found[i][n-1].ID > downTo && len(posts[author]) < most {
				left, next = append(left, author), append(next, found[i][n-1].ID)
			}
		}
		authors, from = left, next
	}
	return posts, nil
}

// PostRecords returns the stored state of posts and reposts, in the order of their ids.
func (s *Inspector) PostRecords(ctx context.Context, ids []retwis.PostID) ([]record.Post, error) {
	const step = 500
	records := make([]record.Post, len(ids))
	for from := 0; from < len(ids); from += step {
		pipe := s.db.Client.Pipeline()
		rows := map[int]*redis.SliceCmd{}
		for i := from; i < min(from+step, len(ids)); i++ {
			if p, ok := s.db.OfPost(ids[i]); ok {
				rows[i] = pipe.HMGet(ctx, p.Post(ids[i]), "author", "deleted", "mentions", "answered", "reposted", "thread", "quoted", "tags")
			}
		}
		if len(rows) == 0 {
			continue
		}
		_, _ = pipe.Exec(ctx) // every row holds its own error
		for i, row := range rows {
			fields, err := row.Result()
			if err != nil {
				return nil, fmt.Errorf("inspect posts: %w", err)
			}
			author, err := retwis.ParseUserID(rdb.Text(fields[0]))
			if err != nil {
				continue // there is no such post
			}
			mentions, err := rdb.UserIDs(rdb.Text(fields[2]))
			if err != nil {
				return nil, fmt.Errorf("inspect post %s: %w", ids[i], err)
			}
			thread, err := rdb.PostIDs(rdb.Text(fields[5]))
			if err != nil {
				return nil, fmt.Errorf("inspect post %s: %w", ids[i], err)
			}
			tags, err := rdb.TagIDs(rdb.Text(fields[7]))
			if err != nil {
				return nil, fmt.Errorf("inspect post %s: %w", ids[i], err)
			}
			records[i] = record.Post{
				Exists: true, Author: author, Deleted: rdb.Text(fields[1]) != "", Mentions: mentions, Tags: tags,
				Answered: retwis.UserID(rdb.Number(fields[3])), Reposted: retwis.PostID(rdb.Number(fields[4])),
				Quoted: retwis.PostID(rdb.Number(fields[6])),
			}
			if len(thread) > 0 {
				records[i].ReplyTo = thread[len(thread)-1]
			}
		}
	}
	return records, nil
}

// ProfileRecord returns the entries of a user's profile and the number of those that are not elements. It reads in
// steps, so a concurrent change may shift an entry between two steps.
func (s *Inspector) ProfileRecord(ctx context.Context, id retwis.UserID) (entries []retwis.Element, foreign int, err error) {
	const step = 2000
	for from := int64(0); ; from += step {
		chunk, err := s.db.Client.LRange(ctx, s.db.OfUser(id).User(id).Profile(), from, from+step-1).Result()
		if err != nil {
			return nil, 0, fmt.Errorf("inspect the profile of %s: %w", id, err)
		}
		for _, text := range chunk {
			e, err := retwis.ParseElement(text)
			if err != nil {
				foreign++
				continue
			}
			entries = append(entries, e)
		}
		if len(chunk) < step {
			return entries, foreign, nil
		}
	}
}
