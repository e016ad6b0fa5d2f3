package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
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

// A failover must not bring back a password, a session, a name or a list of which the change was acknowledged.
func TestChanges_WaitForReplicas(t *testing.T) {
	t.Parallel()
	cluster, s := replicated(t)
	user := storetest.Register(t, s, "user")[0]
	key := retwis.SessionKey{Bucket: user.Bucket(), Hash: "hash"}
	if err := s.Sessions.CreateSession(t.Context(), retwis.NewSession{Key: key, User: user}); err != nil {
		t.Fatal(err)
	}
	var lists [2]retwis.ListID
	for i := range lists {
		list, err := s.Lists.CreateList(t.Context(), user, "a list", fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		lists[i] = list.ID
	}
	credentials, err := s.Accounts.Credentials(t.Context(), "user")
	if err != nil {
		t.Fatal(err)
	}
	name := "Another Name"
	for _, replica := range cluster.Nodes()[3:] {
		replica.Pause()
	}
	var changes sync.WaitGroup
	for what, change := range map[string]func(ctx context.Context) error{
		"a profile": func(ctx context.Context) error {
			_, err := s.Accounts.UpdateProfile(ctx, user, retwis.ProfileChange{DisplayName: &name})
			return err
		},
		"a password": func(ctx context.Context) error {
			return s.Accounts.ChangePassword(ctx, user, retwis.SessionKey{}, credentials.PasswordHash, "another hash")
		},
		"the end of a session": func(ctx context.Context) error { return s.Sessions.EndSession(ctx, key) },
		"the end of sessions":  func(ctx context.Context) error { return s.Sessions.EndSessions(ctx, user) },
		"the name of a list": func(ctx context.Context) error {
			_, err := s.Lists.RenameList(ctx, user, lists[0], name)
			return err
		},
		"the deletion of a list": func(ctx context.Context) error { return s.Lists.DeleteList(ctx, user, lists[1]) },
	} {
		changes.Go(func() {
			if err := change(t.Context()); !errors.Is(err, retwis.ErrNotReplicated) {
				t.Errorf("%s without replicas: %v", what, err)
			}
		})
	}
	changes.Wait()
}
