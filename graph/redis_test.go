package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"retwis/internal/fanout"
	"retwis/internal/live"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// real is the API on a real Redis, with a worker and a hub. Accounts come from the store.
type real struct {
	*api
	t     *testing.T
	store *store.Store
}

func newReal(t *testing.T, url string) *real {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	hub := live.NewHub(db.Live, slog.New(slog.DiscardHandler), live.Options{Node: fmt.Sprint("node", rand.Uint64())})
	for _, run := range []func(context.Context) error{fanout.New(db.Outbox, db.Tasks, fanout.Options{}).Run, hub.Run} {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); _ = run(ctx) }()
		t.Cleanup(func() { cancel(); <-done })
	}
	a := &real{newAPI(Options{}), t, db}
	a.serve(&Resolver{Accounts: a.fakeBackend, Users: db.Accounts, Posts: db.Posts, Reposts: db.Posts, Likes: db.Likes, Follows: db.Follows, Lists: db.Lists, Tags: db.Tags, Timelines: db.Timelines, Live: hub, Limits: unlimited{}}, Options{})
	a.eventually(func() bool { return hub.Ready(100) == nil })
	return a
}

func (a *real) eventually(holds func() bool) {
	a.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	a.t.Fatal("timed out")
}

func (a *real) register(names ...string) []*retwis.User {
	a.t.Helper()
	users := make([]*retwis.User, len(names))
	for i, name := range names {
		var err error
		if users[i], err = a.store.Accounts.Register(a.t.Context(), retwis.Registration{Username: name, DisplayName: name, PasswordHash: "x"}); err != nil {
			a.t.Fatal(err)
		}
	}
	return users
}

func (a *real) follow(reader, author *retwis.User) {
	a.t.Helper()
	if err := a.store.Follows.Follow(a.t.Context(), reader.ID, author.ID); err != nil {
		a.t.Fatal(err)
	}
}

// post posts a text and waits until it is on the public timeline.
func (a *real) post(author *retwis.User, text string) *retwis.Post {
	a.t.Helper()
	edge, err := a.store.Posts.CreatePost(a.t.Context(), retwis.NewPost{Author: author.ID, Text: text, IdempotencyKey: text})
	if err != nil {
		a.t.Fatal(err)
	}
	a.drain()
	return edge.Post
}

func (a *real) remove(post *retwis.Post) {
	a.t.Helper()
	if err := a.store.Posts.DeletePost(a.t.Context(), post.AuthorID, post.ID); err != nil {
		a.t.Fatal(err)
	}
	a.drain()
}

func (a *real) drain() {
	a.t.Helper()
	a.eventually(func() bool {
		waiting, err := a.store.Outbox.OutboxLength(a.t.Context())
		return err == nil && waiting == 0
	})
}

// watch subscribes to the public timeline. The first function waits for the next event, which
// must equal the given one except for its cursor, and returns the cursor. The second function
// ends the subscription.
func (a *real) watch(after retwis.Cursor, filter string) (next func(want string) retwis.Cursor, stop func()) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), 5*time.Minute)
	responses, ctx := a.start(ctx, `subscription($id: ID, $after: Cursor, $filter: TimelineFilter) {
		e: timelineEvents(timelineId: $id, after: $after, filter: $filter) { __typename cursor
			... on PostAdded { edge { node { text author { username } } } }
			... on PostRemoved { postId }
			... on TimelineCaughtUp { replayed }
			... on TimelineReset { reason } } }`,
		fmt.Sprintf(`{"id": %q, "after": %s, "filter": %s}`, globalTimelineID(retwis.Public()), encode(a.t, orNull(after)), filter))
	next = func(want string) retwis.Cursor {
		a.t.Helper()
		response := responses(ctx)
		if response == nil || len(response.Errors) > 0 {
			a.t.Fatalf("got %+v, want %s", response, want)
		}
		event := decode(a.t, string(response.Data)).(map[string]any)["e"].(map[string]any)
		cursor, _ := event["cursor"].(string)
		delete(event, "cursor")
		wantJSON(a.t, encode(a.t, event), want)
		return retwis.Cursor(cursor)
	}
	return next, func() {
		cancel()
		for responses(ctx) != nil {
			continue
		}
	}
}

func orNull(cursor retwis.Cursor) *retwis.Cursor {
	if cursor == "" {
		return nil
	}
	return &cursor
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func added(author *retwis.User, post *retwis.Post) string {
	return fmt.Sprintf(`{"__typename": "PostAdded", "edge": {"node": {"text": %q, "author": {"username": %q}}}}`, post.Text, author.Username)
}

func removed(post *retwis.Post) string {
	return fmt.Sprintf(`{"__typename": "PostRemoved", "postId": %q}`, globalPostID(post.ID))
}

func caughtUp(replayed int) string {
	return fmt.Sprintf(`{"__typename": "TimelineCaughtUp", "replayed": %d}`, replayed)
}

func TestTimelineEvents_FilterThePublicTimeline(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		a := newReal(t, url)
		people := a.register("alice", "bob")
		alice, bob := people[0], people[1]
		oldAlice, oldBob := a.post(alice, "a go from before"), a.post(bob, "another go from before")

		filter := fmt.Sprintf(`{"track": ["go", "rust fast"], "authors": [%q]}`, globalUserID(alice.ID))
		next, stop := a.watch("", filter)
		place := next(caughtUp(0))
		a.post(alice, "java")
		yes := a.post(alice, "Fast, faster, Rust")
		no, other := a.post(alice, "gopher"), a.post(bob, "go")
		next(added(alice, yes))
		for _, post := range []*retwis.Post{no, other, oldBob, yes, oldAlice} {
			a.remove(post)
		}
		next(removed(yes))
		next(removed(oldAlice))
		last := a.post(alice, "go on")
		next(added(alice, last))
		stop()

		// The events since then are filtered too, by words where the text still exists.
		next, stop = a.watch(place, filter)
		next(added(alice, last))
		for _, post := range []*retwis.Post{no, yes, oldAlice} {
			next(removed(post))
		}
		next(caughtUp(4))
		later := a.post(alice, "go further")
		next(added(alice, later))
		stop()

		next, stop = a.watch(place, fmt.Sprintf(`{"authors": [%q]}`, globalUserID(bob.ID)))
		for _, post := range []*retwis.Post{other, oldBob} {
			next(removed(post))
		}
		next(caughtUp(2))
		theirs := a.post(bob, "bob again")
		next(added(bob, theirs))
		stop()

		half, err := retwis.NewFilter(retwis.TimelineFilter{Sample: new(0.5)})
		if err != nil {
			t.Fatal(err)
		}
		next, stop = a.watch("", `{"sample": 0.5}`)
		place = next(caughtUp(0))
		var sampled []string
		for i := range 30 {
			post := a.post(alice, fmt.Sprint("post ", i))
			if half.MayPass(post.ID, alice.ID) {
				sampled = append(sampled, added(alice, post))
				next(added(alice, post))
			}
		}
		stop()
		next, stop = a.watch(place, `{"sample": 0.5}`)
		for _, want := range sampled {
			next(want)
		}
		next(caughtUp(len(sampled)))
		stop()
	})
}

func TestUserSets_OnRedis(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		a := newReal(t, url)
		people := a.register("Anna", "annabel", "bob", "carol", "dave")
		anna, annabel, bob, carol, dave := people[0], people[1], people[2], people[3], people[4]
		a.follow(carol, anna)
		a.follow(dave, anna)
		a.follow(dave, annabel)
		a.follow(carol, annabel)
		a.follow(bob, annabel)
		a.follow(bob, dave)
		wantData(t, a.run(as(t, bob), `query($with: ID!) {
			user(username: "anna") {
				commonFollowers(with: $with, first: 1) { totalCount edges { node { username } } pageInfo { hasNextPage } }
				followersYouKnow { totalCount edges { node { username } } }
			}
			searchUsers(prefix: "AN") { totalCount edges { node { username } } }
			newestUsers(first: 100) { totalCount }
		}`, fmt.Sprintf(`{"with": %q}`, globalUserID(annabel.ID))), `{
			"user": {
				"commonFollowers": {"totalCount": 2, "edges": [{"node": {"username": "dave"}}], "pageInfo": {"hasNextPage": true}},
				"followersYouKnow": {"totalCount": 1, "edges": [{"node": {"username": "dave"}}]}
			},
			"searchUsers": {"totalCount": 2, "edges": [{"node": {"username": "Anna"}}, {"node": {"username": "annabel"}}]},
			"newestUsers": {"totalCount": 5}
		}`)
	})
}
