package graph

import (
	"context"
	"errors"

	"github.com/99designs/gqlgen/graphql"

	"retwis/graph/loaders"
	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// unreadKey names a read of a marker for [loaders.Once].
type unreadKey struct {
	timeline retwis.TimelineID
	atMost   int
}

// unread returns the marker of a timeline, and the number of unread posts up to what the fields of the timeline ask for. It
// shares the read of a page of the timeline, if one is selected.
func (r *Resolver) unread(ctx context.Context, timeline retwis.TimelineID) (retwis.Unread, error) {
	if err := checkReader(ctx, timeline); err != nil {
		return retwis.Unread{}, err
	}
	fields := siblings(ctx)
	atMost := unreadAtMost(ctx, fields)
	for _, field := range fields {
		if field.Name != "posts" {
			continue
		}
		page, err := pageOf(ctx, field)
		if err != nil {
			break // the error is the one of the page
		}
		page.Unread = max(atMost, 1)
		connection, err := r.posts(ctx, timeline, page)
		if err != nil {
			return retwis.Unread{}, err
		}
		return connection.unread, nil
	}
	return loaders.Once(ctx, unreadKey{timeline, atMost}, func() (retwis.Unread, error) {
		return r.Timelines.Unread(ctx, timeline, atMost)
	})
}

// unreadBeside returns how many unread posts a page of a timeline has to count, because a field beside it asks for them. Of
// several pages only the first counts.
func unreadBeside(ctx context.Context, timeline retwis.TimelineID) int {
	if !timeline.HasMarker() || loaders.From(ctx).SelectsNoUnread() {
		return 0
	}
	fields := siblings(ctx)
	asked := false
	for _, field := range fields {
		asked = asked || field.Name == "unreadCount" || field.Name == "marker"
	}
	for _, field := range fields {
		if field.Name == "posts" {
			if !asked || field.Alias != graphql.GetFieldContext(ctx).Field.Alias {
				return 0
			}
			return max(unreadAtMost(ctx, fields), 1)
		}
	}
	return 0
}

// unreadAtMost returns the greatest valid argument atMost of some fields, or 0.
func unreadAtMost(ctx context.Context, fields []graphql.CollectedField) int {
	most := 0
	for _, field := range fields {
		if field.Name != "unreadCount" {
			continue
		}
		n, err := optional(argumentsOf(ctx, field)["atMost"], UnmarshalInt)
		if err != nil {
			continue // the field itself reports it
		}
		if bound, err := unreadBound(n); err == nil {
			most = max(most, bound)
		}
	}
	return most
}

// unreadBound checks the argument atMost. Null is the default.
func unreadBound(atMost *int) (int, error) {
	if atMost == nil {
		return retwis.DefaultUnread, nil
	}
	if *atMost < 1 || *atMost > retwis.MaxUnread {
		return 0, badInput("`atMost` is %d: it must be from 1 to %d", *atMost, retwis.MaxUnread)
	}
	return *atMost, nil
}

// siblings returns the fields that are selected of the same object as the field of ctx, this one included.
func siblings(ctx context.Context) []graphql.CollectedField {
	for parent := graphql.GetFieldContext(ctx).Parent; parent != nil; parent = parent.Parent {
		if parent.Field.Field != nil { // elements of lists have contexts too
			return graphql.CollectFields(graphql.GetOperationContext(ctx), parent.Field.Selections, timelineImplementors)
		}
	}
	return nil
}

// pageOf returns the page that the arguments of a field ask for.
func pageOf(ctx context.Context, field graphql.CollectedField) (retwis.Page, error) {
	args := argumentsOf(ctx, field)
	first, err1 := optional(args["first"], UnmarshalInt)
	last, err2 := optional(args["last"], UnmarshalInt)
	after, err3 := optional(args["after"], UnmarshalCursor)
	before, err4 := optional(args["before"], UnmarshalCursor)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return retwis.Page{}, err
	}
	return pageArgs(first, after, last, before)
}

func argumentsOf(ctx context.Context, field graphql.CollectedField) map[string]any {
	return field.ArgumentMap(graphql.GetOperationContext(ctx).Variables)
}

// optional parses a value unless it is absent or null.
func optional[T any](v any, parse func(any) (T, error)) (*T, error) {
	if v == nil {
		return nil, nil
	}
	parsed, err := parse(v)
	return &parsed, err
}

// markRead marks a timeline of the viewer as read up to a position. A timeline of another user does not exist.
func (r *Resolver) markRead(ctx context.Context, input MarkTimelineReadInput) (*retwis.Timeline, error) {
	id, ok := parseGlobalID(input.TimelineID).(retwis.TimelineID)
	if !ok {
		return nil, retwis.ErrTimelineNotFound
	}
	if id.Kind == retwis.ListTimeline {
		list, err := startOwnList(ctx, id.List())()
		if err == nil && list == nil {
			err = retwis.ErrTimelineNotFound
		}
		if err != nil {
			return nil, err
		}
	} else if !id.VisibleTo(auth.IdentityOf(ctx).User) {
		return nil, retwis.ErrTimelineNotFound
	}
	if !id.HasMarker() {
		return nil, retwis.FieldError(retwis.CodeInvalid, "timelineId",
			"profiles, hashtags and the public timeline have no marker: mark a home, mentions or list timeline")
	}
	err := r.Timelines.MarkRead(ctx, id, input.Cursor)
	switch {
	case errors.Is(err, retwis.ErrBadCursor):
		return nil, retwis.FieldError(retwis.CodeInvalid, "cursor", "the cursor does not belong to this timeline")
	case errors.Is(err, retwis.ErrNotFound):
		return nil, retwis.ErrTimelineNotFound
	case err != nil:
		return nil, err
	}
	return &retwis.Timeline{ID: id}, nil
}
