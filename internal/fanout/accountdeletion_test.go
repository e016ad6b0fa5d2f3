package fanout_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"

	"github.com/redis/go-redis/v9"
)

// endGraceOf ends the grace period during which the record of a deleted account remains, so
// that the authors of posts in flight resolve. It first verifies that the record expires.
func (e *engine) endGraceOf(id retwis.UserID) {
	e.T.Helper()
	client := enginetest.Client(e.T, e.URL)
	for _, key := range enginetest.Keys(e.T, client, "*:user:"+id.String()) {
		left, err := client.PTTL(e.T.Context(), key).Result()
		if err != nil || left <= 0 || left > time.Minute {
			e.T.Fatalf("time to live of %s: %s, %v", key, left, err)
		}
		if err := client.PExpire(e.T.Context(), key, time.Millisecond).Err(); err != nil {
			e.T.Fatal(err)
		}
	}
}

// authorsResolve reads the first pages of timelines and the authors of their posts until stop
// is closed. It fails the test if an author is missing.
func (e *engine) authorsResolve(stop <-chan struct{}, timelines ...retwis.TimelineID) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		page, err := e.Timelines.Page(e.T.Context(), timelines[i%len(timelines)], retwis.Page{First: 50})
		if err != nil {
			e.T.Error(err)
			return
		}
		ids := make([]retwis.UserID, len(page.Edges))
		for k, edge := range page.Edges {
			ids[k] = edge.Post.AuthorID
		}
		users, err := e.Accounts.Users(e.T.Context(), ids)
		if err != nil {
			e.T.Error(err)
			return
		}
		if k := slices.Index(users, nil); k >= 0 {
			e.T.Errorf("post %s has no author", page.Edges[k].Post.ID)
			return
		}
	}
}

func TestAccountDeletion_LeavesNothing(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Partitions: 2, ProfileCap: 20, Slack: 3})
		e.Work(fanout.Options{})
		e.Work(fanout.Options{})
		people := e.Register("Star", "friend", "other")
		star, friend, other := people[0], people[1], people[2]
		fans := e.fans(star, redistest.Size(450, 1000)) // more than one call detaches in a partition
		e.Follow(star, friend)
		e.Follow(star, other)
		e.Follow(friend, star)
		e.Follow(fans[0], friend)
		e.CreateList(star, friend, other)
		e.CreateList(star)
		shared := e.CreateList(other, star, friend)
		var made []retwis.PostID
		for i := range 80 { // more than the profile holds
			made = append(made, e.Post(star, fmt.Sprint("@other ", i)))
		}
		for _, post := range []retwis.PostID{made[3], made[70]} {
			if err := e.Posts.DeletePost(t.Context(), star, post); err != nil {
				t.Fatal(err)
			}
		}
		kept := e.Post(friend, "this one stays, @star")
		e.Drain()
		before, _, err := e.Live.CurrentPosition(t.Context(), retwis.Home(fans[0]))
		if err != nil {
			t.Fatal(err)
		}

		stop := make(chan struct{})
		var reading sync.WaitGroup
		for _, id := range []retwis.TimelineID{retwis.Home(fans[0]), retwis.Profile(star), retwis.Public(), retwis.Mentions(other), retwis.ListPosts(shared)} {
			reading.Go(func() { e.authorsResolve(stop, id) })
		}
		if err := e.Accounts.DeleteAccount(t.Context(), star, "another hash"); !errors.Is(err, retwis.ErrWrongCredentials) {
			t.Errorf("DeleteAccount with another hash: %v", err)
		}
		e.DeleteAccount(star)
		e.DeleteAccount(star) // a client repeats the call after a lost reply
		if _, err := e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: star, Text: "x", IdempotencyKey: e.Key()}); !errors.Is(err, retwis.ErrUnauthenticated) {
			t.Errorf("CreatePost of a deleted account: %v", err)
		}
		if err := e.Follows.Follow(t.Context(), other, star); !errors.Is(err, retwis.ErrUserNotFound) {
			t.Errorf("Follow of a deleted account: %v", err)
		}
		if _, err := e.Accounts.CredentialsOf(t.Context(), star); !errors.Is(err, retwis.ErrNotFound) {
			t.Errorf("CredentialsOf a deleted account: %v", err)
		}
		if _, err := e.Accounts.UserByName(t.Context(), "star"); !errors.Is(err, retwis.ErrNotFound) {
			t.Errorf("UserByName of a deleted account: %v", err)
		}
		e.Drain()
		close(stop)
		reading.Wait()
		e.DeleteAccount(star) // a repeat that is slower than the deletion
		e.endGraceOf(star)
		e.NothingIsLeftOf(star)

		replay, err := e.Live.EventsSince(t.Context(), before)
		if err != nil || !replay.Found {
			t.Fatalf("replay of a fan's home: %+v, %v", replay, err)
		}
		removed := map[retwis.PostID]bool{}
		for _, removal := range replay.Removed {
			removed[removal.Post] = true
		}
		if len(removed) != len(made)-2 {
			t.Errorf("replay of a fan's home has %d removals, want %d", len(removed), len(made)-2)
		}
		posts, err := e.Posts.Posts(t.Context(), made)
		if err != nil || slices.ContainsFunc(posts, func(p *retwis.Post) bool { return p != nil }) {
			t.Errorf("posts of a deleted account exist: %v", err)
		}
		for _, id := range []retwis.TimelineID{retwis.Home(fans[0]), retwis.Public(), retwis.ListPosts(shared)} {
			if got := e.Read(id); !slices.Equal(got, []retwis.PostID{kept}) {
				t.Errorf("timeline %s: %v, want %v", id, got, kept)
			}
		}
		if got := e.Read(retwis.Mentions(other)); len(got) > 0 {
			t.Errorf("mentions: %v", got)
		}
		users, err := e.Accounts.Users(t.Context(), []retwis.UserID{friend, other, fans[0], fans[1]})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range [][2]int{{1, 0}, {0, 0}, {0, 1}, {0, 0}} {
			if u := users[i]; u.FollowerCount != want[0] || u.FollowingCount != want[1] {
				t.Errorf("%s: %d followers, follows %d, want %v", u.ID, u.FollowerCount, u.FollowingCount, want)
			}
		}
		if members, total := e.Connection(retwis.ListMembers(shared)); total != 1 || len(members) != 1 {
			t.Errorf("members of the list: %v, total %d", members, total)
		}

		// Later mentions of the name do not concern the deleted account.
		e.Post(friend, "@star where are you?")
		again := e.Register("STAR")[0]
		e.Post(friend, "@star is somebody else")
		e.Drain()
		if got := e.Read(retwis.Mentions(again)); len(got) != 1 {
			t.Errorf("mentions of the new account with the name: %v, want 1 post", got)
		}
		e.NothingIsLeftOf(star)
		e.IsSound()
	})
}

func TestAccountDeletion_CompletesDespiteKilledWorkers(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		r := redistest.Rand(t)
		e := newEngine(t, store.Options{URL: url, Chunk: slowChunk, ProfileCap: 100, Slack: 10, DeletedAccountTTL: enginetest.ShortAccountTTL})
		workers := []*workerProcess{startWorker(t, url), startWorker(t, url)}
		stars := e.Register("first", "second", "third")
		fans := e.fans(stars[0], redistest.Size(200, 3000))
		for _, fan := range fans[:100] {
			e.Follow(fan, stars[1])
			e.Follow(stars[2], fan)
		}
		for _, star := range stars {
			for range redistest.Size(50, 200) {
				e.Post(star, "x")
			}
			e.CreateList(star, fans[:5]...)
			e.CreateList(fans[0], star)
		}
		kept := e.Post(fans[1], "x")
		e.Drain()
		for _, star := range stars {
			e.DeleteAccount(star)
		}
		for range redistest.Size(8, 60) {
			time.Sleep(time.Duration(20+r.IntN(500)) * time.Millisecond)
			i := r.IntN(len(workers))
			workers[i].kill()
			workers[i] = startWorker(t, url)
		}
		e.Drain()
		e.NothingIsLeftOf(stars...)
		if got := e.Read(retwis.Home(fans[1])); !slices.Equal(got, []retwis.PostID{kept}) {
			t.Errorf("home of a fan: %v, want %v", got, kept)
		}
		users, err := e.Accounts.Users(t.Context(), fans)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range users {
			if u.FollowerCount != 0 || u.FollowingCount != 0 {
				t.Errorf("%s: %d followers, follows %d, want none", u.ID, u.FollowerCount, u.FollowingCount)
			}
		}
		e.Register("first", "SECOND", "third")
		letters, err := e.Outbox.DeadLetters(t.Context())
		if err != nil || len(letters) > 0 {
			t.Errorf("dead letters: %v, %v", letters, err)
		}
		e.IsSound()
	})
}

func TestAccountDeletion_RemovesConcurrentEdges(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, DeletedAccountTTL: enginetest.ShortAccountTTL})
		e.Work(fanout.Options{})
		e.Work(fanout.Options{})
		readers := e.Crowd("reader", 8)
		lists := make([]retwis.ListID, len(readers))
		for i, reader := range readers {
			lists[i] = e.CreateList(reader)
		}
		var authors []retwis.UserID
		for round := range redistest.Size(25, 300) {
			author := e.Register(fmt.Sprint("author", round))[0]
			authors = append(authors, author)
			e.Post(author, "x")
			var wg sync.WaitGroup
			for i, reader := range readers {
				wg.Go(func() {
					for range 3 {
						err := e.Follows.Follow(t.Context(), reader, author)
						err = errors.Join(err, e.Lists.AddListMember(t.Context(), reader, lists[i], author))
						if err != nil && !errors.Is(err, retwis.ErrUserNotFound) {
							t.Error(err)
						}
					}
				})
			}
			wg.Go(func() { e.DeleteAccount(author) })
			wg.Wait()
		}
		// A follow registers its partition with the author, and completes after the deletion.
		e.Drain()
		e.NothingIsLeftOf(authors...)
		client := enginetest.Client(t, url)
		user := enginetest.Keys(t, client, "*:user:"+readers[0].String())[0]
		tag, _, _ := strings.Cut(user, ":user:")
		list := tag + ":list:" + lists[0].String()
		late := authors[0].String()
		for _, edge := range [][2]string{
			{tag + ":following:" + readers[0].String(), late}, {tag + ":fans:" + late, readers[0].String()},
			{list + ":members", late}, {tag + ":listed:" + late, lists[0].String()},
		} {
			if err := client.ZAdd(t.Context(), edge[0], redis.Z{Score: 1, Member: edge[1]}).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if err := client.HIncrBy(t.Context(), user, "following", 1).Err(); err != nil {
			t.Fatal(err)
		}
		for _, timeline := range []retwis.TimelineID{retwis.Home(readers[0]), retwis.ListPosts(lists[0])} {
			fields := []string{"kind", "backfill", "timeline", timeline.String(), "author", late, "score", "1"}
			if err := client.XAdd(t.Context(), xadd(tag+":outbox", fields)).Err(); err != nil {
				t.Fatal(err)
			}
		}
		e.Drain()
		e.NothingIsLeftOf(authors...)
		for i, reader := range readers {
			if got, total := e.Connection(retwis.FollowConnection{Kind: retwis.Following, User: reader}); total != 0 {
				t.Errorf("%s follows %v", reader, got)
			}
			if got, total := e.Connection(retwis.ListMembers(lists[i])); total != 0 {
				t.Errorf("members of list %s: %v", lists[i], got)
			}
		}
		users, err := e.Accounts.Users(t.Context(), readers)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range users {
			if u.FollowingCount != 0 {
				t.Errorf("%s follows %d, want none", u.ID, u.FollowingCount)
			}
		}
		e.IsSound()
	})
}

func xadd(stream string, fields []string) *redis.XAddArgs {
	return &redis.XAddArgs{Stream: stream, Values: fields}
}
