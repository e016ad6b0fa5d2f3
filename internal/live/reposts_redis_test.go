package live_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"retwis/internal/fanout"
	"retwis/internal/live"
	"retwis/internal/outbox"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/storetest"
)

// reposted is a database in which a stranger's post was reposted by each of some users, whom the reader follows.
type reposted struct {
	*node
	hub                        *live.Hub
	post                       retwis.PostID
	stranger, reader, reposter retwis.UserID
	watching                   map[string]*watch
	unconcerned                *watch // the home of a user who follows nobody
}

func newReposted(t *testing.T, url string, reposters int) *reposted {
	t.Helper()
	return watchReposts(t, openNode(t, url, store.Options{}), live.Options{}, reposters)
}

func watchReposts(t *testing.T, n *node, options live.Options, reposters int) *reposted {
	t.Helper()
	users := n.people(3 + reposters)
	r := &reposted{node: n, stranger: users[0], reader: users[1], reposter: users[3]}
	list, err := n.Lists.CreateList(t.Context(), users[2], "a list", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Lists.AddListMember(t.Context(), users[2], list.ID, r.reposter); err != nil {
		t.Fatal(err)
	}
	for _, user := range users[3:] {
		if err := n.Follows.Follow(t.Context(), r.reader, user); err != nil {
			t.Fatal(err)
		}
	}
	n.drain()
	r.post = n.post(r.stranger)
	for _, user := range users[3:] {
		storetest.Repost(t, n.Store, user, r.post)
	}
	n.drain()
	r.hub = n.hub(options)
	r.watching = map[string]*watch{}
	for name, id := range map[string]retwis.TimelineID{
		"the home of a follower": retwis.Home(r.reader), "the home of the reposter": retwis.Home(r.reposter),
		"the profile": retwis.Profile(r.reposter), "the profile with replies": retwis.ProfileWithReplies(r.reposter),
		"a list": retwis.ListPosts(list.ID),
	} {
		if _, err := n.Timelines.Page(t.Context(), id, retwis.Page{First: 1}); err != nil {
			t.Fatal(err)
		}
		r.watching[name] = n.subscribe(r.hub, id)
	}
	r.unconcerned = n.subscribe(r.hub, retwis.Home(users[2]))
	return r
}

// receive requires that all timelines with the repost receive the removal of a post or repost.
func (r *reposted) receive(t *testing.T, post retwis.PostID, author retwis.UserID) {
	t.Helper()
	for name, s := range r.watching {
		if e, ok := next(t, s.events).(*retwis.PostRemoved); !ok || e.PostID != post || e.AuthorID != author {
			t.Errorf("%s received %+v, want the removal of %s", name, e, post)
		}
	}
}

// The timelines of others hold the post by its reposts only: they are in partitions that hear nothing of its author.
func TestHub_SendsTheRemovalOfARepostedPost(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		r := newReposted(t, url, 2)
		if err := r.Posts.DeletePost(t.Context(), r.stranger, r.post); err != nil {
			t.Fatal(err)
		}
		r.drain()
		r.receive(t, r.post, r.stranger)
		if waiting := len(r.unconcerned.events.Events); waiting > 0 {
			t.Errorf("the home of a user who follows nobody received %d events", waiting)
		}
	})
}

// silentDeletions is an outbox whose deletions are announced to no watched timelines.
type silentDeletions struct{ fanout.Outbox }

func (s silentDeletions) Deliver(ctx context.Context, deliveries []outbox.Delivery) []outbox.Result {
	for i := range deliveries {
		deliveries[i].Silent = true
	}
	results := s.Outbox.Deliver(ctx, deliveries)
	for i := range results {
		if deliveries[i].Entry.Kind == outbox.KindDelete && deliveries[i].To == outbox.TargetFollowers && results[i].Progress != outbox.Done {
			results[i].Err = fmt.Errorf("the progress of a deletion that is not announced is %q", results[i].Progress)
		}
	}
	return results
}

// A deletion that is not announced reaches the subscribers by the comparison of their timeline with its list.
func TestHub_SendsRemovalsThatAreNotAnnounced(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNodeWith(t, url, store.Options{}, func(of *store.Store) fanout.Outbox { return silentDeletions{of.Outbox} })
		r := watchReposts(t, n, live.Options{CheckEvery: 100 * time.Millisecond}, 2)
		if err := r.Posts.DeletePost(t.Context(), r.stranger, r.post); err != nil {
			t.Fatal(err)
		}
		r.receive(t, r.post, r.stranger)
	})
}

// Beyond a number of reposts, the removal is announced to all watched timelines of all partitions.
func TestHub_SendsTheRemovalOfAPostWithManyReposts(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		r := newReposted(t, url, 101)
		// The registration of the process for changed counts is not a timeline.
		if _, err := r.hub.SubscribeAs(t.Context(), retwis.Subscriber{User: r.reader, Counts: true}, retwis.Home(r.reader), ""); err != nil {
			t.Fatal(err)
		}
		await(t, func() bool {
			registered := true
			for _, p := range r.DB().Partitions() {
				is, err := r.DB().Client.SIsMember(t.Context(), p.Online(), retwis.PostCounts(p.Number).String()).Result()
				registered = registered && is && err == nil
			}
			return registered
		})
		if err := r.Posts.DeletePost(t.Context(), r.stranger, r.post); err != nil {
			t.Fatal(err)
		}
		r.drain()
		r.watching["the home of a user who follows nobody"] = r.unconcerned
		r.receive(t, r.post, r.stranger)
	})
}

func TestHub_SendsTheRemovalOfAnUndoneRepost(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		r := newReposted(t, url, 1)
		repost := storetest.Repost(t, r.Store, r.reposter, r.post) // the one that exists
		if err := r.Posts.UndoRepost(t.Context(), r.reposter, r.post); err != nil {
			t.Fatal(err)
		}
		r.drain()
		r.receive(t, repost.ID, r.reposter)
	})
}

// A repost of a post that was shown just below makes no event, live or replayed, unless the other repost was undone.
func TestHub_SendsNoRepeats(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNode(t, url, store.Options{})
		users := n.people(6)
		stranger, reader, reposters := users[0], users[1], users[2:]
		for _, user := range reposters {
			if err := n.Follows.Follow(t.Context(), reader, user); err != nil {
				t.Fatal(err)
			}
		}
		n.drain()
		n.post(reposters[0])
		n.drain()
		hub, home := n.hub(live.Options{}), retwis.Home(reader)
		if _, err := n.Timelines.Page(t.Context(), home, retwis.Page{First: 1}); err != nil {
			t.Fatal(err)
		}
		watching := n.subscribe(hub, home)
		expect := func(events live.Subscription, post retwis.PostID) {
			t.Helper()
			for {
				e := next(t, events)
				if _, ok := e.(*retwis.PostRemoved); ok {
					continue // of a repost that was undone
				}
				if added, ok := e.(*retwis.PostAdded); !ok || added.Edge.Post.ID != post {
					t.Fatalf("received %+v, want the post %s", e, post)
				}
				return
			}
		}
		post := n.post(stranger)
		n.drain()
		for _, user := range reposters[:3] {
			storetest.Repost(t, n.Store, user, post)
			n.drain()
		}
		expect(watching.events, post)
		mark := n.post(reposters[0])
		n.drain()
		expect(watching.events, mark) // after two reposts without an event
		replayed, err := hub.Subscribe(t.Context(), home, watching.cursor)
		if err != nil {
			t.Fatal(err)
		}
		expect(replayed, post)
		expect(replayed, mark)

		for _, user := range reposters[:3] {
			if err := n.Posts.UndoRepost(t.Context(), user, post); err != nil {
				t.Fatal(err)
			}
		}
		n.drain()
		storetest.Repost(t, n.Store, reposters[3], post)
		n.drain()
		expect(watching.events, post)
		if replayed, err = hub.Subscribe(t.Context(), home, watching.cursor); err != nil {
			t.Fatal(err)
		}
		expect(replayed, mark)
		expect(replayed, post)

		// A repost that was undone is not sent either, although its removal has not been delivered yet.
		storetest.Repost(t, n.Store, reposters[0], post)
		last := n.post(reposters[0])
		n.drain()
		for e := next(t, watching.events); ; e = next(t, watching.events) {
			if added, ok := e.(*retwis.PostAdded); ok && added.Edge.Post.ID == last {
				break
			}
		}
		if err := n.Posts.UndoRepost(t.Context(), reposters[0], post); err != nil {
			t.Fatal(err)
		}
		if replayed, err = hub.Subscribe(t.Context(), home, watching.cursor); err != nil {
			t.Fatal(err)
		}
		expect(replayed, mark)
		expect(replayed, post)
		expect(replayed, last)
	})
}

// The home of a reader who has hidden the reposts of a user receives none, and is reset when that changes.
func TestHub_SendsNoHiddenReposts(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNode(t, url, store.Options{})
		users := n.people(3)
		stranger, reader, reposter := users[0], users[1], users[2]
		show := func(reposts bool) {
			t.Helper()
			if err := n.Follows.FollowShowing(t.Context(), reader, reposter, reposts); err != nil {
				t.Fatal(err)
			}
			n.drain()
		}
		show(false)
		home := retwis.Home(reader)
		if _, err := n.Timelines.Page(t.Context(), home, retwis.Page{First: 1}); err != nil {
			t.Fatal(err)
		}
		events, err := n.hub(live.Options{}).SubscribeAs(t.Context(), retwis.Subscriber{User: reader, FilterEpoch: 1}, home, "")
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := next(t, events).(*retwis.CaughtUp); !ok {
			t.Fatalf("the first event is %+v", e)
		}
		expect := func(post retwis.PostID) {
			t.Helper()
			if added, ok := next(t, events).(*retwis.PostAdded); !ok || added.Edge.Post.ID != post {
				t.Fatalf("received %+v, want the post %s", added, post)
			}
		}
		post, other := n.post(stranger), n.post(stranger)
		storetest.Repost(t, n.Store, reposter, post)
		own := n.post(reposter)
		n.drain()
		expect(own)
		show(true)
		if reset, ok := next(t, events).(*retwis.Reset); !ok || reset.Reason != retwis.HistoryChanged {
			t.Fatalf("received %+v, want a reset", reset)
		}
		storetest.Repost(t, n.Store, reposter, other)
		n.drain()
		expect(other)
	})
}

// The delivery of a repost may lag behind its undoing, whose removal the reader may already have received.
func TestHub_SendsNoRepostThatWasUndoneBeforeItsDelivery(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		n := openNode(t, url, store.Options{})
		users := n.people(3)
		stranger, reader, reposter := users[0], users[1], users[2]
		if err := n.Follows.Follow(t.Context(), reader, reposter); err != nil {
			t.Fatal(err)
		}
		n.drain()
		home := retwis.Home(reader)
		if _, err := n.Timelines.Page(t.Context(), home, retwis.Page{First: 1}); err != nil {
			t.Fatal(err)
		}
		s := n.subscribe(n.hub(live.Options{}), home)
		storetest.Repost(t, n.Store, reposter, n.post(stranger))
		undone := n.post(stranger)
		storetest.Repost(t, n.Store, reposter, undone)
		if err := n.Posts.UndoRepost(t.Context(), reposter, undone); err != nil {
			t.Fatal(err)
		}
		last := n.post(reposter)
		n.drain()
		for {
			added, ok := next(t, s.events).(*retwis.PostAdded)
			if ok && added.Edge.Post.ID == undone {
				t.Fatal("received the repost that was undone")
			}
			if ok && added.Edge.Post.ID == last {
				break
			}
		}
	})
}
