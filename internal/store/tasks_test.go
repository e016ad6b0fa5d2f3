package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"retwis/internal/retwis"
	"retwis/internal/store/storetest"
)

// A worker recorded a back-fill as done at a new master, after the old one had lost its writes in a failover: the list lacked all posts of
// its new member for ever.
func TestTasks_WaitForReplicas(t *testing.T) {
	t.Parallel()
	cluster, s := replicated(t)
	reader, author := storetest.Register(t, s, "reader")[0], storetest.Register(t, s, "author")[0]
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.Lists.CreateList(t.Context(), reader, "a list", "key")
	must(err)
	timeline := retwis.ListPosts(list.ID)
	_, err = s.Posts.CreatePost(t.Context(), retwis.NewPost{Author: author, Text: "x", IdempotencyKey: "key"})
	must(err)
	_, err = s.Timelines.Page(t.Context(), timeline, retwis.Page{First: 1}) // the list is stored from now on
	must(err)
	for _, task := range []struct {
		name    string
		prepare func() error // makes the task write something
		run     func(ctx context.Context) error
	}{
		{
			"a back-fill", func() error { return s.Lists.AddListMember(t.Context(), reader, list.ID, author) },
			func(ctx context.Context) error { return s.Tasks.Backfill(ctx, timeline, author, 0) },
		},
		{
			"a purge", func() error { return s.Lists.RemoveListMember(t.Context(), reader, list.ID, author) },
			func(ctx context.Context) error { return s.Tasks.Purge(ctx, timeline, author) },
		},
		{
			"a count of followers", func() error { return nil },
			func(ctx context.Context) error {
				return s.Tasks.RecountFollowers(ctx, s.DB().OfUser(reader).Number, author)
			},
		},
		{
			"the deletion of a list", func() error { return s.Lists.DeleteList(t.Context(), reader, list.ID) },
			func(ctx context.Context) error {
				_, err := s.Tasks.DeleteListStep(ctx, list.ID)
				return err
			},
		},
	} {
		must(task.prepare())
		replicas := cluster.Nodes()[3:]
		for _, replica := range replicas {
			replica.Pause()
		}
		if err := task.run(t.Context()); !errors.Is(err, retwis.ErrNotReplicated) {
			t.Errorf("%s without replicas: %v", task.name, err)
		}
		for _, replica := range replicas {
			replica.Resume()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := task.run(ctx); err != nil {
			t.Errorf("%s: %v", task.name, err)
		}
		cancel()
	}
}
