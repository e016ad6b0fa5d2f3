package store

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
)

// CreateList makes an empty list of an owner's, once for a key. Above
// [retwis.MaxLists] the error is LIMIT_REACHED.
func (s *Store) CreateList(ctx context.Context, owner retwis.UserID, name, key string) (*retwis.List, error) {
	p := s.of(owner)
	reply, err := s.doDurably(ctx, call{
		s.scripts.createList,
		[]string{p.user(owner), p.lists(owner), p.nextUser(), p.idempotency(owner, "list "+key)},
		[]any{owner.String(), name, owner.Bucket(), retwis.MaxLists, p.listPrefix(), int(s.options.IdempotencyTTL.Seconds())},
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
	case "gone":
		return nil, retwis.ErrUnauthenticated
	default:
		return nil, retwis.FieldError(retwis.CodeLimitReached, "name", "you have %d lists, and more is not possible: delete one first", retwis.MaxLists)
	}
	id, err := retwis.ParseListID(fields[1])
	if err != nil {
		return nil, fmt.Errorf("create a list of %s: %w", owner, err)
	}
	return s.list(ctx, id)
}

// RenameList gives an owner's list another name.
func (s *Store) RenameList(ctx context.Context, owner retwis.UserID, id retwis.ListID, name string) (*retwis.List, error) {
	p := s.ofBucket(id.Bucket())
	state, err := s.do(ctx, call{s.scripts.renameList, []string{p.list(id)}, []any{owner.String(), name}}).Text()
	if err != nil {
		return nil, fmt.Errorf("rename list %s: %w", id, err)
	}
	if err := listState(state); err != nil {
		return nil, err
	}
	return s.list(ctx, id)
}

// DeleteList takes an owner's list from sight; the worker takes it apart.
func (s *Store) DeleteList(ctx context.Context, owner retwis.UserID, id retwis.ListID) error {
	if s.of(owner) != s.ofBucket(id.Bucket()) {
		return s.notOwned(ctx, id)
	}
	p := s.of(owner)
	state, err := s.do(ctx, call{
		s.scripts.deleteList,
		[]string{p.list(id), p.lists(owner), p.outbox(), p.online(), p.onlineNodes()},
		[]any{owner.String(), id.String(), s.publish, p.livePrefix()},
	}).Text()
	if err != nil {
		return fmt.Errorf("delete list %s: %w", id, err)
	}
	return listState(state)
}

// Unlist takes the next members off a deleted list, and reports whether that was all.
func (s *Store) Unlist(ctx context.Context, id retwis.ListID) (bool, error) {
	p := s.ofBucket(id.Bucket())
	done, err := s.do(ctx, call{
		s.scripts.unlist, []string{p.list(id), p.listMembers(id), p.listPosts(id)}, []any{id.String(), 500, p.listedPrefix()},
	}).Bool()
	if err != nil {
		return false, fmt.Errorf("take list %s apart: %w", id, err)
	}
	return done, nil
}

// AddListMember puts a user on an owner's list and queues the back-fill of its timeline. A
// repeat changes nothing.
func (s *Store) AddListMember(ctx context.Context, owner retwis.UserID, id retwis.ListID, author retwis.UserID) error {
	p := s.ofBucket(id.Bucket())
	there, err := s.enterReach(ctx, author, reachOfLists, p)
	if err != nil {
		return fmt.Errorf("add %s to list %s: %w", author, id, err)
	}
	if !there {
		return retwis.ErrUserNotFound
	}
	reply, err := s.doDurably(ctx, call{
		s.scripts.addMember,
		[]string{p.list(id), p.listMembers(id), p.listed(author), p.clock(), p.outbox()},
		[]any{owner.String(), id.String(), author.String(), retwis.MaxListMembers},
	})
	if err != nil {
		return fmt.Errorf("add %s to list %s: %w", author, id, err)
	}
	return listState(text(reply.Val()))
}

// RemoveListMember takes a user off an owner's list and queues the purge of its timeline.
// A repeat changes nothing.
func (s *Store) RemoveListMember(ctx context.Context, owner retwis.UserID, id retwis.ListID, author retwis.UserID) error {
	p := s.ofBucket(id.Bucket())
	reply, err := s.doDurably(ctx, call{
		s.scripts.removeMember,
		[]string{p.list(id), p.listMembers(id), p.listed(author), p.outbox()},
		[]any{owner.String(), id.String(), author.String()},
	})
	if err != nil {
		return fmt.Errorf("remove %s from list %s: %w", author, id, err)
	}
	return listState(text(reply.Val()))
}

// Memberships tells of each pair whether the user is on the list.
func (s *Store) Memberships(ctx context.Context, pairs []retwis.Membership) ([]bool, error) {
	pipe := s.client.Pipeline()
	scores := make([]*redis.FloatCmd, len(pairs))
	for i, pair := range pairs {
		scores[i] = pipe.ZScore(ctx, s.ofBucket(pair.List.Bucket()).listMembers(pair.List), pair.User.String())
	}
	return edges(ctx, pipe, scores)
}

func listState(state string) error {
	switch state {
	case "ok":
		return nil
	case "missing":
		return retwis.ErrListNotFound
	case "other":
		return retwis.ErrListNotOwned
	case "limit":
		return retwis.FieldError(retwis.CodeLimitReached, "userId", "the list has %d members, and more is not possible: remove one first", retwis.MaxListMembers)
	default:
		return fmt.Errorf("state %q of a list", state)
	}
}

// notOwned is the error about a list that cannot be the caller's.
func (s *Store) notOwned(ctx context.Context, id retwis.ListID) error {
	if _, err := s.list(ctx, id); err != nil {
		return err
	}
	return retwis.ErrListNotOwned
}

func (s *Store) list(ctx context.Context, id retwis.ListID) (*retwis.List, error) {
	lists, err := s.Lists(ctx, []retwis.ListID{id})
	if err != nil {
		return nil, err
	}
	if lists[0] == nil {
		return nil, retwis.ErrListNotFound
	}
	return lists[0], nil
}

// Lists returns lists by id, in the order asked for, nil where there is none.
func (s *Store) Lists(ctx context.Context, ids []retwis.ListID) ([]*retwis.List, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	pipe := s.client.Pipeline()
	rows := make([]*redis.SliceCmd, len(ids))
	for i, id := range ids {
		rows[i] = pipe.HMGet(ctx, s.ofBucket(id.Bucket()).list(id), "state", "owner", "name", "created")
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
		owner, err := retwis.ParseUserID(text(fields[1]))
		if err != nil {
			return nil, fmt.Errorf("read list %s: %w", ids[i], err)
		}
		lists[i] = &retwis.List{
			ID: ids[i], OwnerID: owner, Name: text(fields[2]), CreatedAt: time.UnixMilli(number(fields[3])).UTC(),
		}
	}
	return lists, nil
}

// ListPage returns one page of an owner's lists, newest first.
func (s *Store) ListPage(ctx context.Context, owner retwis.UserID, page retwis.Page) (retwis.ListPage, error) {
	of := retwis.FollowConnection{Kind: retwis.OwnLists, User: owner}
	w, err := s.window(ctx, of, []string{s.of(owner).lists(owner)}, page)
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
