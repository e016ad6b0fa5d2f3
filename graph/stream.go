package graph

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// stream is a running subscription. By it the resolver tells why its events end, which
// takes the place of a goroutine per subscriber that would do nothing but wait for that.
type stream struct {
	field graphql.CollectedField
	ended atomic.Pointer[func() error]
}

type streamKey struct{}

// endsWith says where to learn why the events of the subscription of ctx ended.
func endsWith(ctx context.Context, reason func() error) {
	if s, ok := ctx.Value(streamKey{}).(*stream); ok {
		s.ended.Store(&reason)
	}
}

// runStream runs a subscription and, when its source ends it, tells the transport why.
func runStream(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx)
	s := &stream{field: graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Subscription"})[0]}
	events := next(context.WithValue(ctx, streamKey{}, s))
	return func(eventCtx context.Context) *graphql.Response {
		response := events(s.locate(eventCtx))
		switch {
		case response != nil:
			s.propagate(response)
		case eventCtx.Err() == nil: // otherwise the reader ended it
			s.tell(ctx)
		}
		return response
	}
}

// tell tells the transport why the source ended the stream.
func (s *stream) tell(ctx context.Context) {
	if ended := s.ended.Load(); ended != nil {
		if reason := (*ended)(); reason != nil {
			retwis.EndStream(ctx, reason)
		}
	}
}

// locate puts the field of the subscription before the paths of errors within an event,
// where generated code leaves it out.
func (s *stream) locate(ctx context.Context) context.Context {
	return graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Subscription", Field: s.field})
}

// propagate makes the data of a failed event null: the field must not be, and generated
// code does not look.
func (s *stream) propagate(response *graphql.Response) {
	if len(response.Errors) > 0 && string(response.Data) == `{"`+s.field.Alias+`":null}` {
		response.Data = []byte("null")
	}
}

// timelineToWatch returns the timeline that a subscription names, if there is such a
// one and the viewer may see it. Without an id that is the viewer's home.
func (r *Resolver) timelineToWatch(ctx context.Context, id *string) (retwis.TimelineID, error) {
	if id == nil {
		viewer, err := auth.Viewer(ctx)
		return retwis.Home(viewer), err
	}
	timeline, ok := parseGlobalID(*id).(retwis.TimelineID)
	if !ok {
		return timeline, retwis.ErrNotFound
	}
	if timeline.Kind == retwis.ListTimeline {
		_, err := ownList(ctx, timeline.List(), r.list)
		return timeline, err
	}
	if !timeline.VisibleTo(auth.IdentityOf(ctx).User) {
		return timeline, retwis.ErrForbidden
	}
	if timeline.Owner == 0 {
		return timeline, nil
	}
	owners, err := r.Users.Users(ctx, []retwis.UserID{timeline.Owner})
	if err == nil && owners[0] == nil {
		err = retwis.ErrNotFound
	}
	return timeline, err
}

// placeToResume returns the cursor of a subscription, which has to be the timeline's;
// empty where there is none.
func placeToResume(timeline retwis.TimelineID, after *retwis.Cursor) (retwis.Cursor, error) {
	if after == nil {
		return "", nil
	}
	_, err := after.TimelinePosition(timeline)
	return *after, err
}

// route returns how a transport begins a subscription to a timeline that was allowed.
func (r *Resolver) route(timeline retwis.TimelineID, from retwis.Cursor) retwis.Route {
	return func(ctx context.Context, after retwis.Cursor, sink retwis.Sink) error {
		return r.Live.Attach(ctx, timeline, cmp.Or(after, from), sink)
	}
}
