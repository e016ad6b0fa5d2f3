package inspect

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"retwis/internal/record"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// AccountRecord returns the stored state of a user. It reads the user's partition atomically, and other partitions
// afterwards. For a user who does not exist, the record is empty.
func (s *Inspector) AccountRecord(ctx context.Context, id retwis.UserID) (record.Account, error) {
	r := record.Account{
		ID:                 id,
		FollowerPartitions: map[int]record.FollowerPartition{},
		ListPartitions:     map[int]bool{},
		FollowersIn:        map[int]int{},
		ListsIn:            map[int]int{},
	}
	p := s.db.OfUser(id)
	reply, err := s.db.Do(ctx, rdb.Call{
		Script: script.InspectUser,
		Keys:   []string{p.User(id).Account(), p.User(id).Following(), p.User(id).Profile(), p.User(id).FollowerPartitions(), p.User(id).Lists(), p.NewestUsers(), p.SearchWords(), p.User(id).Reposted()}, Args: []any{id.String()},
	}).Slice()
	if err != nil || len(reply) != 9 {
		return r, fmt.Errorf("inspect user %s: %d fields: %w", id, len(reply), err)
	}
	fields, _ := reply[0].([]any)
	if len(fields) != 6 {
		return r, fmt.Errorf("inspect user %s: %d fields", id, len(fields))
	}
	r.AccountState = accountState(rdb.Text(fields[0]), rdb.Text(fields[1]))
	following, _ := reply[1].(int64)
	posts, _ := reply[2].(int64)
	r.Posts = record.Counted{Stored: int(rdb.Number(fields[2])), Actual: int(posts)}
	r.Following = record.Counted{Stored: int(rdb.Number(fields[3])), Actual: int(following)}
	r.Followers.Stored = int(rdb.Number(fields[4]))
	r.Trimmed = rdb.Text(fields[5]) != ""
	missing, _ := reply[5].(int64)
	r.Unlisted = missing == 1
	r.DisplayName, r.SearchWords = rdb.Text(reply[6]), strings.Fields(rdb.Text(reply[7]))
	unindexed, _ := reply[8].(int64)
	r.Unindexed = int(unindexed)
	s.parsePartitions(&r, reply[3])
	lists, _ := reply[4].([]any)
	for _, list := range lists {
		addList(&r.AccountState, rdb.Text(list))
	}
	if !r.Active {
		return r, nil
	}
	return r, s.readPartitions(ctx, &r)
}

// AccountState returns the state of a user. For a user who does not exist, it says so.
func (s *Inspector) AccountState(ctx context.Context, id retwis.UserID) (record.AccountState, error) {
	keys := s.db.OfUser(id).User(id)
	pipe := s.db.Client.Pipeline()
	account := pipe.HMGet(ctx, keys.Account(), "state", "name")
	lists := pipe.ZRange(ctx, keys.Lists(), 0, -1)
	if _, err := pipe.Exec(ctx); err != nil {
		return record.AccountState{}, fmt.Errorf("inspect user %s: %w", id, err)
	}
	r := accountState(rdb.Text(account.Val()[0]), rdb.Text(account.Val()[1]))
	for _, list := range lists.Val() {
		addList(&r, list)
	}
	return r, nil
}

func accountState(state, name string) record.AccountState {
	return record.AccountState{Active: state == "active", Gone: isDeleted(state), Username: name}
}

// addList adds a list of the user. It ignores a malformed id.
func addList(r *record.AccountState, text string) {
	if id, err := retwis.ParseListID(text); err == nil {
		r.Lists = append(r.Lists, id)
	}
}

// isDeleted reports whether the state is that of a deleted user, or of a user who never existed.
func isDeleted(state string) bool { return state == "" || state == "deleted" }

// DeletedUsers returns the users among ids who are deleted or do not exist.
func (s *Inspector) DeletedUsers(ctx context.Context, ids []retwis.UserID) ([]retwis.UserID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	pipe := s.db.Client.Pipeline()
	states := make([]*redis.SliceCmd, len(ids))
	for i, id := range ids {
		states[i] = pipe.HMGet(ctx, s.db.OfUser(id).User(id).Account(), "state")
	}
	_, _ = pipe.Exec(ctx) // every state has its own error
	var deleted []retwis.UserID
	for i, state := range states {
		fields, err := state.Result()
		if err != nil {
			return nil, fmt.Errorf("inspect users: %w", err)
		}
		if isDeleted(rdb.Text(fields[0])) {
			deleted = append(deleted, ids[i])
		}
	}
	return deleted, nil
}

// parsePartitions parses follower partitions. It ignores malformed fields.
func (s *Inspector) parsePartitions(r *record.Account, reply any) {
	fields, _ := reply.([]any)
	for i := 0; i+1 < len(fields); i += 2 {
		field, lists := strings.CutPrefix(rdb.Text(fields[i]), store.ListPartition)
		partition, err := strconv.Atoi(field)
		if err != nil {
			continue
		}
		if lists {
			r.ListPartitions[partition] = true
			continue
		}
		version, count, _ := strings.Cut(rdb.Text(fields[i+1]), ":")
		record := record.FollowerPartition{Version: rdb.Number(version), Count: int(rdb.Number(count))}
		r.FollowerPartitions[partition] = record
		r.Followers.Actual += record.Count
	}
}

// readPartitions reads the state of a user in all partitions.
func (s *Inspector) readPartitions(ctx context.Context, r *record.Account) error {
	folded := retwis.FoldUsername(r.Username)
	home := s.db.OfName(folded)
	pipe := s.db.Client.Pipeline()
	holder := pipe.Get(ctx, home.Name(folded))
	listed := pipe.ZScore(ctx, home.Names(), folded+" "+r.ID.String())
	followers := make([]*redis.IntCmd, len(s.db.Partitions()))
	lists := make([]*redis.IntCmd, len(s.db.Partitions()))
	for i, p := range s.db.Partitions() {
		followers[i] = pipe.ZCard(ctx, p.User(r.ID).Followers())
		lists[i] = pipe.ZCard(ctx, p.User(r.ID).Listed())
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	if err := holder.Err(); err == nil {
		r.NameOwner, _ = retwis.ParseUserID(holder.Val()) // 0 if it is not an id
	} else if !errors.Is(err, redis.Nil) {
		return fmt.Errorf("inspect the name of %s: %w", r.ID, err)
	}
	if err := listed.Err(); err == nil {
		r.Listed = true
	} else if !errors.Is(err, redis.Nil) {
		return fmt.Errorf("inspect the name of %s: %w", r.ID, err)
	}
	for i := range s.db.Partitions() {
		for _, count := range []struct {
			result *redis.IntCmd
			in     map[int]int
		}{{followers[i], r.FollowersIn}, {lists[i], r.ListsIn}} {
			n, err := count.result.Result()
			if err != nil {
				return fmt.Errorf("inspect the followers of %s: %w", r.ID, err)
			}
			if n > 0 {
				count.in[i] = int(n)
			}
		}
	}
	return nil
}

// StaleNewestUsers returns the newest users of a partition whose accounts are not active.
func (s *Inspector) StaleNewestUsers(ctx context.Context, partition int) ([]retwis.UserID, error) {
	p := s.db.Partition(partition)
	members, err := s.db.Client.ZRange(ctx, p.NewestUsers(), 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("inspect the newest users of partition %d: %w", partition, err)
	}
	pipe := s.db.Client.Pipeline()
	var ids []retwis.UserID
	var states []*redis.SliceCmd
	for _, member := range members {
		id, err := retwis.ParseUserID(member)
		if err != nil {
			return nil, fmt.Errorf("inspect the newest users of partition %d: %w", partition, err)
		}
		ids = append(ids, id)
		states = append(states, pipe.HMGet(ctx, p.User(id).Account(), "state"))
	}
	if len(ids) > 0 {
		_, _ = pipe.Exec(ctx) // every state has its own error
	}
	var stale []retwis.UserID
	for i, state := range states {
		fields, err := state.Result()
		if err != nil {
			return nil, fmt.Errorf("inspect the newest users of partition %d: %w", partition, err)
		}
		if rdb.Text(fields[0]) != "active" {
			stale = append(stale, ids[i])
		}
	}
	return stale, nil
}

// StaleSearchEntries returns the entries of the people search of a partition that are not a word of the names of an
// active user. It reads the index in small steps.
func (s *Inspector) StaleSearchEntries(ctx context.Context, partition int) ([]record.SearchEntry, error) {
	p := s.db.Partition(partition)
	var stale []record.SearchEntry
	for cursor := "0"; ; {
		reply, err := s.db.Do(ctx, rdb.Call{
			Script: script.StaleSearchWords, Keys: []string{p.SearchWords()}, Args: []any{p.Prefix(rdb.AccountKeys), cursor, rdb.ScanStep},
		}).StringSlice()
		if err != nil || len(reply) == 0 {
			return nil, fmt.Errorf("inspect the people search of partition %d: %d fields: %w", partition, len(reply), err)
		}
		for _, text := range reply[1:] {
			user, _ := retwis.ParseUserID(text[strings.LastIndexByte(text, ' ')+1:]) // 0 if it is not an id
			stale = append(stale, record.SearchEntry{Text: text, User: user})
		}
		if cursor = reply[0]; cursor == "0" {
			return stale, nil
		}
	}
}
