package fanout_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// shortGrace makes the store delete the record of a deleted account soon.
const shortGrace = 100 * time.Millisecond

func (e *engine) deleteAccount(id retwis.UserID) {
	e.t.Helper()
	if err := e.Accounts.DeleteAccount(e.t.Context(), id, "x"); err != nil {
		e.t.Fatal(err)
	}
}

// nothingIsLeftOf fails the test if the database still refers to users whose accounts were
// deleted, after the grace period. It ignores idempotency keys, which expire by themselves.
func (e *engine) nothingIsLeftOf(ids ...retwis.UserID) {
	e.t.Helper()
	client := raw(e.t, e.url)
	var left []string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		left = left[:0]
		for _, id := range ids {
			for _, key := range keys(e.t, client, "*"+id.String()+"*") {
				if !strings.Contains(key, ":idem:") {
					left = append(left, key)
				}
			}
		}
		if len(left) == 0 {
			break
		}
	}
	if len(left) > 0 {
		e.t.Errorf("keys of deleted accounts: %v", left)
	}
	for _, pattern := range []string{"*:following:*", "*:fans:*", "*:members", "*:listed:*", "*:lists:*"} {
		for _, key := range keys(e.t, client, pattern) {
			members, err := client.ZRange(e.t.Context(), key, 0, -1).Result()
			if err != nil {
				e.t.Fatal(err)
			}
			for _, id := range ids {
				if slices.Contains(members, id.String()) {
					e.t.Errorf("%s holds deleted user %s", key, id)
				}
			}
		}
	}
	users, err := e.Accounts.Users(e.t.Context(), ids)
	if err != nil {
		e.t.Fatal(err)
	}
	for i, user := range users {
		if user != nil {
			e.t.Errorf("deleted user %s still exists", ids[i])
		}
	}
}

// endGraceOf ends the grace period during which the record of a deleted account remains, so
// that the authors of posts in flight resolve. It first verifies that the record expires.
func (e *engine) endGraceOf(id retwis.UserID) {
	e.t.Helper()
	client := raw(e.t, e.url)
	for _, key := range keys(e.t, client, "*:user:"+id.String()) {
		left, err := client.PTTL(e.t.Context(), key).Result()
		if err != nil || left <= 0 || left > time.Minute {
			e.t.Fatalf("time to live of %s: %s, %v", key, left, err)
		}
		if err := client.PExpire(e.t.Context(), key, time.Millisecond).Err(); err != nil {
			e.t.Fatal(err)
		}
	}
}

// createList creates a list with members.
func (e *engine) createList(owner retwis.UserID, members ...retwis.UserID) retwis.ListID {
	e.t.Helper()
	list, err := e.Lists.CreateList(e.t.Context(), owner, "a list", e.key())
	if err != nil {
		e.t.Fatal(err)
	}
	for _, member := range members {
		if err := e.Lists.AddListMember(e.t.Context(), owner, list.ID, member); err != nil {
			e.t.Fatal(err)
		}
	}
	return list.ID
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
		page, err := e.Timelines.Page(e.t.Context(), timelines[i%len(timelines)], retwis.Page{First: 50})
		if err != nil {
			e.t.Error(err)
			return
		}
		ids := make([]retwis.UserID, len(page.Edges))
		for k, edge := range page.Edges {
			ids[k] = edge.Post.AuthorID
		}
		users, err := e.Accounts.Users(e.t.Context(), ids)
		if err != nil {
			e.t.Error(err)
			return
		}
		if k := slices.Index(users, nil); k >= 0 {
			e.t.Errorf("post %s has no author", page.Edges[k].Post.ID)
			return
		}
	}
}

func TestAccountDeletion_LeavesNothing(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Partitions: 2, ProfileCap: 20, Slack: 3})
		e.work(fanout.Options{})
		e.work(fanout.Options{})
		people := e.register("Star", "friend", "other")
		star, friend, other := people[0], people[1], people[2]
		fans := e.fans(star, redistest.Size(450, 1000)) // more than one call detaches in a partition
		e.follow(star, friend)
		e.follow(star, other)
		e.follow(friend, star)
		e.follow(fans[0], friend)
		e.createList(star, friend, other)
		e.createList(star)
		shared := e.createList(other, star, friend)
		var made []retwis.PostID
		for i := range 80 { // more than the profile holds
			made = append(made, e.post(star, fmt.Sprint("@other ", i)))
		}
		for _, post := range []retwis.PostID{made[3], made[70]} {
			if err := e.Posts.DeletePost(t.Context(), star, post); err != nil {
				t.Fatal(err)
			}
		}
		kept := e.post(friend, "this one stays, @star")
		e.drain()
		before, err := e.Live.CurrentPosition(t.Context(), retwis.Home(fans[0]))
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
		e.deleteAccount(star)
		e.deleteAccount(star) // a client repeats the call after a lost reply
		if _, err := e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: star, Text: "x", IdempotencyKey: e.key()}); !errors.Is(err, retwis.ErrUnauthenticated) {
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
		e.drain()
		close(stop)
		reading.Wait()
		e.endGraceOf(star)
		e.nothingIsLeftOf(star)

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
			if got := e.read(id); !slices.Equal(got, []retwis.PostID{kept}) {
				t.Errorf("timeline %s: %v, want %v", id, got, kept)
			}
		}
		if got := e.read(retwis.Mentions(other)); len(got) > 0 {
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
		if members, total := e.follows(retwis.ListMembers(shared)); total != 1 || len(members) != 1 {
			t.Errorf("members of the list: %v, total %d", members, total)
		}

		// Later mentions of the name do not concern the deleted account.
		e.post(friend, "@star where are you?")
		again := e.register("STAR")[0]
		e.post(friend, "@star is somebody else")
		e.drain()
		if got := e.read(retwis.Mentions(again)); len(got) != 1 {
			t.Errorf("mentions of the new account with the name: %v, want 1 post", got)
		}
		e.nothingIsLeftOf(star)
		e.isSound()
	})
}

func TestAccountDeletion_CompletesDespiteKilledWorkers(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		r := redistest.Rand(t)
		e := newEngine(t, store.Options{URL: url, Chunk: slowChunk, ProfileCap: 100, Slack: 10, DeletedAccountTTL: shortGrace})
		workers := []*workerProcess{startWorker(t, url), startWorker(t, url)}
		stars := e.register("first", "second", "third")
		fans := e.fans(stars[0], redistest.Size(600, 3000))
		for _, fan := range fans[:100] {
			e.follow(fan, stars[1])
			e.follow(stars[2], fan)
		}
		for _, star := range stars {
			for range 200 {
				e.post(star, "x")
			}
			e.createList(star, fans[:5]...)
			e.createList(fans[0], star)
		}
		kept := e.post(fans[1], "x")
		e.drain()
		for _, star := range stars {
			e.deleteAccount(star)
		}
		for range redistest.Size(15, 60) {
			time.Sleep(time.Duration(20+r.IntN(500)) * time.Millisecond)
			i := r.IntN(len(workers))
			workers[i].kill()
			workers[i] = startWorker(t, url)
		}
		e.drainWithin(3 * time.Minute)
		e.nothingIsLeftOf(stars...)
		if got := e.read(retwis.Home(fans[1])); !slices.Equal(got, []retwis.PostID{kept}) {
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
		e.register("first", "SECOND", "third")
		letters, err := e.Outbox.DeadLetters(t.Context())
		if err != nil || len(letters) > 0 {
			t.Errorf("dead letters: %v, %v", letters, err)
		}
		e.isSound()
	})
}

func TestAccountDeletion_RemovesConcurrentEdges(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, DeletedAccountTTL: shortGrace})
		e.work(fanout.Options{})
		e.work(fanout.Options{})
		readers := e.crowd("reader", 8)
		lists := make([]retwis.ListID, len(readers))
		for i, reader := range readers {
			lists[i] = e.createList(reader)
		}
		var authors []retwis.UserID
		for round := range redistest.Size(25, 300) {
			author := e.register(fmt.Sprint("author", round))[0]
			authors = append(authors, author)
			e.post(author, "x")
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
			wg.Go(func() { e.deleteAccount(author) })
			wg.Wait()
		}
		// A follow registers its partition with the author, and completes after the deletion.
		e.drain()
		e.nothingIsLeftOf(authors...)
		client := raw(t, url)
		user := keys(t, client, "*:user:"+readers[0].String())[0]
		tag, _, _ := strings.Cut(user, ":user:")
		list := tag + ":list:" + lists[0].String()
		late := authors[0].String()
		for _, edge := range [][2]string{
			{tag + ":following:" + readers[0].String(), late}, {tag + ":fans:" + late, readers[0].String()},
			{list + ":members", late}, {tag + ":listed:" + late, lists[0].String()},
		} {
			if err := client.ZAdd(t.Context(), edge[0], z(1, edge[1])).Err(); err != nil {
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
		e.drain()
		e.nothingIsLeftOf(authors...)
		for i, reader := range readers {
			if got, total := e.follows(retwis.FollowConnection{Kind: retwis.Following, User: reader}); total != 0 {
				t.Errorf("%s follows %v", reader, got)
			}
			if got, total := e.follows(retwis.ListMembers(lists[i])); total != 0 {
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
		e.isSound()
	})
}
