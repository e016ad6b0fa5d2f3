package store_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"retwis/internal/fanout"
	"retwis/internal/pubsub"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/storetest"
)

// TestCompare_HidesNoEvent compares timelines of every kind after random actions, and reads what followed: one that is called the same has no events.
func TestCompare_HidesNoEvent(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Partitions: 1})
		e.Work(fanout.Options{})
		people := e.Crowd("user", 4)
		reader, followed, listed, stranger := people[0], people[1], people[2], people[3]
		e.Follow(reader, followed)
		list := e.CreateList(reader, listed)
		tags, err := e.Tags.ClaimTags(t.Context(), retwis.IndexedTags("#tag"))
		if err != nil {
			t.Fatal(err)
		}
		timelines := []retwis.TimelineID{
			retwis.Home(reader), retwis.ListPosts(list), retwis.Profile(followed), retwis.ProfileWithReplies(followed), retwis.Mentions(reader),
			retwis.TagPosts(tags[0]), retwis.Public(),
		}
		posts := map[retwis.UserID][]retwis.PostID{}
		r := rand.New(rand.NewPCG(1, 2))
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		actions := []func(author retwis.UserID){
			func(retwis.UserID) {},
			func(author retwis.UserID) { posts[author] = append(posts[author], e.Post(author, "a post")) },
			func(author retwis.UserID) { posts[author] = append(posts[author], e.Post(author, "#tag")) },
			func(author retwis.UserID) { posts[author] = append(posts[author], e.Post(author, "@user0")) },
			func(author retwis.UserID) {
				if own := posts[author]; len(own) > 0 {
					i := r.IntN(len(own))
					must(e.Posts.DeletePost(t.Context(), author, own[i]))
					posts[author] = slices.Delete(own, i, i+1)
				}
			},
			func(author retwis.UserID) {
				if own := posts[author]; len(own) > 0 {
					storetest.Repost(t, e.Store, people[r.IntN(len(people))], own[r.IntN(len(own))])
				}
			},
			func(author retwis.UserID) { e.Follow(reader, listed) },
			func(author retwis.UserID) { e.Unfollow(reader, listed) },
			func(retwis.UserID) {
				for _, id := range timelines[:2] {
					e.Read(id)
				}
			},
		}
		unchanged, changed := map[retwis.TimelineID]int{}, map[retwis.TimelineID]int{}
		watched := make([]pubsub.Watched, len(timelines))
		for step := range 150 {
			for i, id := range timelines {
				if step == 0 || r.IntN(3) > 0 {
					at, marker, err := e.Live.CurrentPosition(t.Context(), id)
					must(err)
					watched[i] = pubsub.Watched{At: at, Marker: marker}
				}
			}
			actions[r.IntN(len(actions))]([]retwis.UserID{followed, listed, stranger, reader}[r.IntN(4)])
			e.Drain()
			compared, err := e.Live.Compare(t.Context(), watched)
			must(err)
			for i, verdict := range compared.Verdicts {
				id, same := timelines[i], verdict == pubsub.Same
				events, err := e.Live.EventsSince(t.Context(), watched[i].At)
				must(err)
				quiet := events.Found && !events.Gone && len(events.Arrived)+len(events.Removed) == 0 && events.Marker == watched[i].Marker &&
					events.Position.Epoch == watched[i].At.Epoch
				if same && (!quiet || compared.Change != events.Position.Change) {
					t.Errorf("step %d: timeline %s is called the same as %+v: %+v", step, id, watched[i].At, events)
				}
				if same {
					unchanged[id]++
				} else {
					changed[id]++
				}
			}
		}
		for _, id := range timelines {
			if unchanged[id] < 10 || changed[id] < 10 {
				t.Errorf("timeline %s was unchanged %d times, and changed %d times", id, unchanged[id], changed[id])
			}
		}
	})
}

func TestCompare_IsBounded(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{URL: redistest.Server(t).URL(), Partitions: 1})
	users := storetest.RegisterN(t, s, "user", 10)
	p := s.DB().Partition(0)
	changes := func(n int) {
		t.Helper()
		for i := range n {
			id, err := s.DB().Client.XAdd(t.Context(), &redis.XAddArgs{
				Stream: p.Changes(), Values: []any{"removed", strconv.Itoa(1_790_000_000_000_000_000 + i), "author", "7"},
			}).Result()
			if err == nil {
				err = s.DB().Client.Set(t.Context(), p.LastChange(), id, 0).Err()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	changes(1)
	watched := make([]pubsub.Watched, len(users))
	for i, user := range users {
		at, _, err := s.Live.CurrentPosition(t.Context(), retwis.Mentions(user))
		if err != nil {
			t.Fatal(err)
		}
		watched[i].At = at
		var posts []any
		for n := range 900 {
			posts = append(posts, strconv.Itoa(1_780_000_000_000_000_000+n))
		}
		if err := s.DB().Client.RPush(t.Context(), p.Timeline(at.Timeline).Entries(), posts...).Err(); err != nil {
			t.Fatal(err)
		}
		watched[i].At.Element = retwis.Plain(1_780_000_000_000_000_000)
	}
	verdicts := func(want pubsub.Verdict, most int) {
		t.Helper()
		compared, err := s.Live.Compare(t.Context(), watched)
		if err != nil || len(compared.Verdicts) == 0 || len(compared.Verdicts) > most {
			t.Fatalf("%d verdicts, %v, want 1 to %d", len(compared.Verdicts), err, most)
		}
		for i, verdict := range compared.Verdicts {
			if verdict != want {
				t.Errorf("timeline %d: verdict %s, want %s", i, verdict, want)
			}
		}
	}
	verdicts(pubsub.Same, len(users)) // without changes, no list is read
	changes(998)
	verdicts(pubsub.Same, 3) // each list has 900 rows
	changes(2)
	verdicts(pubsub.Behind, len(users))
}
