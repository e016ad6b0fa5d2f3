package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/bulk"
	"retwis/internal/store/storetest"
)

// A rebuild may lack the posts of authors whom the reader followed after it began.
func TestRebuild_StartsAgainAfterAFollow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		kept bool // whether there is a home when the building begins
		act  func(t *testing.T, s *store.Store, reader, author retwis.UserID) error
	}{
		{"follows are imported", true, func(t *testing.T, s *store.Store, reader, author retwis.UserID) error {
			_, err := bulk.New(s).FollowAll(t.Context(), []retwis.Followings{{Reader: reader, Authors: []retwis.UserID{author}}})
			return err
		}},
		{"a follow is back-filled", false, func(t *testing.T, s *store.Store, reader, author retwis.UserID) error {
			if err := s.Follows.Follow(t.Context(), reader, author); err != nil {
				return err
			}
			return s.Tasks.Backfill(t.Context(), retwis.Home(reader), author, 0)
		}},
		{"the home went and is built by another", false, func(t *testing.T, s *store.Store, reader, author retwis.UserID) error {
			if err := s.DB().Client.Del(t.Context(), s.DB().OfUser(reader).User(reader).Home()).Err(); err != nil {
				return err
			}
			if err := s.Follows.Follow(t.Context(), reader, author); err != nil {
				return err
			}
			if err := s.Tasks.Backfill(t.Context(), retwis.Home(reader), author, 0); err != nil {
				return err
			}
			_, err := s.Timelines.BeginBuild(t.Context(), retwis.Home(reader))
			return err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, store.Options{URL: redistest.Server(t).URL()})
			ids := storetest.Register(t, s, "reader", "author")
			reader, author := ids[0], ids[1]
			if _, err := s.Posts.CreatePost(t.Context(), retwis.NewPost{Author: author, Text: "x", IdempotencyKey: "x"}); err != nil {
				t.Fatal(err)
			}
			if !tt.kept {
				if err := s.DB().Client.Del(t.Context(), s.DB().OfUser(reader).User(reader).Home()).Err(); err != nil {
					t.Fatal(err)
				}
			}
			overtaken, err := s.Timelines.BeginBuild(t.Context(), retwis.Home(reader))
			if err != nil || store.Gathered(overtaken) != 0 {
				t.Fatalf("%d posts were gathered: %v", store.Gathered(overtaken), err)
			}
			if err := tt.act(t, s, reader, author); err != nil {
				t.Fatal(err)
			}
			if ended, err := s.Timelines.EndBuild(t.Context(), overtaken); err != nil || ended {
				t.Errorf("the building ended: %v, %v", ended, err)
			}
			page, err := s.Timelines.Page(t.Context(), retwis.Home(reader), retwis.Page{First: 10})
			if err != nil || len(page.Edges) != 1 {
				t.Errorf("the home has %d posts: %v", len(page.Edges), err)
			}
		})
	}
}

// A rebuild reads a bounded number of posts. When the reader unfollows an author during the
// rebuild, it has to read older posts of the others in their place.
func TestRebuild_BeginsAgainAfterAnUnfollow(t *testing.T) {
	t.Parallel()
	for _, purged := range []bool{true, false} {
		t.Run(fmt.Sprintf("purged before the building ends: %t", purged), func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, store.Options{URL: redistest.Server(t).URL(), HomeCap: 3, Slack: 1})
			ids := storetest.Register(t, s, "reader", "stays", "goes")
			reader, stays, goes := ids[0], ids[1], ids[2]
			home := retwis.Home(reader)
			for _, author := range []retwis.UserID{stays, goes} {
				if err := s.Follows.Follow(t.Context(), reader, author); err != nil {
					t.Fatal(err)
				}
			}
			var kept []retwis.PostID
			for i, author := range []retwis.UserID{stays, stays, goes, goes, goes} {
				made, err := s.Posts.CreatePost(t.Context(), retwis.NewPost{Author: author, Text: "x", IdempotencyKey: fmt.Sprint(i)})
				if err != nil {
					t.Fatal(err)
				}
				if author == stays {
					kept = append(kept, made.Post.ID)
				}
			}
			if err := s.DB().Client.Del(t.Context(), s.DB().OfUser(reader).User(reader).Home()).Err(); err != nil {
				t.Fatal(err)
			}
			build, err := s.Timelines.BeginBuild(t.Context(), home)
			if err != nil || store.Gathered(build) != 3 {
				t.Fatalf("%d posts were gathered: %v", store.Gathered(build), err)
			}
			if err := s.Follows.Unfollow(t.Context(), reader, goes); err != nil {
				t.Fatal(err)
			}
			purge := func() {
				if err := s.Tasks.Purge(t.Context(), home, goes); err != nil {
					t.Fatal(err)
				}
			}
			if purged {
				purge()
			}
			if _, err := s.Timelines.EndBuild(t.Context(), build); err != nil {
				t.Fatal(err)
			}
			if !purged {
				purge()
			}
			page, err := s.Timelines.Page(t.Context(), home, retwis.Page{First: 10})
			if err != nil {
				t.Fatal(err)
			}
			var got []retwis.PostID
			for _, edge := range page.Edges {
				got = append(got, edge.Post.ID)
			}
			slices.Reverse(kept)
			if !slices.Equal(got, kept) {
				t.Errorf("the home has %v, want %v", got, kept)
			}
		})
	}
}

// A home can be read even if every rebuild is interrupted by another follow.
func TestRebuild_PagesAreReadDuringRestarts(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	s := storetest.Open(t, store.Options{URL: server.URL()})
	ids := storetest.Register(t, s, "reader", "author")
	reader, author := ids[0], ids[1]
	if err := s.Follows.Follow(t.Context(), reader, author); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Posts.CreatePost(t.Context(), retwis.NewPost{Author: author, Text: "x", IdempotencyKey: "x"}); err != nil {
		t.Fatal(err)
	}
	home := s.DB().OfUser(reader).User(reader).Home()
	if err := s.DB().Client.Del(t.Context(), home).Err(); err != nil {
		t.Fatal(err)
	}
	s.DB().Client.AddHook(overtaking{server.Client(), s.DB().OfUser(reader).User(reader).Account()})
	if err := s.Timelines.Rebuild(t.Context(), retwis.Home(reader)); !errors.Is(err, store.ErrConcurrentChange) {
		t.Errorf("the building ended with %v", err)
	}
	page, err := s.Timelines.Page(t.Context(), retwis.Home(reader), retwis.Page{First: 10})
	if err != nil || len(page.Edges) != 1 {
		t.Errorf("the home has %d posts: %v", len(page.Edges), err)
	}
	if _, err := s.Live.EventsSince(t.Context(), retwis.TimelinePosition{Timeline: retwis.Home(reader)}); err != nil {
		t.Error(err)
	}
}

// overtaking is a hook that raises the generation of a home before each pipeline, such as
// the one that reads profiles for a rebuild.
type overtaking struct {
	*redis.Client
	user string
}

func (overtaking) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (overtaking) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (o overtaking) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, calls []redis.Cmder) error {
		if err := o.HIncrBy(ctx, o.user, "epoch", 1).Err(); err != nil {
			return err
		}
		return next(ctx, calls)
	}
}

// Attack: one address read 200 lists at once that had to be rebuilt, and Redis served nobody else for a quarter of a second.
func TestRebuild_WaitsForTheTurnOfItsClient(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{URL: redistest.Server(t).URL()})
	reader := storetest.Register(t, s, "reader")[0]
	shares := cost.NewShares()
	ctx := shares.Paid(t.Context(), ratelimit.Client{User: reader})
	_, done, err := cost.Rebuild(ctx)
	if err != nil {
		t.Fatal(err)
	}
	rebuilt := make(chan error, 2)
	go func() { rebuilt <- s.Timelines.Rebuild(ctx, retwis.Home(reader)) }()
	impatient, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if err := s.Timelines.Rebuild(impatient, retwis.Mentions(reader)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a rebuild did not wait: %v", err)
	}
	select {
	case err := <-rebuilt:
		t.Errorf("a rebuild did not wait: %v", err)
	default:
	}
	done()
	if err := <-rebuilt; err != nil {
		t.Error(err)
	}
}

// A page and a subscription of a home that is not stored share its rebuild. The reader leaves the page, which had begun it.
func TestRebuild_GoesOnWithoutTheFirstCaller(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{URL: redistest.Server(t).URL()})
	reader := storetest.Register(t, s, "reader")[0]
	shared := cost.NewShares().Paid(t.Context(), ratelimit.Client{User: reader})
	_, done, err := cost.Rebuild(shared)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	first, leave := context.WithCancel(shared)
	defer leave()
	rebuilt := make(chan error, 1)
	go func() { rebuilt <- s.Timelines.Rebuild(first, retwis.Home(reader)) }()
	time.Sleep(50 * time.Millisecond)
	go func() { rebuilt <- s.Timelines.Rebuild(t.Context(), retwis.Home(reader)) }()
	time.Sleep(50 * time.Millisecond)
	leave()
	canceled, other := <-rebuilt, <-rebuilt
	if other != nil {
		canceled, other = other, canceled
	}
	if !errors.Is(canceled, context.Canceled) || other != nil {
		t.Errorf("the first caller: %v; the other one: %v", canceled, other)
	}
}
