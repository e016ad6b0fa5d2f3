package fanout_test

import (
	"slices"
	"testing"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// A worker that dies between the two steps of a purge leaves a home that its next reader
// rebuilds. A merge into the home before that must not make it appear complete.
func TestBackfill_KeepsAHomeMarkedForRebuild(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
		e.Work(fanout.Options{})
		people := e.Register("reader", "early", "late")
		reader, early, late := people[0], people[1], people[2]
		e.Follow(reader, early)
		var made []retwis.PostID
		for range 10 {
			made = append(made, e.Post(early, "x"), e.Post(late, "x"))
		}
		e.Drain()

		client := enginetest.Client(t, url)
		home := enginetest.Keys(t, client, "*:home:"+reader.String())[0]
		if err := client.LTrim(t.Context(), home, 0, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if err := client.RPush(t.Context(), home, "b").Err(); err != nil {
			t.Fatal(err)
		}
		e.Follow(reader, late)
		e.Drain()
		if got, want := e.Read(retwis.Home(reader)), enginetest.Newest(made); !slices.Equal(got, want) {
			t.Errorf("home: missing %v, extra %v", enginetest.Surplus(want, got), enginetest.Surplus(got, want))
		}
	})
}

// A home that its next reader has to build receives more posts than it keeps. It must stay
// marked, because back-fills left their posts to that build.
func TestPush_KeepsAHomeMarkedForBuilding(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
		e.Work(fanout.Options{})
		people := e.Register("reader", "early", "late")
		reader, early, late := people[0], people[1], people[2]
		e.Follow(reader, early)
		var made []retwis.PostID
		for range 10 {
			made = append(made, e.Post(early, "x"), e.Post(late, "x"))
		}
		e.Drain()

		client := enginetest.Client(t, url)
		home := enginetest.Keys(t, client, "*:home:"+reader.String())[0]
		if err := client.LSet(t.Context(), home, -1, "b").Err(); err != nil {
			t.Fatal(err)
		}
		e.Follow(reader, late)
		e.Drain()
		for range 3 {
			made = append(made, e.Post(early, "x"))
			e.Drain()
		}
		if got, want := e.Read(retwis.Home(reader)), enginetest.Newest(made); !slices.Equal(got, want) {
			t.Errorf("home: %v, want %v", got, want)
		}
	})
}

func TestBackfill_BeforeFanOutDeliversOnce(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		authors, readers := e.Crowd("author", 20), e.Crowd("reader", 20)
		want := make([][]retwis.PostID, len(authors))
		for i := range authors {
			want[i] = []retwis.PostID{e.Post(authors[i], "second"), e.Post(authors[i], "first")}
			e.Follow(readers[i], authors[i])
			if err := e.Tasks.Backfill(t.Context(), retwis.Home(readers[i]), authors[i], 0); err != nil {
				t.Fatal(err)
			}
		}
		e.Work(fanout.Options{})
		e.Drain()
		for i, reader := range readers {
			if got := e.Read(retwis.Home(reader)); !slices.Equal(got, enginetest.Newest(want[i])) {
				t.Errorf("home of %s: %v, want %v", reader, got, enginetest.Newest(want[i]))
			}
		}
	})
}
