package fanout_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/inspect"
)

// A merge brings posts that still wait in an outbox, and others displace them before fan-out
// reaches them. They had their time on the timeline: they must not come on top of newer ones.
func TestMerge_PostsThatWereTrimmedStayAway(t *testing.T) {
	t.Parallel()
	list := func(e *engine, reader, author retwis.UserID) retwis.TimelineID {
		list, err := e.Lists.CreateList(e.t.Context(), reader, "a list", e.key())
		if err != nil {
			e.t.Fatal(err)
		}
		if err := e.Lists.AddListMember(e.t.Context(), reader, list.ID, author); err != nil {
			e.t.Fatal(err)
		}
		return retwis.ListPosts(list.ID)
	}
	for _, tt := range []struct {
		name  string
		merge func(e *engine, reader, quick, slow retwis.UserID) retwis.TimelineID
	}{
		{"back-fill of a home", func(e *engine, reader, quick, slow retwis.UserID) retwis.TimelineID {
			e.follow(reader, quick)
			e.follow(reader, slow)
			return retwis.Home(reader)
		}},
		{"back-fill of a list", func(e *engine, reader, quick, slow retwis.UserID) retwis.TimelineID {
			id := list(e, reader, quick)
			if err := e.Lists.AddListMember(e.t.Context(), reader, id.List(), slow); err != nil {
				e.t.Fatal(err)
			}
			return id
		}},
		{"rebuild of a home", func(e *engine, reader, quick, slow retwis.UserID) retwis.TimelineID {
			if _, err := e.importer().FollowAll(e.t.Context(), []retwis.Followings{{Reader: reader, Authors: []retwis.UserID{quick, slow}}}); err != nil {
				e.t.Fatal(err)
			}
			e.read(retwis.Home(reader))
			return retwis.Home(reader)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
				people := e.apart(3)
				reader, quick, slow := people[0], people[1], people[2]
				release := e.holdOutbox(slow)
				var made []retwis.PostID
				for range 9 {
					made = append(made, e.post(slow, "x"))
				}
				id := tt.merge(e, reader, quick, slow)
				e.work(fanout.Options{})
				e.drainAllBut(e.Outbox.PartitionOfUser(slow))
				if got, want := e.read(id), newest(made); !slices.Equal(got, want) {
					t.Fatalf("the merge brought %v, want %v", got, want)
				}
				for range 8 {
					made = append(made, e.post(quick, "x"))
					e.drainAllBut(e.Outbox.PartitionOfUser(slow))
				}
				made = append(made, e.post(slow, "after the merge"))
				release()
				e.drain()
				if got, want := e.read(id), newest(made); !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
			})
		})
	}
}

// A timeline that lost a merged post, although it has room, gets it back from fan-out: below
// newer posts, in a new epoch.
func TestMerge_PostsThatAreMissingTakeTheirPlace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		options store.Options
	}{
		{"small author", store.Options{}},
		{"large author", store.Options{PullAbove: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				options := tt.options
				options.URL = url
				e := newEngine(t, options)
				people := e.apart(3)
				reader, quick, slow := people[0], people[1], people[2]
				home := retwis.Home(reader)
				if err := e.Live.SetOnline(t.Context(), "node", []retwis.TimelineID{home}, time.Hour); err != nil {
					t.Fatal(err)
				}
				_, stop := e.work(fanout.Options{})
				for i := range 2 { // enough to be large
					e.follow(e.register(fmt.Sprint("other", i))[0], slow)
				}
				e.follow(reader, quick)
				e.drain()
				stop()
				release := e.holdOutbox(slow)
				e.work(fanout.Options{})
				made := []retwis.PostID{e.post(quick, "x")}
				e.drainAllBut(e.Outbox.PartitionOfUser(slow))
				for range 3 {
					made = append(made, e.post(slow, "x"))
				}
				e.follow(reader, slow)
				e.drainAllBut(e.Outbox.PartitionOfUser(slow))

				client := raw(t, url)
				list := keys(t, client, "*:home:"+reader.String())[0]
				if n := client.LRem(t.Context(), list, 0, made[2].String()).Val(); n != 1 {
					t.Fatalf("the home holds %d of the post", n)
				}
				if last := client.RPop(t.Context(), list).Val(); last != "0" { // now it is a trimmed one
					t.Fatalf("the home ends with %s", last)
				}
				before, err := e.Timelines.Page(t.Context(), home, retwis.Page{First: 1})
				if err != nil {
					t.Fatal(err)
				}
				release()
				e.drain()
				if got, want := e.read(home), newest(made); !slices.Equal(got, want) {
					t.Errorf("home: %v, want %v", got, want)
				}
				if at, err := before.LiveCursor.TimelinePosition(home); err != nil {
					t.Error(err)
				} else if news, err := e.Live.EventsSince(t.Context(), at); err != nil || news.Position.Epoch <= at.Epoch {
					t.Errorf("the epoch is %d, and was %d: %v", news.Position.Epoch, at.Epoch, err)
				}
			})
		})
	}
}

// Merge marks cost deliveries time, so they are there only while entries wait that were in the
// outbox when posts were read.
func TestMergeMarks_GoWhenTheWatermarkHasPassed(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Partitions: 2})
		client := raw(t, url)
		author := e.apart(2)[0]
		outbox, other := e.Outbox.PartitionOfUser(author), 1-e.Outbox.PartitionOfUser(author)
		var readers []retwis.UserID
		for i := 0; len(readers) < 3; i++ {
			if reader := e.register(fmt.Sprint("reader", i))[0]; e.Outbox.PartitionOfUser(reader) == other {
				readers = append(readers, reader)
			}
		}
		wantMarks := func(when string, want ...bool) {
			t.Helper()
			for i, reader := range readers {
				marked := false
				for _, key := range keys(t, client, "*:merge_marks:*") {
					marked = marked || client.HExists(t.Context(), key, fmt.Sprintf("h%s:%s", reader, author)).Val()
				}
				if marked != want[i] {
					t.Errorf("%s: reader %d is marked: %t, want %t", when, i, marked, want[i])
				}
			}
		}
		raise := func(watermark string) {
			t.Helper()
			if err := e.Outbox.AdvanceWatermark(t.Context(), outbox, watermark, []int{other}); err != nil {
				t.Fatal(err)
			}
		}
		_, stop := e.work(fanout.Options{})
		e.post(author, "x")
		e.drain()
		e.follow(readers[0], author)
		e.drain()
		wantMarks("nothing waited", false, false, false)

		stop()
		release := e.holdOutbox(author)
		_, stop = e.work(fanout.Options{})
		e.post(author, "x")
		before, err := inspect.NewInspector(e.Store).OutboxEnds(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		e.post(author, "x")
		e.follow(readers[1], author)
		e.drainAllBut(outbox)
		first, err := inspect.NewInspector(e.Store).OutboxEnds(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wantMarks("two posts wait", false, true, false)
		raise(before[outbox])
		e.post(author, "x")
		e.follow(readers[2], author)
		e.drainAllBut(outbox)
		wantMarks("three posts wait", false, true, true)
		raise(first[outbox])
		wantMarks("the third post waits", false, false, true)
		stop()
		release()
		e.work(fanout.Options{})
		e.drain()
		wantMarks("nothing waits", false, false, false)
	})
}
