package graph

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

const eventsQuery = `subscription($id: ID, $after: Cursor) { events: timelineEvents(timelineId: $id, after: $after) {
	__typename cursor
	... on PostAdded { edge { cursor node { text author { username } } } }
	... on PostRemoved { postId }
	... on TimelineCaughtUp { replayed }
	... on TimelineReset { reason }
} }`

func TestTimelineEvents_RenderAllKinds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(Options{})
		alice := a.addUser("alice")
		home := retwis.Home(alice.ID)
		added := edge(home, a.addPost(alice, "one"))
		responses, ctx := a.start(as(t, alice), eventsQuery, "")

		tests := []struct {
			event retwis.Event
			want  string
		}{
			{&retwis.CaughtUp{Cursor: "c1", Replayed: 3}, `{"__typename": "TimelineCaughtUp", "cursor": "c1", "replayed": 3}`},
			{&retwis.PostAdded{Edge: added}, fmt.Sprintf(`{"__typename": "PostAdded", "cursor": %q,
				"edge": {"cursor": %q, "node": {"text": "one", "author": {"username": "alice"}}}}`, added.Cursor, added.Cursor)},
			{&retwis.PostChanged{Cursor: "c1", Post: added.Post}, `{"__typename": "PostChanged", "cursor": "c1"}`},
			{&retwis.PostRemoved{Cursor: "c2", PostID: 5}, fmt.Sprintf(`{"__typename": "PostRemoved", "cursor": "c2", "postId": %q}`, globalPostID(5))},
			{&retwis.Reset{Cursor: "c3", Reason: retwis.HistoryChanged}, `{"__typename": "TimelineReset", "cursor": "c3", "reason": "HISTORY_CHANGED"}`},
			{&retwis.Reset{Cursor: "c4", Reason: retwis.CursorTooOld}, `{"__typename": "TimelineReset", "cursor": "c4", "reason": "CURSOR_TOO_OLD"}`},
		}
		for _, tt := range tests {
			a.live[home].Take(tt.event)
			wantData(t, responses(ctx), `{"events": `+tt.want+`}`)
		}

		alice.DisplayName = "Alice"
		a.live[home].Take(&retwis.PostAdded{Edge: added})
		a.live[home].Take(&retwis.PostAdded{Edge: added})
		responses(ctx)
		responses(ctx)
		if got := a.called("Users"); len(got) != 3 {
			t.Errorf("three events with authors made the calls %q, want new reads for each", got)
		}
	})
}

func TestSubscribe_StartsAtTheCursor(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	home, profile := retwis.Home(alice.ID), retwis.Profile(alice.ID)
	after := retwis.TimelinePosition{Timeline: profile, Element: retwis.Plain(7)}.Cursor()
	tests := []struct {
		name, variables, want string
		reader                *retwis.User
	}{
		{"the viewer's home", `{}`, "Attach" + home.String() + " ", alice},
		{"null is left out", `{"id": null, "after": null}`, "Attach" + home.String() + " ", alice},
		{"the home by its id", `{"id": "` + globalTimelineID(home) + `"}`, "Attach" + home.String() + " ", alice},
		{"the public timeline", `{"id": "` + globalTimelineID(retwis.Public()) + `"}`, "Attachp ", nil},
		{"a profile, to resume", fmt.Sprintf(`{"id": %q, "after": %q}`, globalTimelineID(profile), after),
			"Attach" + profile.String() + " " + string(after), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := len(a.called("Attach"))
			ctx, cancel := context.WithCancel(as(t, tt.reader))
			responses, ctx := a.start(ctx, eventsQuery, tt.variables)
			if got := a.called("Attach")[before:]; len(got) != 1 || got[0] != tt.want {
				t.Errorf("made the calls %q, want %q", got, tt.want)
			}
			cancel()
			if response := responses(ctx); response != nil {
				t.Errorf("got %s %v after the end", response.Data, response.Errors)
			}
		})
	}
}

func TestSubscribe_RefusesBadRequests(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	home := globalTimelineID(retwis.Home(alice.ID))
	elsewhere := retwis.TimelinePosition{Timeline: retwis.Profile(alice.ID), Element: retwis.Plain(7)}.Cursor()
	tests := []struct {
		name, variables, want string
		reader                *retwis.User
	}{
		{"an anonymous home", `{}`, "UNAUTHENTICATED", nil},
		{"a home, anonymously", `{"id": "` + home + `"}`, "FORBIDDEN", nil},
		{"another's home", `{"id": "` + home + `"}`, "FORBIDDEN", bob},
		{"an unknown profile", `{"id": "` + globalTimelineID(retwis.Profile(99)) + `"}`, "NOT_FOUND", bob},
		{"no timeline", `{"id": "` + globalUserID(alice.ID) + `"}`, "NOT_FOUND", alice},
		{"no id", `{"id": ""}`, "NOT_FOUND", alice},
		{"no cursor", `{"after": "x"}`, "BAD_USER_INPUT", alice},
		{"an empty cursor", `{"after": ""}`, "BAD_USER_INPUT", alice},
		{"another timeline's cursor", fmt.Sprintf(`{"after": %q}`, elsewhere), "BAD_USER_INPUT", alice},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			responses, ctx := a.start(as(t, tt.reader), eventsQuery, tt.variables)
			err := wantError(t, responses(ctx), tt.want)
			if err.Path.String() != "events" {
				t.Errorf("got an error at %s", err.Path)
			}
			if response := responses(ctx); response != nil {
				t.Errorf("got %s %v after the error", response.Data, response.Errors)
			}
		})
	}
	if got := a.called("Attach"); len(got) > 0 {
		t.Errorf("made the calls %q", got)
	}
}

func TestSubscribe_RequiresExactlyOneField(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	for _, query := range []string{
		`subscription { timelineEvents @skip(if: true) { cursor } }`,
		`subscription { a: timelineEvents { cursor } b: timelineEvents { cursor } }`,
		`subscription { __typename }`,
		`subscription { __typename timelineEvents { cursor } }`,
		`subscription { ... on Subscription { __typename @include(if: true) } }`,
	} {
		responses, ctx := a.start(as(t, alice), query, "")
		for _, err := range responses(ctx).Errors {
			if err.Extensions["code"] != "GRAPHQL_VALIDATION_FAILED" {
				t.Errorf("%s: got %q with %v", query, err.Message, err.Extensions)
			}
		}
	}
}

// endedSink is a sink that records the reason of its end.
type endedSink struct {
	eventQueue
	reason error
}

// End implements [retwis.Sink].
func (s *endedSink) End(reason error) { s.reason = reason }

func TestSubscribe_ReasonOfTheEndReachesTheSink(t *testing.T) {
	t.Parallel()
	for name, filter := range map[string]string{"without a filter": "null", "behind a filter": "{sample: 1}"} {
		t.Run(name, func(t *testing.T) {
			a := newAPI(Options{})
			ctx := graphql.StartOperationTrace(t.Context())
			op, errs := a.executor.CreateOperationContext(ctx, &graphql.RawParams{Query: fmt.Sprintf(
				`subscription { timelineEvents(timelineId: %q, filter: %s) { cursor } }`, globalTimelineID(retwis.Public()), filter)})
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			source, errs := a.executor.Subscribe(ctx, op)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			var sink endedSink
			if err := source(ctx, "", &sink); err != nil {
				t.Fatal(err)
			}
			a.live[retwis.Public()].End(retwis.ErrSlowConsumer)
			if !errors.Is(sink.reason, retwis.ErrSlowConsumer) {
				t.Errorf("the sink received the reason %v", sink.reason)
			}
		})
	}
}

func TestSubscribe_HasASourceForEachField(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	for _, field := range a.executor.schema.Subscription.Fields {
		if a.executor.eventSources[field.Name] == nil {
			t.Errorf("the subscription %s has no source", field.Name)
		}
	}
}

func TestSubscribe_PanicsAreInternalErrors(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	a.executor.eventSources["timelineEvents"] = func(context.Context, map[string]any) (retwis.EventSource, error) { panic("out of cheese") }
	responses, ctx := a.start(as(t, a.addUser("alice")), eventsQuery, "")
	if err := wantError(t, responses(ctx), "INTERNAL_SERVER_ERROR"); err.Path.String() != "events" {
		t.Errorf("got an error at %s", err.Path)
	}
}

func TestDispatchOperation_RefusesSubscriptions(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	ctx := graphql.StartOperationTrace(as(t, a.addUser("alice")))
	op, errs := a.executor.CreateOperationContext(ctx, &graphql.RawParams{Query: eventsQuery})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	responses, ctx := a.executor.DispatchOperation(ctx, op)
	wantError(t, responses(ctx), "INTERNAL_SERVER_ERROR")
}

func TestRender_ReportsErrors(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	post := a.addPost(alice, "one")
	post.AuthorID = 99
	ctx := auth.WithIdentity(t.Context(), auth.Identity{User: alice.ID})
	responses, ctx := a.start(ctx, eventsQuery, "")
	a.live[retwis.Home(alice.ID)].Take(&retwis.PostAdded{Edge: edge(retwis.Home(alice.ID), post)})
	response := responses(ctx)
	err := wantError(t, response, "INTERNAL_SERVER_ERROR")
	if err.Path.String() != "events.edge.node.author" {
		t.Errorf("got an error at %s", err.Path)
	}
	wantJSON(t, string(response.Data), `null`)
}
