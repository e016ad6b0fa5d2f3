package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/fanout"
	"retwis/internal/outbox"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func TestBackfillBeforeFanOutDeliversOnce(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		authors, readers := e.crowd("author", 20), e.crowd("reader", 20)
		want := make([][]retwis.PostID, len(authors))
		for i := range authors {
			want[i] = []retwis.PostID{e.post(authors[i], "second"), e.post(authors[i], "first")}
			e.follow(readers[i], authors[i])
			if err := e.Tasks.Backfill(t.Context(), retwis.Home(readers[i]), authors[i], 0); err != nil {
				t.Fatal(err)
			}
		}
		e.work(fanout.Options{})
		e.drain()
		for i, reader := range readers {
			if got := e.read(retwis.Home(reader)); !slices.Equal(got, newest(want[i])) {
				t.Errorf("home of %s: %v, want %v", reader, got, newest(want[i]))
			}
		}
	})
}

// A worker that takes over may find followers in a partition where there were none when the
// one before delivered a post, which had gone on to the next post since. The posts must not
// change places there, though the back-fill is still to come.
func TestATakeoverKeepsTheOrderOfAnAuthor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		to      outbox.TargetKind
		options store.Options
	}{
		{"followers", outbox.TargetFollowers, store.Options{}},
		{"lists", outbox.TargetLists, store.Options{}},
		{"large author", outbox.TargetActiveFollowers, store.Options{PullAbove: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				options := tt.options
				options.URL = url
				e := newEngine(t, options)
				_, stop := e.work(fanout.Options{})
				author, reader := e.register("author")[0], e.register("reader")[0]
				for i, followers := 0, 0; followers < 3; i++ { // enough to be large
					other := e.register(fmt.Sprint("other", i))[0]
					if e.Outbox.PartitionOfUser(other) != e.Outbox.PartitionOfUser(reader) {
						e.follow(other, author)
						followers++
					}
				}
				e.drain()
				stop()

				first, second := e.post(author, "first"), e.post(author, "second")
				entries, err := e.Outbox.ReadOutbox(t.Context(), e.Outbox.PartitionOfUser(author), "0", 10, time.Second)
				if err != nil || len(entries) != 2 {
					t.Fatalf("the outbox holds %v, %v", entries, err)
				}
				timeline := retwis.Home(reader)
				if tt.to == outbox.TargetLists {
					list, err := e.Lists.CreateList(t.Context(), reader, "a list", e.key())
					if err != nil {
						t.Fatal(err)
					}
					timeline = retwis.ListPosts(list.ID)
					if err := e.Lists.AddListMember(t.Context(), reader, list.ID, author); err != nil {
						t.Fatal(err)
					}
				} else {
					e.follow(reader, author)
				}
				for i, want := range []int{1, 0} { // the second post, then the first again
					at := outbox.Delivery{Entry: entries[1-i], Partition: e.Outbox.PartitionOfUser(reader), To: tt.to}
					got := e.Outbox.Deliver(t.Context(), []outbox.Delivery{at})[0]
					if got.Err != nil || got.Progress != outbox.Done || (tt.to != outbox.TargetActiveFollowers && got.Pushed != want) {
						t.Fatalf("post %d: %+v, want it done with %d pushed", 2-i, got, want)
					}
				}
				if got, want := e.read(timeline), []retwis.PostID{second}; !slices.Equal(got, want) {
					t.Errorf("before the back-fill: %v, want %v", got, want)
				}
				e.work(fanout.Options{})
				e.drain()
				if got, want := e.read(timeline), []retwis.PostID{second, first}; !slices.Equal(got, want) {
					t.Errorf("after it: %v, want %v", got, want)
				}
			})
		})
	}
}

func TestUnfollowRacesPosting(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.work(fanout.Options{})
		r := redistest.Rand(t)
		var readers []retwis.UserID
		for round := range redistest.Size(60, 500) {
			people := e.crowd(fmt.Sprintf("r%d_", round), 2)
			author, reader := people[0], people[1]
			e.follow(reader, author)
			var wg sync.WaitGroup
			wg.Go(func() {
				for range 5 {
					if _, err := e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: author, Text: "x", IdempotencyKey: e.key()}); err != nil {
						t.Error(err)
					}
				}
			})
			pause := time.Duration(r.IntN(3000)) * time.Microsecond
			wg.Go(func() {
				time.Sleep(pause)
				if err := e.Follows.Unfollow(t.Context(), reader, author); err != nil {
					t.Error(err)
				}
			})
			wg.Wait()
			readers = append(readers, reader)
		}
		e.drain()
		for round, reader := range readers {
			if left := e.read(retwis.Home(reader)); len(left) > 0 {
				t.Errorf("round %d: %d posts remain", round, len(left))
			}
		}
	})
}

func TestOneOfManyRegistrationsOfANameWins(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.work(fanout.Options{})
		const contenders = 50
		spelt := func(i int) string {
			return strings.Map(func(c rune) rune {
				if i >>= 1; i&1 == 1 {
					return c - 'a' + 'A'
				}
				return c
			}, "somebody")
		}
		errs := make([]error, contenders)
		users := make([]*retwis.User, contenders)
		var wg sync.WaitGroup
		for i := range contenders {
			wg.Go(func() {
				users[i], errs[i] = e.Accounts.Register(t.Context(), retwis.Registration{Username: spelt(i), PasswordHash: "x"})
			})
		}
		wg.Wait()
		var winner *retwis.User
		for i, err := range errs {
			switch {
			case err == nil && winner == nil:
				winner = users[i]
			case err == nil:
				t.Errorf("%s and %s both have the name", winner.ID, users[i].ID)
			case !errors.Is(err, retwis.ErrNameTaken):
				t.Error(err)
			}
		}
		if winner == nil {
			t.Fatal("nobody has the name")
		}
		got, err := e.Accounts.UserByName(t.Context(), "SOMEBODY")
		if err != nil || got.ID != winner.ID {
			t.Errorf("the name belongs to %v, %v; want %s", got, err, winner.ID)
		}
		e.drain()
	})
}

func TestIDsRiseAlsoWhenTheClockJumpsBack(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Partitions: 2})
		people := e.crowd("user", 8)
		for i := 0; !slices.ContainsFunc(people, func(id retwis.UserID) bool {
			return e.Outbox.PartitionOfUser(id) != e.Outbox.PartitionOfUser(people[0])
		}); i++ {
			people = append(people, e.register(fmt.Sprint("other", i))...) // chance had put all of them in one partition
		}
		each := func() map[retwis.UserID][]retwis.PostID {
			const goroutines = 64
			var mu sync.Mutex
			made := map[retwis.UserID][]retwis.PostID{}
			var wg sync.WaitGroup
			for g := range goroutines {
				author := people[g%len(people)]
				wg.Go(func() {
					var last retwis.PostID
					for range 20 {
						edge, err := e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: author, Text: "x", IdempotencyKey: e.key()})
						if err != nil {
							t.Error(err)
							return
						}
						if edge.Post.ID <= last {
							t.Errorf("%s came after %s", edge.Post.ID, last)
						}
						last = edge.Post.ID
						mu.Lock()
						made[author] = append(made[author], last)
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			return made
		}
		before := each()
		ahead := time.Since(retwis.TimeOrigin) + time.Hour
		client := raw(t, url)
		clocks := keys(t, client, "*:clock")
		if len(clocks) != 2 {
			t.Fatalf("clocks: %v", clocks)
		}
		for _, clock := range clocks {
			if err := client.Set(t.Context(), clock, ahead.Microseconds(), 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		after := each()
		seen := map[retwis.PostID]bool{}
		for author := range before {
			for _, id := range append(before[author], after[author]...) {
				if seen[id] {
					t.Errorf("%s was given twice", id)
				}
				seen[id] = true
			}
			if slices.Min(after[author]) <= slices.Max(before[author]) {
				t.Errorf("ids of %s went back", author)
			}
		}
		e.work(fanout.Options{})
		reader := e.register("reader")[0]
		e.follow(reader, people[0])
		e.drain()
		if got, want := e.read(retwis.Home(reader)), newest(append(before[people[0]], after[people[0]]...)); !slices.Equal(got, want) {
			t.Errorf("home: %d posts, want %d", len(got), len(want))
		}
	})
}

func TestLostRepliesDoubleNothing(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	proxy := server.Proxy()
	r := redistest.Rand(t)
	own := rand.New(rand.NewPCG(r.Uint64(), 0)) // the proxy has r for itself
	var mu sync.Mutex
	proxy.DropRepliesIf(func(request []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		return !redistest.Handshake(request) && r.IntN(100) < 3
	})
	e := newEngine(t, store.Options{URL: proxy.URL()})
	e.work(fanout.Options{})
	people := func() (all []retwis.UserID) {
		for i := range 30 {
			user := retry(t, func() (*retwis.User, error) {
				return e.Accounts.Register(t.Context(), retwis.Registration{Username: fmt.Sprint("user", i), PasswordHash: "x"})
			})
			all = append(all, user.ID)
		}
		return all
	}()
	m := newModel(people)
	for range redistest.Size(1000, 10_000) {
		user := people[own.IntN(len(people))]
		switch own.IntN(4) {
		case 0, 1:
			key := e.key()
			edge := retry(t, func() (retwis.PostEdge, error) {
				return e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: user, Text: "x", IdempotencyKey: key})
			})
			m.posts[user] = append(m.posts[user], edge.Post.ID)
		case 2:
			if other := people[own.IntN(len(people))]; other != user {
				retry(t, func() (any, error) { return nil, e.Follows.Follow(t.Context(), user, other) })
				m.follows[user][other] = true
			}
		case 3:
			if other := people[own.IntN(len(people))]; other != user {
				retry(t, func() (any, error) { return nil, e.Follows.Unfollow(t.Context(), user, other) })
				delete(m.follows[user], other)
			}
		}
	}
	if proxy.Dropped() == 0 {
		t.Fatal("no reply was lost")
	}
	t.Logf("%d replies were lost", proxy.Dropped())
	proxy.DropRepliesIf(nil)
	e.drain()
	m.verify(e, 1000, 100)
}

// retry repeats what a client would repeat: anything but an answer.
func retry[T any](t *testing.T, act func() (T, error)) T {
	t.Helper()
	for try := 0; ; try++ {
		value, err := act()
		var answer *retwis.Error
		if err == nil {
			return value
		}
		if errors.As(err, &answer) || try == 20 || t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

// raw is a client beside the store, to look and to do harm.
func raw(t *testing.T, url string) redis.UniversalClient {
	t.Helper()
	options, err := redis.ParseURL(strings.Split(url, ",")[0])
	if err != nil {
		t.Fatal(err)
	}
	client := redis.UniversalClient(redis.NewClient(options))
	if strings.Contains(url, ",") {
		_ = client.Close()
		client = redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{options.Addr}})
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func keys(t *testing.T, client redis.UniversalClient, pattern string) []string {
	t.Helper()
	var mu sync.Mutex
	var all []string
	scan := func(ctx context.Context, node *redis.Client) error {
		found, err := node.Keys(ctx, pattern).Result()
		mu.Lock()
		defer mu.Unlock()
		all = append(all, found...)
		return err
	}
	var err error
	if cluster, ok := client.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(t.Context(), scan)
	} else {
		err = scan(t.Context(), client.(*redis.Client))
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// retryFor repeats what a client would repeat, for as long as an outage may last.
func retryFor[T any](t *testing.T, limit time.Duration, act func() (T, error)) T {
	t.Helper()
	for deadline := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		value, err := act()
		if err == nil {
			return value
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func xadd(stream string, fields []string) *redis.XAddArgs {
	return &redis.XAddArgs{Stream: stream, Values: fields}
}

func z(score float64, member string) redis.Z { return redis.Z{Score: score, Member: member} }
