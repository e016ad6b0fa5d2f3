package graph

import (
	"cmp"
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"retwis/graph/limits"
	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// sourceFunc authorises a subscription and returns the source of its events. The arguments are those of its field.
type sourceFunc func(ctx context.Context, args map[string]any) (retwis.EventSource, error)

// eventSources returns the source functions of the fields of the type Subscription.
func (r *Resolver) eventSources() map[string]sourceFunc {
	return map[string]sourceFunc{"timelineEvents": r.timelineEvents}
}

// timelineEvents authorises a subscription to a timeline and returns the source of its events.
func (r *Resolver) timelineEvents(ctx context.Context, args map[string]any) (retwis.EventSource, error) {
	id, _ := args["timelineId"].(*string)
	after, _ := args["after"].(*retwis.Cursor)
	filter, _ := args["filter"].(*retwis.TimelineFilter)
	timeline, err := r.timelineToWatch(ctx, id)
	if err != nil {
		return nil, err
	}
	from, err := resumeCursor(timeline, after)
	if err != nil {
		return nil, err
	}
	wanted, err := filterOf(ctx, timeline, filter)
	if err != nil {
		return nil, err
	}
	who := auth.IdentityOf(ctx)
	client := limits.ClientOf(ctx)
	subscriber := retwis.Subscriber{
		User: who.User, FilterEpoch: who.FilterEpoch, Counts: selectsCountEvents(ctx),
		Charge: func(points int) error {
			err := r.Limits.Charge(client, points, points)
			if err == nil && timeline.OpenToAll() {
				err = r.Limits.CheckHalf(client) // strangers post as much as they like: the reader can use the rest otherwise
			}
			return err
		},
	}
	return r.filtered(func(ctx context.Context, after retwis.Cursor, sink retwis.Sink) error {
		return r.Live.Attach(ctx, subscriber, timeline, cmp.Or(after, from), sink)
	}, wanted), nil
}

// selectsCountEvents reports whether the subscription of ctx selects fields of the type PostChanged.
func selectsCountEvents(ctx context.Context) bool {
	op := graphql.GetOperationContext(ctx)
	selected := false
	for _, fragment := range op.Doc.Fragments {
		selected = selected || fragment.TypeCondition == "PostChanged" // documents with unused fragments are invalid
	}
	var visit func(ast.SelectionSet)
	visit = func(set ast.SelectionSet) {
		for _, selection := range set {
			switch selection := selection.(type) {
			case *ast.Field:
				visit(selection.SelectionSet)
			case *ast.InlineFragment:
				selected = selected || selection.TypeCondition == "PostChanged"
				visit(selection.SelectionSet)
			case *ast.FragmentSpread:
				visit(selection.Definition.SelectionSet) // fragments have no cycles
			}
		}
	}
	visit(op.Operation.SelectionSet)
	return selected
}

// timelineToWatch returns the timeline of a subscription, if it exists and the viewer may see it. Without an id that is the
// viewer's home.
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
	if timeline.Kind == retwis.TagTimeline {
		tag, err := r.tagOf(ctx, timeline)
		if err == nil && tag == nil {
			err = retwis.ErrNotFound
		}
		return timeline, err
	}
	if timeline.User() == 0 {
		return timeline, nil
	}
	owners, err := r.Users.Users(ctx, []retwis.UserID{timeline.User()})
	if err == nil && owners[0] == nil {
		err = retwis.ErrNotFound
	}
	return timeline, err
}

// resumeCursor returns the cursor of a subscription, or the empty cursor if there is none. The cursor has to be one of the
// timeline.
func resumeCursor(timeline retwis.TimelineID, after *retwis.Cursor) (retwis.Cursor, error) {
	if after == nil {
		return "", nil
	}
	_, err := after.TimelinePosition(timeline)
	return *after, err
}
