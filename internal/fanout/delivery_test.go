package fanout_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func TestWorker_DeliversPostsToFollowers(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.work(fanout.Options{})
		people := e.register("ann", "bob", "cid")
		ann, bob, cid := people[0], people[1], people[2]
		early := e.post(ann, "before anybody followed")
		e.follow(bob, ann)
		e.drain()
		late := e.post(ann, "after bob followed")
		e.drain()
		own := e.post(bob, "bob's own")
		e.drain()

		check := func(what string, id retwis.TimelineID, want ...retwis.PostID) {
			t.Helper()
			if diff := cmp.Diff(want, e.read(id)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		check("bob's home", retwis.Home(bob), own, late, early)
		check("ann's home", retwis.Home(ann), late, early)
		check("cid's home", retwis.Home(cid))
		check("ann's profile", retwis.Profile(ann), late, early)
		if got := e.read(retwis.Public()); !slices.Equal(newest(got), newest([]retwis.PostID{own, late, early})) {
			t.Errorf("public timeline: %v", got)
		}

		if err := e.Posts.DeletePost(t.Context(), ann, late); err != nil {
			t.Fatal(err)
		}
		check("bob's home after ann deleted a post", retwis.Home(bob), own, early)
		check("ann's profile after she deleted a post", retwis.Profile(ann), early)

		e.unfollow(bob, ann)
		e.drain()
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
