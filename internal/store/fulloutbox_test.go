package store_test

import (
	"errors"
	"testing"

	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// Without a worker, outboxes grow: whatever adds an entry for new work is refused at the limit, and changes nothing. What takes something away is not.
func TestFullOutbox_RefusesNewWork(t *testing.T) {
	t.Parallel()
	const limit = 10
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), OutboxLimit: limit})
	reader := e.Register("reader")[0]
	followed, listed, other := e.Register("followed")[0], e.Register("listed")[0], e.Register("other")[0]
	list := e.CreateList(reader, listed)
	e.Follow(reader, followed)
	repostable := e.Post(other, "x")
	_, stop := e.Work(fanout.Options{})
	e.Drain()
	stop()
	for range limit {
		e.Post(reader, "x")
	}
	ctx := t.Context()
	type change struct {
		name string
		do   func() error
	}
	refused := []change{
		{"post", func() error {
			_, err := e.Posts.CreatePost(ctx, retwis.NewPost{Author: reader, Text: "x", IdempotencyKey: e.Key()})
			return err
		}},
		{"repost", func() error {
			_, err := e.Posts.Repost(ctx, reader, repostable)
			return err
		}},
		{"follow", func() error { return e.Follows.Follow(ctx, reader, other) }},
		{"new member", func() error { return e.Lists.AddListMember(ctx, reader, list, other) }},
	}
	for _, c := range refused {
		if busy, ok := errors.AsType[*retwis.Error](c.do()); !ok || busy.Code != retwis.CodeRateLimited || busy.RetryAfterSeconds == 0 {
			t.Errorf("%s: %v, want RATE_LIMITED", c.name, busy)
		}
	}
	if follows, err := e.Follows.Follows(ctx, reader, []retwis.UserID{followed, other}); err != nil || !follows[0] || follows[1] {
		t.Errorf("follows %v: %v", follows, err)
	}
	for _, c := range []change{
		{"follow of a user who is followed", func() error { return e.Follows.Follow(ctx, reader, followed) }},
		{"member who is on the list", func() error { return e.Lists.AddListMember(ctx, reader, list, listed) }},
		{"unfollow", func() error { return e.Follows.Unfollow(ctx, reader, followed) }},
		{"removal of a member", func() error { return e.Lists.RemoveListMember(ctx, reader, list, listed) }},
	} {
		if err := c.do(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	e.Work(fanout.Options{})
	e.Drain()
	for _, c := range refused {
		if err := c.do(); err != nil {
			t.Errorf("%s after the worker's return: %v", c.name, err)
		}
	}
	e.Drain()
	e.IsSound()
}
