package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/outbox"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// An author's posts arrive late, or the clocks of partitions disagree, so that posts with greater ids fill a home. A
// build of the home does not read the author's posts. Those that reach the home meanwhile must follow the older ones
// that it holds, or they would be missing between these and later ones.
func TestRebuild_KeepsThePostsThatFollowThoseOfAHome(t *testing.T) {
	t.Parallel()
	deliver := func(e *engine, entry outbox.Entry, to outbox.TargetKind, reader retwis.UserID) {
		e.T.Helper()
		d := outbox.Delivery{Entry: entry, Partition: e.Outbox.PartitionOfUser(reader), To: to}
		if !e.deliver(&d) {
			e.T.Fatal("one call did not deliver a post to one follower")
		}
	}
	setOnline := func(e *engine, home retwis.TimelineID) {
		e.T.Helper()
		if _, err := e.Live.SetOnline(e.T.Context(), "node", []retwis.TimelineID{home}, time.Hour); err != nil {
			e.T.Fatal(err)
		}
	}
	setOffline := func(e *engine, home retwis.TimelineID) {
		e.T.Helper()
		if err := e.Live.SetOffline(e.T.Context(), "node", []retwis.TimelineID{home}); err != nil {
			e.T.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name           string
		to             outbox.TargetKind // says whether the author is a large one
		before, during func(e *engine, home retwis.TimelineID, second outbox.Entry)
		repeats        bool // the build has to begin again
		arrived        int  // posts that the home holds after the build
	}{
		{
			name: "a delivery before the build",
			before: func(e *engine, home retwis.TimelineID, second outbox.Entry) {
				deliver(e, second, outbox.TargetFollowers, home.Owner)
			},
			arrived: 2,
		},
		{
			name: "a delivery during the build",
			during: func(e *engine, home retwis.TimelineID, second outbox.Entry) {
				deliver(e, second, outbox.TargetFollowers, home.Owner)
			},
			arrived: 2,
		},
		{
			name: "a back-fill during the build",
			during: func(e *engine, home retwis.TimelineID, second outbox.Entry) {
				if err := e.Tasks.Backfill(e.T.Context(), home, second.Author, 0); err != nil {
					e.T.Fatal(err)
				}
			},
			repeats: true,
			arrived: 3,
		},
		{
			name: "a large author, the home is watched",
			to:   outbox.TargetPulled,
			before: func(e *engine, home retwis.TimelineID, second outbox.Entry) {
				deliver(e, second, outbox.TargetPulled, home.Owner)
			},
			arrived: 2,
		},
		{
			name: "a large author, the home is watched again later",
			to:   outbox.TargetPulled,
			before: func(e *engine, home retwis.TimelineID, second outbox.Entry) {
				setOffline(e, home)
				deliver(e, second, outbox.TargetPulled, home.Owner)
			},
			during:  func(e *engine, home retwis.TimelineID, _ outbox.Entry) { setOnline(e, home) },
			arrived: 2,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				options := store.Options{URL: url, HomeCap: 10, Slack: 2}
				if tt.to == outbox.TargetPulled {
					options.PullAbove = 1
				}
				e := newEngine(t, options)
				reader, authors := e.ReaderApart(2)
				home, quick, slow := retwis.Home(reader), authors[0], authors[1]
				if quick.PostBucket() < slow.PostBucket() {
					quick, slow = slow, quick // so that its later posts have greater ids, also within a millisecond
				}
				_, stop := e.Work(fanout.Options{})
				e.Follow(e.Register("other")[0], slow) // enough followers to be large
				e.Drain()
				stop()
				held := e.Outbox.PartitionOfUser(slow)
				release := e.HoldOutbox(slow)
				e.Work(fanout.Options{})
				late := []retwis.PostID{e.Post(slow, "first"), e.Post(slow, "second"), e.Post(slow, "third")}
				for i := range options.HomeCap {
					e.Post(quick, fmt.Sprint(i))
				}
				e.DrainAllBut(held)
				entries, err := e.Outbox.ReadOutbox(t.Context(), held, "0", 10, 0)
				if err != nil || len(entries) != len(late) {
					t.Fatalf("%d entries: %v", len(entries), err)
				}
				setOnline(e, home)
				deliver(e, entries[0], tt.to, reader)
				if err := e.Timelines.Rebuild(t.Context(), home); err != nil { // sets a merge mark
					t.Fatal(err)
				}
				// A purge from a trimmed list leaves it marked as being built.
				client := enginetest.Client(t, url)
				list := enginetest.Keys(t, client, "*:home:"+reader.String())[0]
				if last := client.RPop(t.Context(), list).Val(); last != "0" {
					t.Fatalf("the home ends with %s", last)
				}
				client.RPush(t.Context(), list, "b")

				if tt.before != nil {
					tt.before(e, home, entries[1])
				}
				build, err := e.Timelines.BeginBuild(t.Context(), home)
				if err != nil {
					t.Fatal(err)
				}
				if tt.during != nil {
					tt.during(e, home, entries[1])
				}
				if ended, err := e.Timelines.EndBuild(t.Context(), build); err != nil || ended == tt.repeats {
					t.Errorf("the build ended: %t, %v", ended, err)
				}
				if err := e.Timelines.Rebuild(t.Context(), home); err != nil {
					t.Fatal(err)
				}
				wantNewest := func(when string, want []retwis.PostID) {
					t.Helper()
					if got, want := e.Read(home)[:len(want)], enginetest.Newest(want); !slices.Equal(got, want) {
						t.Errorf("%s, the home begins with %v, want %v", when, got, want)
					}
				}
				wantNewest("after the build", late[:tt.arrived])
				late = append(late, e.Post(slow, "fourth"))
				release()
				e.Drain()
				wantNewest("after all deliveries", late)
			})
		})
	}
}
