package store

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Lists manages lists of users.
type Lists struct {
	core
	follows *Follows
}

// CreateList creates an empty list. A repeat with the same idempotency key returns the first list. It returns
// LIMIT_REACHED if the owner has [retwis.MaxLists] lists.
func (s *Lists) CreateList(ctx context.Context, owner retwis.UserID, name, key string) (*retwis.List, error) {
	p := s.db.OfUser(owner)
	reply, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.CreateList,
		Keys:   []string{p.User(owner).Account(), p.User(owner).Lists(), p.NextUser(), p.User(owner).Idempotency("list " + key)},
		Args:   []any{owner.String(), name, owner.Bucket(), retwis.MaxLists, p.Prefix(rdb.ListKeys), int(s.options.IdempotencyTTL.Seconds())},
	})
	if err != nil {
		return nil, fmt.Errorf("create a list of %s: %w", owner, err)
	}
	fields, err := reply.StringSlice()
	if err != nil || len(fields) == 0 {
		return nil, fmt.Errorf("create a list of %s: reply %v: %w", owner, fields, err)
	}
	switch fields[0] {
	case "ok":
	case "no_user":
		return nil, retwis.ErrUnauthenticated
	default:
		return nil, retwis.FieldError(retwis.CodeLimitReached, "name", "you have %d lists, which is the maximum: delete one first", retwis.MaxLists)
	}
	id, err := retwis.ParseListID(fields[1])
	if err != nil {
		return nil, fmt.Errorf("create a list of %s: %w", owner, err)
	}
	return s.list(ctx, id)
}

// RenameList changes the name of an owner's list.
func (s *Lists) RenameList(ctx context.Context, owner retwis.UserID, id retwis.ListID, name string) (*retwis.List, error) {
	p := s.db.OfBucket(id.Bucket())
	state, err := s.durably(ctx, rdb.Call{Script: script.RenameList, Keys: []string{p.List(id).Properties()}, Args: []any{owner.String(), name}}).Text()
	if err != nil {
		return nil, fmt.Errorf("rename list %s: %w", id, err)
	}
	if err := listState(state); err != nil {
		return nil, err
	}
	return s.list(ctx, id)
}

// DeleteList deletes an owner's list. The worker removes its members and posts.
func (s *Lists) DeleteList(ctx context.Context, owner retwis.UserID, id retwis.ListID) error {
	if s.db.OfUser(owner) != s.db.OfBucket(id.Bucket()) {
		return s.notOwned(ctx, id)
	}
	p := s.db.OfUser(owner)
	state, err := s.durably(ctx, rdb.Call{
		Script: script.DeleteList,
		Keys:   []string{p.List(id).Properties(), p.User(owner).Lists(), p.Outbox(), p.Online(), p.OnlineNodes()},
		Args:   []any{owner.String(), id.String(), s.db.Publish, p.Prefix(rdb.LiveChannels), rdb.OriginOf(ctx)},
	}).Text()
	if err != nil {
		return fmt.Errorf("delete list %s: %w", id, err)
	}
	return listState(state)
}

// AddListMember adds a user to an owner's list and queues the back-fill of its timeline. A repeat has no effect. It returns LIMIT_REACHED
// if the list has [retwis.MaxListMembers] members, or if the user is on [retwis.MaxListsWithMember] lists of the owner.
func (s *Lists) AddListMember(ctx context.Context, owner retwis.UserID, id retwis.ListID, author retwis.UserID) error {
	p := s.db.OfBucket(id.Bucket())
	if s.db.OfUser(owner) != p {
		return s.notOwned(ctx, id) // without making the partition one of those that receive the author's posts
	}
	exists, err := s.follows.AddAuthorPartition(ctx, author, ListPartition, p)
	if err != nil {
		return fmt.Errorf("add %s to list %s: %w", author, id, err)
	}
	if !exists {
		return retwis.ErrUserNotFound
	}
	reply, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.AddMember,
		Keys: []string{
			p.List(id).Properties(), p.List(id).Members(), p.User(author).Listed(), p.Clock(), p.Outbox(), p.User(owner).Lists(),
		},
		Args: []any{
			owner.String(), id.String(), author.String(), retwis.MaxListMembers, s.options.OutboxLimit, rdb.OriginOf(ctx), retwis.MaxListsWithMember,
		},
	})
	if err != nil {
		return fmt.Errorf("add %s to list %s: %w", author, id, err)
	}
	cost.Owe(ctx, cost.OfBackfill(s.options.HomeCap))
	return listState(rdb.Text(reply.Val()))
}

// RemoveListMember removes a user from an owner's list and queues the purge of its timeline. A repeat has no effect.
func (s *Lists) RemoveListMember(ctx context.Context, owner retwis.UserID, id retwis.ListID, author retwis.UserID) error {
	p := s.db.OfBucket(id.Bucket())
	reply, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.RemoveMember,
		Keys:   []string{p.List(id).Properties(), p.List(id).Members(), p.User(author).Listed(), p.Outbox()},
		Args:   []any{owner.String(), id.String(), author.String(), rdb.OriginOf(ctx)},
	})
	if err != nil {
		return fmt.Errorf("remove %s from list %s: %w", author, id, err)
	}
	cost.Owe(ctx, cost.OfBackfill(s.options.HomeCap)) // a purge reads as many entries
	return listState(rdb.Text(reply.Val()))
}

// Memberships reports for each pair whether the user is on the list.
func (s *Lists) Memberships(ctx context.Context, pairs []retwis.Membership) ([]bool, error) {
	return s.edges(ctx, len(pairs), func(pipe redis.Pipeliner, i int) *redis.FloatCmd {
		return pipe.ZScore(ctx, s.db.OfBucket(pairs[i].List.Bucket()).List(pairs[i].List).Members(), pairs[i].User.String())
	})
}

func listState(state string) error {
	switch state {
	case "ok":
		return nil
	case "missing":
		return retwis.ErrListNotFound
	case "forbidden":
		return retwis.ErrListNotOwned
	case "limit":
		return retwis.FieldError(retwis.CodeLimitReached, "userId", "the list has %d members, which is the maximum: remove one first", retwis.MaxListMembers)
	case "listed":
		return retwis.FieldError(retwis.CodeLimitReached, "userId", "the user is on %d of your lists, which is the maximum: remove the user from one first", retwis.MaxListsWithMember)
	case "full":
		return retwis.ErrOutboxFull
	default:
		return fmt.Errorf("unexpected reply %q of a list script", state)
	}
}

// notOwned returns the error for a list that cannot belong to the caller.
func (s *Lists) notOwned(ctx context.Context, id retwis.ListID) error {
	if _, err := s.list(ctx, id); err != nil {
		return err
	}
	return retwis.ErrListNotOwned
}

func (s *Lists) list(ctx context.Context, id retwis.ListID) (*retwis.List, error) {
	lists, err := s.Lists(ctx, []retwis.ListID{id})
	if err != nil {
		return nil, err
	}
	if lists[0] == nil {
		return nil, retwis.ErrListNotFound
	}
	return lists[0], nil
}

// Lists returns lists in the order of their ids, nil if there is none.
func (s *Lists) Lists(ctx context.Context, ids []retwis.ListID) ([]*retwis.List, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	pipe := s.db.Client.Pipeline()
	rows := make([]*redis.SliceCmd, len(ids))
	for i, id := range ids {
		rows[i] = pipe.HMGet(ctx, s.db.OfBucket(id.Bucket()).List(id).Properties(), "state", "owner", "name", "created")
	}
	_, _ = pipe.Exec(ctx) // every row holds its own error
	lists := make([]*retwis.List, len(ids))
	for i, row := range rows {
		fields, err := row.Result()
		if err != nil {
			return nil, fmt.Errorf("read lists: %w", err)
		}
		if fields[0] != "active" {
			continue
		}
		owner, err := retwis.ParseUserID(rdb.Text(fields[1]))
		if err != nil {
			return nil, fmt.Errorf("read list %s: %w", ids[i], err)
		}
		lists[i] = &retwis.List{
			ID: ids[i], OwnerID: owner, Name: rdb.Text(fields[2]), CreatedAt: time.UnixMilli(rdb.Number(fields[3])).UTC(),
		}
	}
	return lists, nil
}

// ListPage returns one page of an owner's lists, newest first.
func (s *Lists) ListPage(ctx context.Context, owner retwis.UserID, page retwis.Page) (retwis.ListPage, error) {
	of := retwis.FollowConnection{Kind: retwis.OwnLists, User: owner}
	w, err := s.follows.window(ctx, of, []string{s.db.OfUser(owner).User(owner).Lists()}, page)
	if err != nil {
		return retwis.ListPage{}, err
	}
	ids := make([]retwis.ListID, len(w.edges))
	for i, e := range w.edges {
		ids[i] = retwis.ListID(e.user)
	}
	lists, err := s.Lists(ctx, ids)
	if err != nil {
		return retwis.ListPage{}, err
	}
	result := retwis.ListPage{HasNextPage: w.next, HasPreviousPage: w.previous}
	for i, e := range w.edges {
		if lists[i] != nil {
			result.Edges = append(result.Edges, retwis.ListEdge{Cursor: e.cursor(of), List: lists[i]})
		}
	}
	return result, nil
}
