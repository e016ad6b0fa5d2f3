package fanout_test

import (
	"slices"
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/pubsub"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// watch reads the posts that arrive on a timeline until the outboxes are empty. It returns
// the posts in the order of arrival, and each position by the number of posts before it.
func (e *engine) watch(id retwis.TimelineID, since retwis.Cursor) (arrived []pubsub.Arrival, stood map[int]retwis.TimelinePosition) {
	e.T.Helper()
	at, err := since.TimelinePosition(id)
	if err != nil {
		e.T.Fatal(err)
	}
	stood = map[int]retwis.TimelinePosition{0: at}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		waiting, err := e.Outbox.OutboxLength(e.T.Context())
		if err != nil {
			e.T.Fatal(err)
		}
		news, err := e.Live.EventsSince(e.T.Context(), at)
		if err != nil {
			e.T.Fatal(err)
		}
		if !news.Found { // the list was trimmed faster than watch read it
			arrived, stood = nil, map[int]retwis.TimelinePosition{}
		}
		at, arrived = news.Position, append(arrived, news.Arrived...)
		stood[len(arrived)] = at
		if waiting == 0 {
			return arrived, stood
		}
	}
	e.T.Fatal("the outboxes are not empty after a minute")
	return nil, nil
}

// The posts of one author are delayed, and then arrive in one burst that exceeds the capacity
// of a home. They push newer posts out of the list. Pages nevertheless include these posts,
// and a subscriber that resumes receives all later posts or a reset.
func TestLag_HidesNoPosts(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 400, Slack: 10})
		r := redistest.Rand(t)
		reader := e.Register("reader")[0]
		people := e.Crowd("user", 8)
		slow := people[0]
		quick := people[slices.IndexFunc(people, func(id retwis.UserID) bool { return e.Outbox.PartitionOfUser(id) != e.Outbox.PartitionOfUser(slow) })]
		m := enginetest.NewModel(append(people, reader))
		for _, author := range []retwis.UserID{slow, quick} {
			e.Follow(reader, author)
			m.Follows[reader][author] = true
		}
		_, stop := e.Work(fanout.Options{})
		e.Drain()
		stop()

		const idleWorker = "idle worker"
		lease := e.Outbox.AcquireLeases(t.Context(), []int{e.Outbox.PartitionOfUser(slow)}, idleWorker, time.Minute)[0]
		if !lease.Held {
			t.Fatal(lease.Err)
		}
		post := func(author retwis.UserID) {
			m.Posts[author] = append(m.Posts[author], e.Post(author, "x"))
		}
		for i := range 700 {
			if post(slow); i%20 == 0 {
				post(quick)
			}
		}
		post(quick) // newer than every post that displaces it
		e.Work(fanout.Options{})
		last := m.Posts[quick][len(m.Posts[quick])-1]
		for deadline := time.Now().Add(time.Minute); !slices.Contains(e.Read(retwis.Home(reader)), last); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the posts that are not delayed did not arrive")
			}
		}
		if err := e.Outbox.ReleaseLease(t.Context(), e.Outbox.PartitionOfUser(slow), idleWorker); err != nil {
			t.Fatal(err)
		}
		id := retwis.Home(reader)
		start, err := e.Timelines.Page(t.Context(), id, retwis.Page{First: 1})
		if err != nil {
			t.Fatal(err)
		}
		arrived, stood := e.watch(id, start.LiveCursor)
		resumed := 0
		for n, position := range stood {
			news, err := e.Live.EventsSince(t.Context(), position)
			if err != nil {
				t.Fatal(err)
			}
			if !news.Found {
				continue
			}
			if resumed++; !slices.Equal(news.Arrived, arrived[n:]) {
				t.Errorf("replay from a position returns %d posts, want %d", len(news.Arrived), len(arrived)-n)
			}
		}
		t.Logf("%d of %d positions are recoverable", resumed, len(stood))
		if resumed == 0 {
			t.Error("no position is recoverable")
		}

		want := enginetest.PostsOf(m.Home(e.Engine, reader))
		forward, _ := e.Walk(r, id, true, "")
		if !slices.Equal(enginetest.Newest(forward), want) {
			t.Errorf("pages: missing %v, extra or duplicate %v", enginetest.Surplus(want, forward), enginetest.Surplus(forward, want))
		}
		backward, _ := e.Walk(r, id, false, "")
		slices.Reverse(backward)
		if !slices.Equal(forward, backward) {
			t.Errorf("pages forward %v\nbackward %v", forward, backward)
		}
	})
}

// A page ends at a late post with newer posts below it. All of these are trimmed before the next page, which must show them.
func TestLag_NextPageShowsNewerPostsThatWereTrimmed(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
		reader, authors := e.ReaderApart(2)
		home, quick, slow := retwis.Home(reader), authors[0], authors[1]
		release := e.HoldOutbox(slow)
		e.Work(fanout.Options{})
		late := e.Post(slow, "late")
		var newer []retwis.PostID
		for range 5 {
			newer = append(newer, e.Post(quick, "newer"))
		}
		e.DrainAllBut(e.Outbox.PartitionOfUser(slow))
		release()
		e.Drain()
		page, err := e.Timelines.Page(t.Context(), home, retwis.Page{First: 1})
		if err != nil || len(page.Edges) != 1 || page.Edges[0].Post.ID != late {
			t.Fatalf("the home begins with %v, want %v: %v", page.Edges, late, err)
		}
		for range 15 {
			e.Post(quick, "afterwards")
		}
		e.Drain()
		next, _ := e.Walk(redistest.Rand(t), home, true, page.Edges[0].Cursor)
		next = slices.DeleteFunc(next, func(id retwis.PostID) bool { return id == late }) // which may come again
		if want := enginetest.Newest(newer); !slices.Equal(next, want) {
			t.Errorf("after the late post, pages show %v, want %v", next, want)
		}
	})
}

// More late posts than a cursor names displace the newer ones below them, between two pages. These are on the next one.
func TestLag_NextPageShowsPostsThatManyLateOnesDisplaced(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 20, Slack: 2})
		reader, authors := e.ReaderApart(2)
		list := e.CreateList(reader, authors...)
		quick, slow := authors[0], authors[1]
		release := e.HoldOutbox(slow)
		e.Work(fanout.Options{})
		e.DrainAllBut(e.Outbox.PartitionOfUser(slow)) // the list is filled
		var late, newer []retwis.PostID
		for range 2 * retwis.CursorReserve {
			late = append(late, e.Post(slow, "late"))
		}
		time.Sleep(200 * time.Millisecond)
		for range 5 {
			newer = append(newer, e.Post(quick, "newer"))
		}
		e.DrainAllBut(e.Outbox.PartitionOfUser(slow))
		release()
		e.Drain()
		timelines := []retwis.TimelineID{retwis.Home(reader), retwis.ListPosts(list)}
		cursors := map[retwis.TimelineID]retwis.Cursor{}
		for _, id := range timelines {
			page, err := e.Timelines.Page(t.Context(), id, retwis.Page{First: 1})
			if err != nil || len(page.Edges) != 1 || page.Edges[0].Post.ID != late[len(late)-1] {
				t.Fatalf("%v begins with %v, want the last late post: %v", id, page.Edges, err)
			}
			cursors[id] = page.Edges[0].Cursor
		}
		for range 30 {
			e.Post(quick, "afterwards")
		}
		e.Drain()
		for _, id := range timelines {
			next, _ := e.Walk(redistest.Rand(t), id, true, cursors[id])
			next = slices.DeleteFunc(next, func(post retwis.PostID) bool { return post == late[len(late)-1] || post > newer[len(newer)-1] }) // which may come again
			if want := append(enginetest.Newest(newer), enginetest.Newest(late[:len(late)-1])...); !slices.Equal(next, want) {
				t.Errorf("%v: after the first late post, pages show %v, want %v", id, next, want)
			}
		}
	})
}

// Late posts displace newer entries from a home: the reader's own post, which no fan-out delivers, and one of a quick author. Pages show
// both, although an outbox still holds older posts.
func TestLag_ShowsDisplacedPostsWhileOthersLag(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
		reader, authors := e.ReaderApart(3)
		home, slow, slower, quick := retwis.Home(reader), authors[0], authors[1], authors[2]
		releaseSlow, releaseSlower := e.HoldOutbox(slow), e.HoldOutbox(slower)
		var want []retwis.PostID
		for range 20 {
			want = append(want, e.Post(slow, "late"))
		}
		waiting := e.Post(slower, "later still")
		time.Sleep(2 * time.Millisecond) // pages show posts of the millisecond in which the newest entry was created
		want = append(want, e.Post(reader, "mine"), e.Post(quick, "quick"))
		e.Work(fanout.Options{})
		e.DrainAllBut(e.Outbox.PartitionOfUser(slow), e.Outbox.PartitionOfUser(slower))
		releaseSlow()
		e.DrainAllBut(e.Outbox.PartitionOfUser(slower))

		r := redistest.Rand(t)
		forward, _ := e.Walk(r, home, true, "")
		backward, _ := e.Walk(r, home, false, "")
		slices.Reverse(backward)
		if !slices.Equal(backward, forward) {
			t.Errorf("pages forward %v\nbackward %v", forward, backward)
		}
		shown := slices.DeleteFunc(forward, func(id retwis.PostID) bool { return id == waiting }) // which may be shown before it arrives
		if got := enginetest.Newest(shown); !slices.Equal(got, enginetest.Newest(want)) {
			t.Errorf("while posts arrive late, pages show %v, want %v", got, enginetest.Newest(want))
		}
		releaseSlower()
	})
}
