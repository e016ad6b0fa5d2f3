package fanout_test

import (
	"slices"
	"testing"

	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// A worker that dies between the two steps of a purge leaves a home that is to be built by
// its next reader. What is merged into it until then must not make it seem whole.
func TestBackfillOfAHomeThatIsToBeBuiltLeavesNoHole(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
		e.work(fanout.Options{})
		people := e.register("reader", "early", "late")
		reader, early, late := people[0], people[1], people[2]
		e.follow(reader, early)
		var made []retwis.PostID
		for range 10 {
			made = append(made, e.post(early, "x"), e.post(late, "x"))
		}
		e.drain()

		client := raw(t, url)
		home := keys(t, client, "*:home:"+reader.String())[0]
		if err := client.LTrim(t.Context(), home, 0, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if err := client.RPush(t.Context(), home, "b").Err(); err != nil {
			t.Fatal(err)
		}
		e.follow(reader, late)
		e.drain()
		if got, want := e.read(retwis.Home(reader)), newest(made); !slices.Equal(got, want) {
			t.Errorf("home: missing %v, extra %v", surplus(want, got), surplus(got, want))
		}
	})
}

// A home that waits for its next reader to build it gets posts meanwhile: more than it
// keeps. It is still to be built then, since back-fills have left their posts to the building.
func TestPush_KeepsAHomeMarkedForBuilding(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
		e.work(fanout.Options{})
		people := e.register("reader", "early", "late")
		reader, early, late := people[0], people[1], people[2]
		e.follow(reader, early)
		var made []retwis.PostID
		for range 10 {
			made = append(made, e.post(early, "x"), e.post(late, "x"))
		}
		e.drain()

		client := raw(t, url)
		home := keys(t, client, "*:home:"+reader.String())[0]
		if err := client.RPush(t.Context(), home, "b").Err(); err != nil {
			t.Fatal(err)
		}
		e.follow(reader, late)
		e.drain()
		for range 3 {
			made = append(made, e.post(early, "x"))
			e.drain()
		}
		if got, want := e.read(retwis.Home(reader)), newest(made); !slices.Equal(got, want) {
			t.Errorf("home: %v, want %v", got, want)
		}
	})
}

// A worker that dies between the two steps of a purge may have left the home to be built.
func TestPurge_EndsWhatAnEarlierTryBegan(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 10, Slack: 2})
		_, stop := e.work(fanout.Options{})
		people := e.register("reader", "stays", "goes")
		reader, stays, goes := people[0], people[1], people[2]
		e.follow(reader, stays)
		for range 10 {
			e.post(stays, "x")
		}
		e.drain()
		stop()

		client := raw(t, url)
		home := keys(t, client, "*:home:"+reader.String())[0]
		if err := client.LSet(t.Context(), home, -1, "b").Err(); err != nil {
			t.Fatal(err)
		}
		if err := e.Tasks.Purge(t.Context(), retwis.Home(reader), goes); err != nil {
			t.Fatal(err)
		}
		if last := client.LIndex(t.Context(), home, -1).Val(); last != "0" {
			t.Errorf("the home ends with %s after the purge, want 0", last)
		}
	})
}

// A home may hold posts that their author's profile has no room for any more.
func TestAnUnfollowTakesOldPostsOffTheHome(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 100, ProfileCap: 10, Slack: 2})
		e.work(fanout.Options{})
		people := e.register("reader", "stays", "goes")
		reader, stays, goes := people[0], people[1], people[2]
		e.follow(reader, stays)
		e.follow(reader, goes)
		e.drain()
		for range 30 {
			e.post(goes, "x")
		}
		kept := e.post(stays, "x")
		e.drain()
		if got := e.read(retwis.Home(reader)); len(got) != 31 {
			t.Fatalf("the home has %d posts, want 31", len(got))
		}
		e.unfollow(reader, goes)
		e.drain()
		if got := e.read(retwis.Home(reader)); !slices.Equal(got, []retwis.PostID{kept}) {
			t.Errorf("the home has %v, want %v", got, []retwis.PostID{kept})
		}
	})
}
