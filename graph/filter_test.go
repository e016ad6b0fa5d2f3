package graph

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

const filteredQuery = `subscription($id: ID, $filter: TimelineFilter) { e: timelineEvents(timelineId: $id, filter: $filter) {
	__typename cursor ... on PostAdded { edge { node { text } } } ... on PostRemoved { postId } ... on TimelineCaughtUp { replayed }
} }`

func publicFilter(filter string) string {
	return fmt.Sprintf(`{"id": %q, "filter": %s}`, globalTimelineID(retwis.Public()), filter)
}

func TestFilter_AppliesToEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(Options{})
		alice, bob := a.addUser("alice"), a.addUser("bob")
		added := func(author *retwis.User, text string) *retwis.PostAdded {
			return &retwis.PostAdded{Edge: edge(retwis.Public(), a.addPost(author, text))}
		}
		removed := func(of *retwis.PostAdded, cursor retwis.Cursor) *retwis.PostRemoved {
			return &retwis.PostRemoved{Cursor: cursor, PostID: of.Edge.Post.ID, AuthorID: of.Edge.Post.AuthorID}
		}
		old, older := added(alice, "go is old"), added(bob, "go is older")
		yes, no, other := added(alice, "Go is fun!"), added(alice, "gophers"), added(bob, "go")
		also := added(alice, "all of us RAN home")
		events := []retwis.Event{
			yes, no, other,
			removed(yes, "r1"), removed(no, "r2"), removed(other, "r3"),
			&retwis.CaughtUp{Cursor: "c", Replayed: 6},
			also, no, other,
			removed(no, "r4"), removed(also, "r5"), removed(other, "r6"), removed(old, "r7"), removed(older, "r8"),
			&retwis.Reset{Cursor: "c", Reason: retwis.CursorTooOld},
		}
		post := func(e *retwis.PostAdded) string {
			return fmt.Sprintf(`{"__typename": "PostAdded", "cursor": %q, "edge": {"node": {"text": %q}}}`, e.Edge.Cursor, e.Edge.Post.Text)
		}
		gone := func(e *retwis.PostAdded, cursor string) string {
			return fmt.Sprintf(`{"__typename": "PostRemoved", "cursor": %q, "postId": %q}`, cursor, globalPostID(e.Edge.Post.ID))
		}
		want := []string{
			post(yes), gone(yes, "r1"), `{"__typename": "TimelineCaughtUp", "cursor": "c", "replayed": 2}`,
			post(also), gone(also, "r5"), gone(old, "r7"), `{"__typename": "TimelineReset", "cursor": "c"}`,
		}

		ctx, cancel := context.WithCancel(as(t, bob))
		responses, ctx := a.start(ctx, filteredQuery, publicFilter(fmt.Sprintf(
			`{"track": ["go", "home ran"], "authors": [%q], "sample": 1}`, globalUserID(alice.ID))))
		for _, e := range events {
			a.live[retwis.Public()].Take(e)
		}
		for _, want := range want {
			wantData(t, responses(ctx), `{"e": `+want+`}`)
		}
		cancel()
		a.live[retwis.Public()].End(nil)
		if response := responses(ctx); response != nil {
			t.Errorf("got %s %v after the end", response.Data, response.Errors)
		}
	})
}

func TestFilter_RefusesBadInput(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	many := `["` + strings.Repeat(`go", "`, retwis.MaxTrackEntries) + `go"]`
	for name, variables := range map[string]string{
		"the viewer's home":   `{"filter": {}}`,
		"a home":              fmt.Sprintf(`{"id": %q, "filter": {"sample": 1}}`, globalTimelineID(retwis.Home(alice.ID))),
		"a profile":           fmt.Sprintf(`{"id": %q, "filter": {"sample": 1}}`, globalTimelineID(retwis.Profile(alice.ID))),
		"no words":            publicFilter(`{"track": []}`),
		"no word in an entry": publicFilter(`{"track": ["go", "!"]}`),
		"many entries":        publicFilter(`{"track": ` + many + `}`),
		"no authors":          publicFilter(`{"authors": []}`),
		"an author's name":    publicFilter(`{"authors": ["alice"]}`),
		"a post as an author": publicFilter(fmt.Sprintf(`{"authors": [%q]}`, globalPostID(7))),
		"a sample of none":    publicFilter(`{"sample": 0}`),
		"a sample above all":  publicFilter(`{"sample": 2}`),
	} {
		t.Run(name, func(t *testing.T) {
			responses, ctx := a.start(as(t, alice), filteredQuery, variables)
			wantError(t, responses(ctx), "BAD_USER_INPUT")
			if response := responses(ctx); response != nil {
				t.Errorf("got %s %v after the error", response.Data, response.Errors)
			}
		})
	}
	for _, sample := range []string{"1e999", "-1", `"all"`} {
		responses, ctx := a.start(as(t, alice), fmt.Sprintf(`subscription { timelineEvents(timelineId: %q, filter: {sample: %s}) { cursor } }`,
			globalTimelineID(retwis.Public()), sample), "")
		response := responses(ctx)
		if code := response.Errors[0].Extensions["code"]; code != "BAD_USER_INPUT" && code != "GRAPHQL_VALIDATION_FAILED" {
			t.Errorf("a sample of %s: %v, %v", sample, code, response.Errors)
		}
	}
	if got := a.called("Attach"); len(got) > 0 {
		t.Errorf("made the calls %q", got)
	}
}

// log is a sink that records its calls, with the events that pass its filter.
type log struct {
	calls  []string
	filter func(retwis.Event) retwis.Event
}

func (l *log) FilterBy(apply func(retwis.Event) retwis.Event) { l.filter = apply }

func (l *log) Take(e retwis.Event) bool {
	if e = l.filter(e); e != nil {
		l.calls = append(l.calls, "live "+spell(e))
	}
	return true
}

func (*log) Room() <-chan struct{} { return nil }

func (l *log) Replay(_ context.Context, e retwis.Event) {
	if e = l.filter(e); e != nil {
		l.calls = append(l.calls, "replayed "+spell(e))
	}
}

func (l *log) End(reason error) { l.calls = append(l.calls, fmt.Sprint("end ", reason)) }

func spell(e retwis.Event) string {
	switch e := e.(type) {
	case *retwis.PostAdded:
		return "+" + e.Edge.Post.ID.String()
	case *retwis.PostRemoved:
		return "-" + e.PostID.String()
	case *retwis.CaughtUp:
		return fmt.Sprint("caught up ", e.Replayed, " ", e.Cursor)
	case *retwis.Advanced:
		return fmt.Sprint("advanced ", e.Cursor)
	default:
		return fmt.Sprintf("%T", e)
	}
}

// attachFiltered returns a function that starts a subscription filtered by the word go, and
// returns the sink of the source.
func attachFiltered(t *testing.T, filter retwis.TimelineFilter) func(l *log) retwis.Sink {
	t.Helper()
	f, err := retwis.NewFilter(filter)
	if err != nil {
		t.Fatal(err)
	}
	var given retwis.Sink
	route := (&Resolver{}).filtered(func(_ context.Context, after retwis.Cursor, sink retwis.Sink) error {
		if after != "here" {
			t.Errorf("the source starts after %q", after)
		}
		given = sink
		return nil
	}, f)
	return func(l *log) retwis.Sink {
		t.Helper()
		if err := route(t.Context(), "here", l); err != nil {
			t.Fatal(err)
		}
		return given
	}
}

func goPost(id retwis.PostID, text string) retwis.Event {
	return &retwis.PostAdded{Edge: retwis.PostEdge{Cursor: retwis.Cursor("at " + id.String()), Post: &retwis.Post{ID: id, Text: text}}}
}

func TestFiltered_DeliversPassingEvents(t *testing.T) {
	t.Parallel()
	attach := attachFiltered(t, retwis.TimelineFilter{Track: []string{"go"}})
	l := &log{}
	sink := attach(l)
	sink.Replay(t.Context(), goPost(1, "java"))
	sink.Replay(t.Context(), goPost(2, "go"))
	sink.Replay(t.Context(), &retwis.CaughtUp{Cursor: "c", Replayed: 2})
	for id, text := range []string{"java", "go", "java", "go"} {
		sink.Take(goPost(retwis.PostID(3+id), text))
	}
	sink.End(retwis.ErrSlowConsumer)

	// Earlier decisions are known when the source is started again.
	sink = attach(l)
	for id := range retwis.PostID(7) {
		sink.Take(&retwis.PostRemoved{PostID: id + 1})
	}
	sink.Take(&retwis.CaughtUp{Cursor: "d", Replayed: 7})
	want := []string{
		"replayed +2", "replayed caught up 1 c", "live +4", "live +6", "end " + retwis.ErrSlowConsumer.Error(),
		"live -2", "live -4", "live -6", "live -7", "live caught up 4 d",
	}
	if !slices.Equal(l.calls, want) {
		t.Errorf("got the calls %q, want %q", l.calls, want)
	}
}

func TestFiltered_AdvancesThePosition(t *testing.T) {
	t.Parallel()
	attach := attachFiltered(t, retwis.TimelineFilter{Track: []string{"go"}})
	l := &log{}
	sink := attach(l)
	var id retwis.PostID
	push := func(n int, text string, tell func(retwis.Event)) {
		for range n {
			id++
			tell(goPost(id, text))
		}
	}
	take := func(e retwis.Event) { sink.Take(e) }
	push(2*advanceEvery, "java", func(e retwis.Event) { sink.Replay(t.Context(), e) })
	sink.Replay(t.Context(), &retwis.CaughtUp{Cursor: "c"})
	push(advanceEvery-1, "java", take)
	push(1, "go", take)
	push(2*advanceEvery-1, "java", take)
	sink.Take(&retwis.PostRemoved{Cursor: "r", PostID: id}) // suppressed, too
	want := []string{"replayed caught up 0 c", "live +600", "live advanced at 800", "live advanced r"}
	if !slices.Equal(l.calls, want) {
		t.Errorf("got the calls %q, want %q", l.calls, want)
	}
}

// Attack: the words of each replayed post are computed for a subscriber, which receives none of them. So are those of live posts that
// waited for the end of its replay, after many others.
func TestFiltered_ChargesForTheWordsOfAReplay(t *testing.T) {
	t.Parallel()
	filter, err := retwis.NewFilter(retwis.TimelineFilter{Track: []string{"go"}})
	if err != nil {
		t.Fatal(err)
	}
	r, l, meter := &Resolver{}, &log{}, cost.NewMeter(cost.Options{})
	text := strings.Repeat("java ", 800)
	source := r.filtered(func(ctx context.Context, _ retwis.Cursor, sink retwis.Sink) error {
		for id := range retwis.PostID(300) {
			sink.Replay(ctx, goPost(id+1, text))
		}
		sink.Replay(ctx, &retwis.CaughtUp{Cursor: "c"})
		for id := range retwis.PostID(keptWords + 1) {
			sink.Take(goPost(301+id, text))
		}
		sink.Take(goPost(301, text))
		sink.Take(goPost(301, text)) // its words are known again
		sink.Take(goPost(302, text)) // its words are still known
		return nil
	}, filter)
	if err := source(cost.With(t.Context(), meter), "", l); err != nil {
		t.Fatal(err)
	}
	if rows := meter.Close().Work.Rows; rows != 301*len(text)/cost.SegmentedBytesPerRow || len(r.words.new.words) != keptWords {
		t.Errorf("charged %d rows, and keeps the words of %d posts for others", rows, len(r.words.new.words))
	}
}

// Attack: the filter of a live event waited until its client could compute something, and rested afterwards. Subscribers of other clients, which have
// the event after it, waited meanwhile.
func TestFiltered_LiveEventsDoNotWait(t *testing.T) {
	t.Parallel()
	filter, err := retwis.NewFilter(retwis.TimelineFilter{Track: []string{"go"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client := ratelimit.Client{User: 1, Address: netip.MustParseAddr("192.0.2.1")}
	meter, l := cost.NewMeter(cost.Options{Client: client, Shares: cost.NewShares()}), &log{}
	source := (&Resolver{}).filtered(func(ctx context.Context, _ retwis.Cursor, sink retwis.Sink) error {
		sink.Replay(ctx, &retwis.CaughtUp{Cursor: "c"})
		done, err := meter.Compute(ctx) // as much as a client may at a time
		if err != nil {
			return err
		}
		defer done()
		for id := range retwis.PostID(keptWords + 1) {
			sink.Take(goPost(id+1, "go"))
		}
		sink.Take(goPost(1, "go")) // its words are no longer known
		return nil
	}, filter)
	if err := source(cost.With(ctx, meter), "", l); err != nil {
		t.Fatal(err)
	}
	if got, want := len(l.calls), 1+keptWords+2; got != want || ctx.Err() != nil {
		t.Errorf("%d events, want %d; the end of the wait: %v", got, want, ctx.Err())
	}
}

// Attack: a user with replays of many posts rests while it pays for their words. All other replays of its network waited meanwhile.
func TestFiltered_PaysForAReplayAfterItsTurn(t *testing.T) {
	t.Parallel()
	filter, err := retwis.NewFilter(retwis.TimelineFilter{Track: []string{"go"}})
	if err != nil {
		t.Fatal(err)
	}
	shares := cost.NewShares()
	replay := func(user retwis.UserID, charge func(points int) error) *log {
		client := ratelimit.Client{User: user, Address: netip.MustParseAddr("192.0.2.1")}
		ctx := cost.With(t.Context(), cost.NewMeter(cost.Options{Client: client, Shares: shares, Charge: charge}))
		l := &log{}
		source := (&Resolver{}).filtered(func(ctx context.Context, _ retwis.Cursor, sink retwis.Sink) error {
			for id := range retwis.PostID(10) {
				sink.Replay(ctx, goPost(id+1, "go "+strings.Repeat("java ", 800)))
			}
			return nil
		}, filter)
		if err := source(ctx, "", l); err != nil {
			t.Error(err)
		}
		return l
	}
	var paid []*log
	replay(1, func(int) error {
		paid = append(paid, replay(2, nil))
		return nil
	})
	if len(paid) == 0 || len(paid[0].calls) != 10 {
		t.Errorf("no replay of another user ends while one pays: %d", len(paid))
	}
}

func TestFilter_BoundsItsMemory(t *testing.T) {
	t.Parallel()
	filter, err := retwis.NewFilter(retwis.TimelineFilter{Track: []string{"go"}})
	if err != nil {
		t.Fatal(err)
	}
	var words postWords
	d := decisions{filter: filter, words: &words}
	wordsOf := (&eventFilter{decisions: &d, ctx: t.Context(), live: true}).wordsOf
	const n = 3 * keptDecisions
	for id := range retwis.PostID(n) {
		post := &retwis.Post{ID: id + 1, Text: []string{"go", "java"}[id%2]}
		d.decide(post, wordsOf)
		d.decide(post, wordsOf) // again, as when its counts change
	}
	if len(d.failed) != keptDecisions || cap(d.failed) != keptDecisions || len(words.new.words) != keptWords || len(words.new.queue) != keptWords {
		t.Errorf("%d of %d decisions and the words of %d posts are kept", len(d.failed), cap(d.failed), len(words.new.words))
	}
	for id := range retwis.PostID(n) {
		passed := id%2 == 0
		known := id >= n-2*keptDecisions
		if got := d.recall(id+1, 0); got != (passed || !known) {
			t.Fatalf("the deletion of post %d of %d passes: %t", id+1, n, got)
		}
	}
}

func TestFilter_DecidesOnDeletedPostsOfASample(t *testing.T) {
	t.Parallel()
	half := 0.5
	filter, err := retwis.NewFilter(retwis.TimelineFilter{Sample: &half})
	if err != nil {
		t.Fatal(err)
	}
	told, fresh := decisions{filter: filter, words: &postWords{}}, decisions{filter: filter}
	for id := range retwis.PostID(1000) {
		passed := told.decide(&retwis.Post{ID: id + 1}, func(post *retwis.Post) retwis.Words { return retwis.WordsOf(post.Text) })
		if told.recall(id+1, 0) != passed || fresh.recall(id+1, 0) != passed {
			t.Fatalf("post %d passes: %t, unlike its deletion", id+1, passed)
		}
	}
	if told.failed != nil {
		t.Errorf("a filter without words remembers %d posts", len(told.failed))
	}
}

// Attack: 20 000 subscriptions with filters of 18 KB took 392 MB, which nothing counted.
func TestFiltered_BoundsTheMemoryOfFilters(t *testing.T) {
	t.Parallel()
	authors := make([]retwis.UserID, retwis.MaxTrackedAuthors)
	track := make([]string, retwis.MaxTrackEntries)
	for i := range track {
		track[i] = strings.Repeat("\u4e2d \u4e2d\u4e2d ", retwis.MaxTrackLength/5)
	}
	long, err := retwis.NewFilter(retwis.TimelineFilter{Track: track, Authors: authors})
	if err != nil {
		t.Fatal(err)
	}
	short, err := retwis.NewFilter(retwis.TimelineFilter{Track: []string{"go"}})
	if err != nil {
		t.Fatal(err)
	}
	shares := cost.NewShares()
	start := func(ctx context.Context, filter *retwis.Filter, client ratelimit.Client) error {
		source := (&Resolver{}).filtered(func(context.Context, retwis.Cursor, retwis.Sink) error { return nil }, filter)
		meter := cost.NewMeter(cost.Options{Client: client, Shares: shares})
		defer meter.Close()
		return source(cost.With(ctx, meter), "", &log{})
	}
	client := ratelimit.Client{User: 1, Address: netip.MustParseAddr("192.0.2.1")}
	another := ratelimit.Client{User: 2, Address: netip.MustParseAddr("192.0.2.2")}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	refused := 0
	for range 100_000 {
		if err := start(ctx, long, client); err != nil {
			if !errors.Is(err, &retwis.Error{Code: retwis.CodeRateLimited}) {
				t.Fatal(err)
			}
			refused++
			break
		}
	}
	if refused == 0 {
		t.Fatalf("100 000 filters of %d bytes are kept for one client", long.Size())
	}
	if err := start(ctx, short, client); err != nil {
		t.Errorf("a short filter of the same client: %v", err)
	}
	if err := start(ctx, long, another); err != nil {
		t.Errorf("a filter of another client: %v", err)
	}
	end()
	for deadline := time.Now().Add(time.Minute); shares.Filters.Used() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes still count after the subscriptions have ended", shares.Filters.Used())
		}
	}
	if err := start(t.Context(), long, client); err != nil {
		t.Errorf("after the others have ended: %v", err)
	}
}
