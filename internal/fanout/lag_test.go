package fanout_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// watch takes what arrives on a timeline until the outboxes are empty. It returns the posts
// in the order they arrived, and the positions it had, each with how many had come by then.
func (e *engine) watch(id retwis.TimelineID, since retwis.Cursor) (arrived []retwis.PostID, stood map[int]retwis.TimelinePosition) {
	e.t.Helper()
	at, err := since.TimelinePosition(id)
	if err != nil {
		e.t.Fatal(err)
	}
	stood = map[int]retwis.TimelinePosition{0: at}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		waiting, err := e.Outbox.OutboxLength(e.t.Context())
		if err != nil {
			e.t.Fatal(err)
		}
		news, err := e.Live.Since(e.t.Context(), at)
		if err != nil {
			e.t.Fatal(err)
		}
		if !news.Found { // too slow
			arrived, stood = nil, map[int]retwis.TimelinePosition{}
		}
		at, arrived = news.Position, append(arrived, news.Arrived...)
		stood[len(arrived)] = at
		if waiting == 0 {
			return arrived, stood
		}
	}
	e.t.Fatal("the outboxes do not drain")
	return nil, nil
}

// One author's posts wait while others' arrive, and then come all at once: more of them than
// a home holds. They push newer posts out of the list. Pages do not leave these out, and who
// resumes sees everything that arrived since, or is told that it cannot be said.
func TestALaggingFanOutHidesNothing(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 400, Slack: 10})
		r := redistest.Rand(t)
		reader := e.register("reader")[0]
		people := e.crowd("user", 8)
		slow := people[0]
		quick := people[slices.IndexFunc(people, func(id retwis.UserID) bool { return e.Outbox.PartitionOfUser(id) != e.Outbox.PartitionOfUser(slow) })]
		m := newModel(append(people, reader))
		for _, author := range []retwis.UserID{slow, quick} {
			e.follow(reader, author)
			m.follows[reader][author] = true
		}
		_, stop := e.work(fanout.Options{})
		e.drain()
		stop()

		const nobody = "a worker that does nothing"
		held, err := e.Outbox.AcquireLease(t.Context(), e.Outbox.PartitionOfUser(slow), nobody, time.Minute)
		if err != nil || !held {
			t.Fatal(held, err)
		}
		post := func(author retwis.UserID) {
			m.posts[author] = append(m.posts[author], e.post(author, "x"))
		}
		for i := range 700 {
			if post(slow); i%20 == 0 {
				post(quick)
			}
		}
		e.work(fanout.Options{})
		last := m.posts[quick][len(m.posts[quick])-1]
		for deadline := time.Now().Add(time.Minute); !slices.Contains(e.read(retwis.Home(reader)), last); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("what does not lag did not arrive")
			}
		}
		if err := e.Outbox.ReleaseLease(t.Context(), e.Outbox.PartitionOfUser(slow), nobody); err != nil {
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
			news, err := e.Live.Since(t.Context(), position)
			if err != nil {
				t.Fatal(err)
			}
			if !news.Found {
				continue
			}
			if resumed++; !slices.Equal(news.Arrived, arrived[n:]) {
				t.Errorf("%d posts arrived since a position, and %d are told", len(arrived)-n, len(news.Arrived))
			}
		}
		t.Logf("of %d positions %d could be resumed from", len(stood), resumed)
		if resumed == 0 {
			t.Error("no position could be resumed from")
		}

		want := m.home(reader)
		forward, _ := e.walk(r, id, true, "")
		if !slices.Equal(newest(forward), want) {
			t.Errorf("pages: missing %v, extra or doubled %v", surplus(want, forward), surplus(forward, want))
		}
		backward, _ := e.walk(r, id, false, "")
		slices.Reverse(backward)
		if !slices.Equal(forward, backward) {
			t.Errorf("forward %v\nbackward %v", forward, backward)
		}
	})
}

// Between two pages of a full home the reader unfollows the author of the last post read.
func TestPagesGoOnAfterAnUnfollow(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 20, Slack: 5})
		e.work(fanout.Options{})
		r := redistest.Rand(t)
		people := e.crowd("user", 3)
		reader, stays, goes := people[0], people[1], people[2]
		e.follow(reader, stays)
		e.follow(reader, goes)
		var kept []retwis.PostID
		for range 30 {
			kept = append(kept, e.post(stays, "x"))
			e.drain() // in the order they were made
			e.post(goes, "x")
			e.drain()
		}
		id := retwis.Home(reader)
		before, cursors := e.walk(r, id, true, "")
		e.unfollow(reader, goes)
		e.drain()
		for _, place := range []int{4, 8, 30} { // in the list, and below it
			want := slices.DeleteFunc(newest(kept), func(post retwis.PostID) bool { return post >= before[place] })
			page, err := e.Timelines.Page(t.Context(), id, retwis.Page{First: 60, After: cursors[place]})
			if err != nil {
				t.Fatal(err)
			}
			var got []retwis.PostID
			for _, edge := range page.Edges {
				got = append(got, edge.Post.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("after post %d: missing %v, extra or doubled %v", place, surplus(want, got), surplus(got, want))
			}
		}
	})
}

// Of posts of one millisecond the ids do not tell which was made first: the one with the
// greatest may be pushed over the end of a list, too.
func TestAPostOfTheMillisecondOfTheNewestIsOnAPage(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), HomeCap: 5, Slack: 1})
	people := e.crowd("user", 20)
	reader, low, high := people[0], people[1], people[1]
	for _, id := range people[1:] {
		if e.Outbox.PartitionOfUser(id) < e.Outbox.PartitionOfUser(low) {
			low = id
		}
		if e.Outbox.PartitionOfUser(id) > e.Outbox.PartitionOfUser(high) {
			high = id
		}
	}
	e.follow(reader, low)
	e.follow(reader, high)
	e.work(fanout.Options{})
	e.drain()

	client := raw(t, e.url)
	ahead := (time.Since(retwis.TimeOrigin) + time.Hour).Truncate(time.Millisecond)
	for _, author := range []retwis.UserID{low, high} {
		tag, _, _ := strings.Cut(keys(t, client, "*:user:"+author.String())[0], ":")
		if err := client.Set(t.Context(), tag+":clock", ahead.Microseconds(), 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	made := []retwis.PostID{e.post(high, "x")}
	e.drain()
	for range 10 {
		made = append(made, e.post(low, "x"))
	}
	e.drain()
	if slices.Max(made) != made[0] || made[0]/1_000_000 != made[10]/1_000_000 {
		t.Fatalf("the first post is not the greatest of its millisecond: %v", made)
	}
	if got := e.read(retwis.Home(reader)); !slices.Equal(newest(got), newest(made)) {
		t.Errorf("pages: missing %v, extra or doubled %v", surplus(made, got), surplus(got, made))
	}
}
