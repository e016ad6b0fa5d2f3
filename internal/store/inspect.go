package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// scanStep is about how many keys a server looks at in one step of a scan.
const scanStep = 1000

// Scan goes over all keys of the database, in small steps, and hands over the users and the
// claims on names it comes by, one call at a time. What is there all the while is handed
// over at least once, perhaps more often.
func (s *Store) Scan(ctx context.Context, found func([]retwis.UserID, []record.NameClaim) error) error {
	var mu sync.Mutex
	scan := func(ctx context.Context, node *redis.Client) error {
		var cursor uint64
		for {
			keys, next, err := node.Scan(ctx, cursor, "{*}:[nu][as][em][er]:*", scanStep).Result()
			if err != nil {
				return fmt.Errorf("scan the keys: %w", err)
			}
			users, names := s.sort(keys)
			claims, err := s.claims(ctx, names)
			if err != nil {
				return err
			}
			mu.Lock()
			err = found(users, claims)
			mu.Unlock()
			if err != nil {
				return err
			}
			if cursor = next; cursor == 0 {
				return ctx.Err()
			}
		}
	}
	if cluster, ok := s.client.(*redis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, scan)
	}
	if single, ok := s.client.(*redis.Client); ok {
		return scan(ctx, single)
	}
	return fmt.Errorf("scan the keys: a client of type %T", s.client)
}

// sort tells keys of users from keys of names. Keys of another program's, or of partitions
// that there are not, are neither.
func (s *Store) sort(keys []string) (users []retwis.UserID, names []string) {
	for _, key := range keys {
		_, rest, _ := strings.Cut(key, "}:")
		kind, value, _ := strings.Cut(rest, ":")
		switch kind {
		case "user":
			if id, err := retwis.ParseUserID(value); err == nil && s.of(id).user(id) == key {
				users = append(users, id)
			}
		case "name":
			if s.ofName(value).name(value) == key {
				names = append(names, value)
			}
		}
	}
	return users, names
}

// claims reads who has names. Those that nobody has any more are left out.
func (s *Store) claims(ctx context.Context, names []string) ([]record.NameClaim, error) {
	if len(names) == 0 {
		return nil, nil
	}
	pipe := s.client.Pipeline()
	holders := make([]*redis.StringCmd, len(names))
	for i, name := range names {
		holders[i] = pipe.Get(ctx, s.ofName(name).name(name))
	}
	_, _ = pipe.Exec(ctx) // every holder has its own error
	var claims []record.NameClaim
	for i, name := range names {
		holder, err := holders[i].Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return nil, fmt.Errorf("read who has a name: %w", err)
		}
		if err == nil {
			id, _ := retwis.ParseUserID(holder) // what is no id is nobody's
			claims = append(claims, record.NameClaim{Folded: name, Owner: id})
		}
	}
	return claims, nil
}

// NameHolder returns who has a name, and false when nobody has.
func (s *Store) NameHolder(ctx context.Context, folded string) (retwis.UserID, bool, error) {
	claims, err := s.claims(ctx, []string{folded})
	if err != nil || len(claims) == 0 {
		return 0, false, err
	}
	return claims[0].Owner, true, nil
}

// AccountRecord reads what is stored about a user, in one step but for what lies in other
// partitions. Of a user that is not there it says nothing.
func (s *Store) AccountRecord(ctx context.Context, id retwis.UserID) (record.Account, error) {
	r := record.Account{
		ID:                 id,
		FollowerPartitions: map[int]record.FollowerPartition{},
		ListPartitions:     map[int]bool{},
		FollowersIn:        map[int]int{},
		ListsIn:            map[int]int{},
	}
	p := s.of(id)
	reply, err := s.do(ctx, call{
		s.scripts.inspectUser,
		[]string{p.user(id), p.following(id), p.profile(id), p.reach(id), p.lists(id), p.newestUsers()}, []any{id.String()},
	}).Slice()
	if err != nil || len(reply) != 6 {
		return r, fmt.Errorf("inspect user %s: %d fields: %w", id, len(reply), err)
	}
	fields, _ := reply[0].([]any)
	if len(fields) != 6 {
		return r, fmt.Errorf("inspect user %s: %d fields", id, len(fields))
	}
	r.Active = text(fields[0]) == "active"
	r.Gone = isGone(text(fields[0]))
	r.Username = text(fields[1])
	following, _ := reply[1].(int64)
	posts, _ := reply[2].(int64)
	r.Posts = record.Counted{Stored: int(number(fields[2])), Actual: int(posts)}
	r.Following = record.Counted{Stored: int(number(fields[3])), Actual: int(following)}
	r.Followers.Stored = int(number(fields[4]))
	r.Trimmed = text(fields[5]) != ""
	unlisted, _ := reply[5].(int64)
	r.Unlisted = unlisted == 1
	s.readReach(&r, reply[3])
	lists, _ := reply[4].([]any)
	for _, list := range lists {
		if id, err := retwis.ParseListID(text(list)); err == nil {
			r.Lists = append(r.Lists, id)
		}
	}
	if !r.Active {
		return r, nil
	}
	return r, s.surroundings(ctx, &r)
}

// isGone reports whether a user of a state has been cut off from everybody, or never was.
func isGone(state string) bool { return state == "" || state == "gone" }

// Gone returns those of some users who are not there, or of whom nothing is left.
func (s *Store) Gone(ctx context.Context, ids []retwis.UserID) ([]retwis.UserID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	pipe := s.client.Pipeline()
	states := make([]*redis.SliceCmd, len(ids))
	for i, id := range ids {
		states[i] = pipe.HMGet(ctx, s.of(id).user(id), "state")
	}
	_, _ = pipe.Exec(ctx) // every state has its own error
	var gone []retwis.UserID
	for i, state := range states {
		fields, err := state.Result()
		if err != nil {
			return nil, fmt.Errorf("inspect users: %w", err)
		}
		if isGone(text(fields[0])) {
			gone = append(gone, ids[i])
		}
	}
	return gone, nil
}

// readReach reads a reach as HGETALL returns it. What makes no sense counts for nothing.
func (s *Store) readReach(r *record.Account, reply any) {
	fields, _ := reply.([]any)
	for i := 0; i+1 < len(fields); i += 2 {
		field, lists := strings.CutPrefix(text(fields[i]), reachOfLists)
		partition, err := strconv.Atoi(field)
		if err != nil {
			continue
		}
		if lists {
			r.ListPartitions[partition] = true
			continue
		}
		version, count, _ := strings.Cut(text(fields[i+1]), ":")
		record := record.FollowerPartition{Version: number(version), Count: int(number(count))}
		r.FollowerPartitions[partition] = record
		r.Followers.Actual += record.Count
	}
}

// surroundings reads what is stored about a user in all partitions.
func (s *Store) surroundings(ctx context.Context, r *record.Account) error {
	folded := retwis.FoldUsername(r.Username)
	home := s.ofName(folded)
	pipe := s.client.Pipeline()
	holder := pipe.Get(ctx, home.name(folded))
	listed := pipe.ZScore(ctx, home.names(), folded+" "+r.ID.String())
	followers := make([]*redis.IntCmd, len(s.partitions))
	lists := make([]*redis.IntCmd, len(s.partitions))
	for i, p := range s.partitions {
		followers[i] = pipe.ZCard(ctx, p.followers(r.ID))
		lists[i] = pipe.ZCard(ctx, p.listed(r.ID))
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	if err := holder.Err(); err == nil {
		r.NameOwner, _ = retwis.ParseUserID(holder.Val()) // what is no id is nobody's
	} else if !errors.Is(err, redis.Nil) {
		return fmt.Errorf("inspect the name of %s: %w", r.ID, err)
	}
	if err := listed.Err(); err == nil {
		r.Listed = true
	} else if !errors.Is(err, redis.Nil) {
		return fmt.Errorf("inspect the name of %s: %w", r.ID, err)
	}
	for i := range s.partitions {
		for _, count := range []struct {
			result *redis.IntCmd
			in     map[int]int
		}{{followers[i], r.FollowersIn}, {lists[i], r.ListsIn}} {
			n, err := count.result.Result()
			if err != nil {
				return fmt.Errorf("inspect the audience of %s: %w", r.ID, err)
			}
			if n > 0 {
				count.in[i] = int(n)
			}
		}
	}
	return nil
}

// ProfileRecord reads the ids on a user's profile, as they stand there, in steps: what is added
// or removed meanwhile may shift one across the border of two steps. It also returns how
// many entries are no ids.
func (s *Store) ProfileRecord(ctx context.Context, id retwis.UserID) (posts []retwis.PostID, foreign int, err error) {
	const step = 2000
	for from := int64(0); ; from += step {
		entries, err := s.client.LRange(ctx, s.of(id).profile(id), from, from+step-1).Result()
		if err != nil {
			return nil, 0, fmt.Errorf("inspect the profile of %s: %w", id, err)
		}
		for _, e := range entries {
			post, err := retwis.ParsePostID(e)
			if err != nil {
				foreign++
				continue
			}
			posts = append(posts, post)
		}
		if len(entries) < step {
			return posts, foreign, nil
		}
	}
}

// TimelineRecord reads the list of a timeline as it is stored, without building it.
func (s *Store) TimelineRecord(ctx context.Context, id retwis.TimelineID) (record.Timeline, error) {
	p := s.ofTimeline(id)
	r := record.Timeline{ID: id, Sources: map[retwis.UserID]int64{}}
	owner := ""
	if id.Kind == retwis.HomeTimeline {
		owner = id.Owner.String()
	}
	reply, err := s.do(ctx, call{
		s.scripts.inspectTimeline,
		[]string{p.entries(id), p.sources(id), p.generations(id), p.large()},
		[]any{owner, p.tag + ":", s.options.HomeCap},
	}).Slice()
	if err != nil || len(reply) != 6 {
		return r, fmt.Errorf("inspect timeline %s: %d fields: %w", id, len(reply), err)
	}
	if id.FannedOut() && text(reply[0]) != "active" {
		return r, nil
	}
	r.Epoch = number(reply[1])
	if entries, _ := reply[2].([]any); len(entries) > 0 {
		r.End = record.ListTrimmed
		switch text(entries[len(entries)-1]) {
		case complete:
			r.End, entries = record.ListComplete, entries[:len(entries)-1]
		case building:
			r.End, entries = record.ListBuilding, entries[:len(entries)-1]
		}
		r.Entries, r.Foreign = postIDs(entries)
	}
	sources, _ := reply[3].([]any)
	for i := 0; i+1 < len(sources); i += 2 {
		author, err := retwis.ParseUserID(text(sources[i]))
		if err != nil {
			return r, fmt.Errorf("inspect timeline %s: %w", id, err)
		}
		r.Sources[author] = score(sources[i+1])
	}
	awaited, _ := reply[4].([]any)
	r.Pending, _ = postIDs(awaited)
	r.Gap = retwis.PostID(number(reply[5]))
	return r, nil
}

// postIDs reads entries of a list, and counts those that are no ids.
func postIDs(entries []any) (posts []retwis.PostID, foreign int) {
	for _, e := range entries {
		post, err := retwis.ParsePostID(text(e))
		if err != nil {
			foreign++
			continue
		}
		posts = append(posts, post)
	}
	return posts, foreign
}

// score reads a time that scripts return as Redis writes scores.
func score(reply any) int64 {
	f, _ := strconv.ParseFloat(text(reply), 64)
	return int64(f)
}

// Posted returns the posts on profiles from the newest down to an id, newest first, and at
// most a number of each.
func (s *Store) Posted(ctx context.Context, authors []retwis.UserID, downTo retwis.PostID, most int) (map[retwis.UserID][]retwis.PostID, error) {
	posted := make(map[retwis.UserID][]retwis.PostID, len(authors))
	from := make([]retwis.PostID, len(authors))
	for step := min(most, 16+2*most/max(len(authors), 1)); len(authors) > 0; step = min(4*step, 1000) {
		found, err := s.stretches(ctx, authors, from, true, step)
		if err != nil {
			return nil, err
		}
		var left []retwis.UserID
		var next []retwis.PostID
		for i, author := range authors {
			for _, post := range found[i] {
				if post >= downTo {
					posted[author] = append(posted[author], post)
				}
			}
			n := len(found[i])
			if n == step && found[i][n-1] > downTo && len(posted[author]) < most {
				left, next = append(left, author), append(next, found[i][n-1])
			}
		}
		authors, from = left, next
	}
	return posted, nil
}

// PostRecords reads posts as they are stored, in the order asked for.
func (s *Store) PostRecords(ctx context.Context, ids []retwis.PostID) ([]record.Post, error) {
	const step = 500
	records := make([]record.Post, len(ids))
	for from := 0; from < len(ids); from += step {
		pipe := s.client.Pipeline()
		rows := map[int]*redis.SliceCmd{}
		for i := from; i < min(from+step, len(ids)); i++ {
			if p, ok := s.ofPost(ids[i]); ok {
				rows[i] = pipe.HMGet(ctx, p.post(ids[i]), "author", "deleted", "mentions")
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
			author, err := retwis.ParseUserID(text(fields[0]))
			if err != nil {
				continue // there is no such post
			}
			mentions, err := parseUserIDs(text(fields[2]))
			if err != nil {
				return nil, fmt.Errorf("inspect post %s: %w", ids[i], err)
			}
			records[i] = record.Post{Exists: true, Author: author, Deleted: text(fields[1]) != "", Mentions: mentions}
		}
	}
	return records, nil
}

// lateness is how many entries of a list's end are taken to be out of order because a post
// arrived late, at least.
const lateness = 256

// Lateness is how many entries at the end of a timeline's list may be out of order because
// a post arrived late: what is older than any of them may have left the list.
func (s *Store) Lateness() int { return max(lateness, s.options.Slack) }

// HomeCap is how many entries a timeline's list keeps, and Slack by how many it may exceed
// that.
func (s *Store) HomeCap() (entries, slack int) { return s.options.HomeCap, s.options.Slack }
