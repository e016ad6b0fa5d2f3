package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"retwis/internal/cost"
	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/ratelimit"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/storetest"
)

// workOf returns the work that a function does with its context.
func workOf(t *testing.T, do func(context.Context)) cost.Work {
	t.Helper()
	meter := cost.NewMeter(cost.Options{})
	do(cost.With(t.Context(), meter))
	return meter.Close().Work
}

// Attack: of n reposts of one post, each reads those below it. A page read the record of each of them up to 100 times.
func TestPage_ReadsEachOfManyRepostsOfAPostOnce(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		_, stop := e.Work(fanout.Options{})
		const n = 30
		reader, stranger, reposters := e.Register("reader")[0], e.Register("stranger")[0], e.Crowd("reposter", n)
		post := e.Post(stranger, "x")
		for _, reposter := range reposters {
			e.Follow(reader, reposter)
		}
		e.Drain()
		home := retwis.Home(reader)
		e.Read(home)
		before, _, err := e.Live.CurrentPosition(t.Context(), home)
		if err != nil {
			t.Fatal(err)
		}
		for _, reposter := range reposters {
			storetest.Repost(t, e.Store, reposter, post)
			e.Drain()
		}
		stop()
		work := workOf(t, func(ctx context.Context) {
			page, err := e.Timelines.Page(ctx, home, retwis.Page{First: 20})
			if err != nil || len(page.Edges) != 1 {
				t.Errorf("a page with %d posts, want 1: %v", len(page.Edges), err)
			}
		})
		if most := 4 * n; work.Commands > most {
			t.Errorf("a page took %d commands, want %d at most", work.Commands, most)
		}
		work = workOf(t, func(ctx context.Context) {
			replay, err := e.Live.EventsSince(ctx, before)
			if err != nil || len(replay.Arrived) != n {
				t.Errorf("a replay with %d entries, want %d: %v", len(replay.Arrived), n, err)
			}
		})
		if most := 4 * n; work.Commands > most {
			t.Errorf("a replay took %d commands, want %d at most", work.Commands, most)
		}
	})
}

// Attack: a worker that removed a user from a full home or list searched the profiles of all other sources. Now the next read does,
// and is charged for it.
func TestPage_ChargesForTheRebuildAfterAnUnfollow(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
		_, stop := e.Work(fanout.Options{})
		const n = 50
		reader, authors := e.Register("reader")[0], e.Crowd("author", n+1)
		list := e.CreateList(reader, authors...)
		for _, author := range authors {
			e.Follow(reader, author)
			e.Post(author, "x")
		}
		goes := authors[0]
		for range 15 {
			e.Post(goes, "y")
		}
		e.Drain()
		stop()
		for id, remove := range map[retwis.TimelineID]func() error{
			retwis.Home(reader):    func() error { return e.Follows.Unfollow(t.Context(), reader, goes) },
			retwis.ListPosts(list): func() error { return e.Lists.RemoveListMember(t.Context(), reader, list, goes) },
		} {
			e.Read(id)
			if err := remove(); err != nil {
				t.Fatal(err)
			}
			purge := workOf(t, func(ctx context.Context) {
				if err := e.Tasks.Purge(ctx, id, goes); err != nil {
					t.Fatal(err)
				}
			})
			if purge.Rows+purge.Commands >= n {
				t.Errorf("%s: a purge did the work %+v", id, purge)
			}
			read := workOf(t, func(ctx context.Context) {
				if _, err := e.Timelines.Page(ctx, id, retwis.Page{First: 1}); err != nil {
					t.Fatal(err)
				}
			})
			if read.Rows < n {
				t.Errorf("%s: the read after it counted %d rows, with %d other sources", id, read.Rows, n)
			}
		}
	})
}

// Attack: a read of a home took three commands for each large author of the partition, at no charge.
func TestPage_PassesLargeAuthorsTogether(t *testing.T) {
	t.Parallel()
	url := redistest.Server(t).URL()
	e := newEngine(t, store.Options{URL: url, Partitions: 1, PullAbove: 1})
	e.Work(fanout.Options{})
	const n, others = 30, 60
	people, authors := e.Register("reader", "a", "b"), e.Crowd("author", n)
	for _, author := range authors {
		e.Follow(people[1], author)
		e.Follow(people[2], author)
	}
	for _, other := range e.Crowd("other", others) {
		e.Follow(people[2], other)
	}
	e.Drain()
	for _, author := range authors {
		e.Post(author, "x")
	}
	e.Drain()
	client := enginetest.Client(t, url)
	e.Read(retwis.Home(people[0]))
	if err := client.ConfigResetStat(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Timelines.Page(t.Context(), retwis.Home(people[0]), retwis.Page{First: 1}); err != nil {
		t.Fatal(err)
	}
	stats, err := client.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stats, "cmdstat_zmscore") {
		t.Errorf("the read passed no large author:\n%s", stats)
	}
	for line := range strings.Lines(stats) {
		var calls int
		name, counts, _ := strings.Cut(line, ":")
		if _, err := fmt.Sscanf(counts, "calls=%d", &calls); err == nil && calls >= n {
			t.Errorf("%d calls of %s for %d large authors", calls, name, n)
		}
	}
	read := func(reader retwis.UserID) cost.Work {
		return workOf(t, func(ctx context.Context) {
			if _, err := e.Timelines.Page(ctx, retwis.Home(reader), retwis.Page{First: 1}); err != nil {
				t.Error(err)
			}
		})
	}
	if first := read(people[1]); first.Rows < 2*n {
		t.Errorf("a read that passed %d followed large authors counted %d rows", n, first.Rows)
	}
	e.Read(retwis.Home(people[2]))
	few := read(people[1])
	if many := read(people[2]); many.Rows < few.Rows+others/2 { // they are packed, so the large authors are searched among them
		t.Errorf("a reader who follows %d others counted %d rows, one who does not %d", others, many.Rows, few.Rows)
	}
}

// Attack: a reader came back after large authors had posted 12 000 times. The next read sorted all of these posts in one script, which
// took Redis 80 milliseconds.
func TestPage_BuildsAHomeAgainThatMissedMorePostsOfLargeAuthorsThanItHolds(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		const room = 20
		e := newEngine(t, store.Options{URL: url, HomeCap: room, Slack: 5, PullAbove: 1})
		e.Work(fanout.Options{})
		people, authors := e.Register("reader", "other"), e.Crowd("author", 4)
		for _, author := range authors {
			e.Follow(people[0], author)
			e.Follow(people[1], author)
		}
		var posts []retwis.PostID
		post := func(count int) {
			for range count {
				for _, author := range authors {
					posts = append(posts, e.Post(author, "x"))
				}
			}
			e.Drain()
		}
		home := retwis.Home(people[0])
		read := func() { // reads all posts, the newest first
			t.Helper()
			slices.Sort(posts)
			slices.Reverse(posts)
			if got := e.Read(home); !slices.Equal(got, posts) {
				t.Fatalf("the home shows %v, want %v", got, posts)
			}
		}
		epoch := func() int64 {
			t.Helper()
			at, _, err := e.Live.CurrentPosition(t.Context(), home)
			if err != nil {
				t.Fatal(err)
			}
			return at.Epoch
		}
		post(1)
		read()
		before := epoch()
		post(room) // four times as many as there is room for
		read()
		if epoch() == before {
			t.Error("the home was built again, and has the same epoch")
		}
		before = epoch()
		post(1)
		read()
		if epoch() != before {
			t.Error("the home has another epoch after posts that it has room for")
		}
	})
}

// charged returns the points that a mutation takes beyond its price.
func charged(t *testing.T, do func(context.Context) error) int {
	t.Helper()
	meter := cost.NewMeter(cost.Options{Price: cost.Price{Covered: 1 << 20}, Bound: cost.OfMutation(), Charge: func(int) error { return nil }})
	if err := do(cost.With(t.Context(), meter)); err != nil {
		t.Fatal(err)
	}
	return meter.Close().Beyond
}

// Attack: with homes of 10 000 entries, a back-fill took 40 ms, and the follow or list member that caused it cost as much as with homes of 1000.
func TestFollows_ChargeForLargeHomes(t *testing.T) {
	t.Parallel()
	for homeCap, more := range map[int]int{100: 0, 1000: 0, 10_000: 1500} {
		e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), HomeCap: homeCap})
		users := e.Register("reader", "author")
		list := e.CreateList(users[0])
		for name, do := range map[string]func(context.Context) error{
			"follow":      func(ctx context.Context) error { return e.Follows.Follow(ctx, users[0], users[1]) },
			"list member": func(ctx context.Context) error { return e.Lists.AddListMember(ctx, users[0], list, users[1]) },
		} {
			if points := charged(t, do); points != more {
				t.Errorf("with homes of %d entries, a %s costs %d points more, want %d", homeCap, name, points, more)
			}
		}
	}
}

// Attack: accounts of one sender put an author on thousands of lists. The delivery of each post took 330 times as long as its price paid for.
func TestPosts_ChargeForTheirDelivery(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		author, other := e.Register("author")[0], e.Register("other")[0]
		post := e.Post(other, "x")
		create := func(ctx context.Context) error {
			_, err := e.Posts.CreatePost(ctx, retwis.NewPost{Author: author, Text: "y", IdempotencyKey: e.Key()})
			return err
		}
		repost := func(ctx context.Context) error {
			_, err := e.Posts.Repost(ctx, author, post)
			return err
		}
		if points := charged(t, create); points > 0 {
			t.Errorf("a post of an author on no list and without followers costs %d points more", points)
		}
		followed := map[int]bool{}
		for _, follower := range e.Crowd("follower", 5) {
			e.Follow(follower, other)
			followed[e.Live.PartitionOf(retwis.Home(follower))] = true
		}
		if points, want := charged(t, func(ctx context.Context) error {
			_, err := e.Posts.CreatePost(ctx, retwis.NewPost{Author: other, Text: "followed", IdempotencyKey: e.Key()})
			return err
		}), priceOfDelivery(len(followed), 0); points != want {
			t.Errorf("a post to %d partitions with followers costs %d points more, want %d", len(followed), points, want)
		}
		for text, want := range map[string]int{
			"#one #two #One":            2 * cost.PerHashtag,
			"@other @nobody and @OTHER": cost.PerMention,
		} {
			if points := charged(t, func(ctx context.Context) error {
				_, err := e.Posts.CreatePost(ctx, retwis.NewPost{Author: author, Text: text, IdempotencyKey: e.Key()})
				return err
			}); points != want {
				t.Errorf("the post %q costs %d points more, want %d", text, points, want)
			}
		}
		const owners, each = 3, 8
		partitions := map[int]bool{}
		type listOf struct {
			owner retwis.UserID
			id    retwis.ListID
		}
		var listing []listOf
		for _, owner := range e.Crowd("owner", owners) {
			for range each {
				list := e.CreateList(owner, author)
				partitions[e.Live.PartitionOf(retwis.ListPosts(list))] = true
				listing = append(listing, listOf{owner, list})
			}
		}
		want := priceOfDelivery(len(partitions), owners*each)
		if points := charged(t, create); points != want {
			t.Errorf("a post costs %d points more, want %d", points, want)
		}
		if points := charged(t, repost); points != want {
			t.Errorf("a repost costs %d points more, want %d", points, want)
		}
		if points := charged(t, repost); points > 0 {
			t.Errorf("a repost that existed costs %d points more", points)
		}
		for _, list := range listing {
			if err := e.Lists.RemoveListMember(t.Context(), list.owner, list.id, author); err != nil {
				t.Fatal(err)
			}
		}
		if want, points := priceOfDelivery(len(partitions), 0), charged(t, create); points != want {
			t.Errorf("a post of an author who was on lists costs %d points more, want %d", points, want)
		}
		refused := func(ctx context.Context) error {
			_, err := e.Posts.CreatePost(ctx, retwis.NewPost{Author: other, Text: "#three", IdempotencyKey: "used"})
			if !errors.Is(err, retwis.FieldError(retwis.CodeInvalid, "idempotencyKey", "")) {
				return fmt.Errorf("the post is not refused: %w", err)
			}
			return nil
		}
		if _, err := e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: other, Text: "z", IdempotencyKey: "used"}); err != nil {
			t.Fatal(err)
		}
		if points := charged(t, refused); points != cost.PerHashtag {
			t.Errorf("a refused post with a new hashtag costs %d points more, want %d", points, cost.PerHashtag)
		}
	})
}

// Attack: Redis searches packed likes and reposts from the beginning for each post, which took five to eight times what their rows pay for.
func TestLookUps_ReadPackedSetsOnce(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		reader, author := e.Register("reader")[0], e.Register("author")[0]
		const n = 100
		var posts []retwis.PostID
		for i := range n {
			posts = append(posts, e.Post(author, fmt.Sprint("post ", i)))
		}
		for _, post := range posts[n/2:] {
			e.Like(reader, post)
			storetest.Repost(t, e.Store, reader, post)
		}
		for name, look := range map[string]func(context.Context, retwis.UserID, []retwis.PostID) ([]bool, error){
			"likes": e.Likes.Liked, "reposts": e.Posts.Reposted,
		} {
			work := workOf(t, func(ctx context.Context) {
				found, err := look(ctx, reader, posts)
				if err != nil || len(found) != n {
					t.Fatalf("%s: looked up %d posts: %v", name, len(found), err)
				}
				for i, has := range found {
					if has != (i >= n/2) {
						t.Errorf("%s: post %d: %t", name, i, has)
					}
				}
			})
			if want := n + n/2/2; work.Rows < want {
				t.Errorf("%s: charged for %d rows, want %d: those of the reply, and those of a packed set that was read", name, work.Rows, want)
			}
			const few, numbersPerRow = 10, 50
			work = workOf(t, func(ctx context.Context) {
				if _, err := look(ctx, reader, posts[:few]); err != nil {
					t.Fatal(err)
				}
			})
			if want := few + few*n/2/numbersPerRow; work.Rows < want {
				t.Errorf("%s: charged for %d rows, want %d: those of the reply, and those of a packed set that was searched", name, work.Rows, want)
			}
			if found, err := look(t.Context(), reader, nil); err != nil || len(found) > 0 {
				t.Errorf("%s: looked up nothing: %v, %v", name, found, err)
			}
		}
	})
}

// The network of an author rests for the deliveries of posts and reposts to its followers.
func TestPosts_NetworksRestForFollowers(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL()})
	author, follower := e.Register("author")[0], e.Register("follower")[0]
	e.Follow(follower, author)
	if err := e.DB().Client.HSet(t.Context(), e.DB().OfUser(author).User(author).Account(), "followers", 1_000_000).Err(); err != nil {
		t.Fatal(err)
	}
	for name, create := range map[string]func(ctx context.Context, key string) error{
		"a post": func(ctx context.Context, key string) error {
			_, err := e.Posts.CreatePost(ctx, retwis.NewPost{Author: author, Text: "x", IdempotencyKey: key})
			return err
		},
		"a repost": func(ctx context.Context, key string) error {
			_, err := e.Posts.Repost(ctx, author, e.Post(follower, key))
			return err
		},
	} {
		shares := cost.NewShares()
		client := func(network byte) ratelimit.Client {
			return ratelimit.Client{Address: netip.AddrFrom4([4]byte{192, 0, network, 1})}
		}
		turn := func(network byte) time.Duration {
			begun := time.Now()
			cost.NewMeter(cost.Options{Client: client(network), Shares: shares}).TakeTurn(t.Context())()
			return time.Since(begun)
		}
		turn(1)
		turn(2) // the first network rests from now on
		turn(1)
		if err := create(shares.Paid(t.Context(), client(1)), name); err != nil {
			t.Fatal(err)
		}
		for range runtime.GOMAXPROCS(0) {
			turn(1)
		}
		if rested := turn(1); rested < 50*time.Millisecond {
			t.Errorf("after %s, the network rested for %v", name, rested)
		}
	}
}

func priceOfDelivery(partitions, lists int) int {
	ofPartitions, ofLists := cost.OfDelivery(partitions, lists)
	return ofPartitions + ofLists
}
