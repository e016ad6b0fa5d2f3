package fanout_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func TestWorker_DeliversPostsToFollowers(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		people := e.Register("ann", "bob", "cid")
		ann, bob, cid := people[0], people[1], people[2]
		early := e.Post(ann, "before anybody followed")
		e.Follow(bob, ann)
		e.Drain()
		late := e.Post(ann, "after bob followed")
		e.Drain()
		own := e.Post(bob, "bob's own")
		e.Drain()

		check := func(what string, id retwis.TimelineID, want ...retwis.PostID) {
			t.Helper()
			if diff := cmp.Diff(want, e.Read(id)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		check("bob's home", retwis.Home(bob), own, late, early)
		check("ann's home", retwis.Home(ann), late, early)
		check("cid's home", retwis.Home(cid))
		check("ann's profile", retwis.Profile(ann), late, early)
		if got := e.Read(retwis.Public()); !slices.Equal(enginetest.Newest(got), enginetest.Newest([]retwis.PostID{own, late, early})) {
			t.Errorf("public timeline: %v", got)
		}

		if err := e.Posts.DeletePost(t.Context(), ann, late); err != nil {
			t.Fatal(err)
		}
		check("bob's home after ann deleted a post", retwis.Home(bob), own, early)
		check("ann's profile after she deleted a post", retwis.Profile(ann), early)

		e.Unfollow(bob, ann)
		e.Drain()
		check("bob's home after he unfollowed ann", retwis.Home(bob), own)

		users, err := e.Accounts.Users(t.Context(), people)
		if err != nil {
			t.Fatal(err)
		}
		if ann := users[0]; ann.PostCount != 1 || ann.FollowerCount != 0 {
			t.Errorf("ann has %d posts and %d followers, want 1 and 0", ann.PostCount, ann.FollowerCount)
		}
		if bob := users[1]; bob.FollowingCount != 0 {
			t.Errorf("bob follows %d users, want none", bob.FollowingCount)
		}
	})
}
