package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/inspect"
)

// A merge adds posts that still wait in an outbox. Other posts displace them before fan-out
// reaches them. They were on the timeline before, so they must not go on top of newer ones.
func TestMerge_DoesNotRestoreTrimmedPosts(t *testing.T) {
	t.Parallel()
	list := func(e *engine, reader, author retwis.UserID) retwis.TimelineID {
		list, err := e.Lists.CreateList(e.T.Context(), reader, "a list", e.Key())
		if err != nil {
			e.T.Fatal(err)
		}
		if err := e.Lists.AddListMember(e.T.Context(), reader, list.ID, author); err != nil {
			e.T.Fatal(err)
		}
		return retwis.ListPosts(list.ID)
	}
	for _, tt := range []struct {
		name  string
		merge func(e *engine, reader, quick, slow retwis.UserID) retwis.TimelineID
	}{
		{"back-fill of a home", func(e *engine, reader, quick, slow retwis.UserID) retwis.TimelineID {
			e.Follow(reader, quick)
			e.Follow(reader, slow)
			return retwis.Home(reader)
		}},
		{"back-fill of a list", func(e *engine, reader, quick, slow retwis.UserID) retwis.TimelineID {
			id := list(e, reader, quick)
			if err := e.Lists.AddListMember(e.T.Context(), reader, id.List(), slow); err != nil {
				e.T.Fatal(err)
			}
			return id
		}},
		{"rebuild of a home", func(e *engine, reader, quick, slow retwis.UserID) retwis.TimelineID {
			if _, err := e.Importer().FollowAll(e.T.Context(), []retwis.Followings{{Reader: reader, Authors: []retwis.UserID{quick, slow}}}); err != nil {
				e.T.Fatal(err)
			}
			e.Read(retwis.Home(reader))
			return retwis.Home(reader)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
				people := e.Apart(3)
				reader, quick, slow := people[0], people[1], people[2]
				release := e.HoldOutbox(slow)
				var made []retwis.PostID
				for range 9 {
					made = append(made, e.Post(slow, "x"))
				}
				id := tt.merge(e, reader, quick, slow)
				e.Work(fanout.Options{})
				e.DrainAllBut(e.Outbox.PartitionOfUser(slow))
				if got, want := e.Read(id), enginetest.Newest(made); !slices.Equal(got, want) {
					t.Fatalf("the merge brought %v, want %v", got, want)
				}
				for range 8 {
					made = append(made, e.Post(quick, "x"))
					e.DrainAllBut(e.Outbox.PartitionOfUser(slow))
				}
				made = append(made, e.Post(slow, "after the merge"))
				release()
				e.Drain()
				slices.Reverse(made) // not by id: the last two may be of the same millisecond
				if got := e.Read(id); !slices.Equal(got, made) {
					t.Errorf("%v, want %v", got, made)
				}
			})
		})
	}
}

// A timeline that lost a merged post, although it has room, gets it back from fan-out: below
// newer posts, in a new epoch.
func TestMerge_InsertsMissingPostsInOrder(t *testing.T) {
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
				people := e.Apart(3)
				reader, quick, slow := people[0], people[1], people[2]
				home := retwis.Home(reader)
				if _, err := e.Live.SetOnline(t.Context(), "node", []retwis.TimelineID{home}, time.Hour); err != nil {
					t.Fatal(err)
				}
				_, stop := e.Work(fanout.Options{})
				for i := range 2 { // enough to be large
					e.Follow(e.Register(fmt.Sprint("other", i))[0], slow)
				}
				e.Follow(reader, quick)
				e.Drain()
				stop()
				release := e.HoldOutbox(slow)
				e.Work(fanout.Options{})
				made := []retwis.PostID{e.Post(quick, "x")}
				e.DrainAllBut(e.Outbox.PartitionOfUser(slow))
				for range 3 {
					made = append(made, e.Post(slow, "x"))
				}
				e.Follow(reader, slow)
				e.DrainAllBut(e.Outbox.PartitionOfUser(slow))

				client := enginetest.Client(t, url)
				list := enginetest.Keys(t, client, "*:home:"+reader.String())[0]
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
				e.Drain()
				if got, want := e.Read(home), enginetest.Newest(made); !slices.Equal(got, want) {
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
func TestMergeMarks_AreDeletedBelowTheWatermark(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Partitions: 2})
		client := enginetest.Client(t, url)
		author := e.Apart(2)[0]
		outbox, other := e.Outbox.PartitionOfUser(author), 1-e.Outbox.PartitionOfUser(author)
		var readers []retwis.UserID
		for i := 0; len(readers) < 3; i++ {
			if reader := e.Register(fmt.Sprint("reader", i))[0]; e.Outbox.PartitionOfUser(reader) == other {
				readers = append(readers, reader)
			}
		}
		wantMarks := func(when string, want ...bool) {
			t.Helper()
			for i, reader := range readers {
				marked := false
				for _, key := range enginetest.Keys(t, client, "*:merge_marks:*") {
					marked = marked || client.HExists(t.Context(), key, fmt.Sprintf("h%s:%s", reader, author)).Val()
				}
				if marked != want[i] {
					t.Errorf("%s: reader %d is marked: %t, want %t", when, i, marked, want[i])
				}
			}
		}
		raise := func(watermark string) {
			t.Helper()
			if err := e.Outbox.AdvanceWatermark(t.Context(), outbox, watermark, map[int]int{other: 1}, 1); err != nil {
				t.Fatal(err)
			}
		}
		_, stop := e.Work(fanout.Options{})
		e.Post(author, "x")
		e.Drain()
		e.Follow(readers[0], author)
		e.Drain()
		wantMarks("nothing waited", false, false, false)

		stop()
		release := e.HoldOutbox(author)
		_, stop = e.Work(fanout.Options{})
		e.Post(author, "x")
		before, err := inspect.NewInspector(e.Store).OutboxEnds(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		e.Post(author, "x")
		e.Follow(readers[1], author)
		e.DrainAllBut(outbox)
		first, err := inspect.NewInspector(e.Store).OutboxEnds(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wantMarks("two posts wait", false, true, false)
		raise(before[outbox])
		e.Post(author, "x")
		e.Follow(readers[2], author)
		e.DrainAllBut(outbox)
		wantMarks("three posts wait", false, true, true)
		raise(first[outbox])
		wantMarks("the third post waits", false, false, true)
		stop()
		release()
		e.Work(fanout.Options{})
		e.Drain()
		wantMarks("nothing waits", false, false, false)
	})
}
