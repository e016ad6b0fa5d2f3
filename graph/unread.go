package graph

import (
	"context"
	"errors"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"retwis/graph/exec"
	"retwis/graph/loaders"
	"retwis/internal/auth"
	"retwis/internal/cost"
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
	selected := selectedBeside(ctx)
	if selected.page == nil {
		return loaders.Once(ctx, unreadKey{timeline, selected.atMost}, func() (retwis.Unread, error) {
			return r.Timelines.Unread(ctx, timeline, selected.atMost)
		})
	}
	page := *selected.page
	page.Unread = max(selected.atMost, 1)
	connection, err := r.posts(ctx, timeline, page)
	if err != nil {
		return retwis.Unread{}, err
	}
	return connection.unread, nil
}

// unreadBeside returns how many unread posts a page of a timeline has to count, because a field beside it asks for them. Of
// several pages only the first counts.
func unreadBeside(ctx context.Context, timeline retwis.TimelineID) int {
	if !timeline.HasMarker() || loaders.From(ctx).SelectsNoUnread() {
		return 0
	}
	selected := selectedBeside(ctx)
	if !selected.unread || selected.posts != graphql.GetFieldContext(ctx).Field.Alias {
		return 0
	}
	return max(selected.atMost, 1)
}

// timelineSelection is what an operation selects of a timeline.
type timelineSelection struct {
	unread bool         // the marker, or the number of unread posts
	atMost int          // the greatest valid argument of unreadCount; 0 without one
	posts  string       // the alias of the first page; empty without one
	page   *retwis.Page // that page; nil if its arguments are wrong, which is its own error
}

// selectionKey names a selection for [loaders.Once]. Fields that are merged have a selection of their own.
type selectionKey struct {
	first  *ast.Selection
	length int
}

// selectedBeside returns the selection that the field of ctx belongs to. It is found once, however many timelines and aliases
// ask for it.
func selectedBeside(ctx context.Context) timelineSelection {
	parent := graphql.GetFieldContext(ctx).Parent
	for parent.Field.Field == nil { // elements of lists have contexts too
		parent = parent.Parent
	}
	set := parent.Field.Selections
	selected, _ := loaders.Once(ctx, selectionKey{&set[0], len(set)}, func() (timelineSelection, error) {
		_ = cost.Walk(ctx, exec.Visits(set)/exec.VisitsPerField) // without budget, writing the response fails
		return timelineSelectionOf(ctx, graphql.CollectFields(graphql.GetOperationContext(ctx), set, timelineImplementors)), nil
	})
	return selected
}

func timelineSelectionOf(ctx context.Context, fields []graphql.CollectedField) timelineSelection {
	var selected timelineSelection
	for _, field := range fields {
		switch field.Name {
		case "marker":
			selected.unread = true
		case "unreadCount":
			selected.unread = true
			n, err := optional(argumentsOf(ctx, field)["atMost"], UnmarshalInt)
			if err != nil {
				continue // the field itself reports it
			}
			if bound, err := unreadBound(n); err == nil {
				selected.atMost = max(selected.atMost, bound)
			}
		case "posts":
			if selected.posts != "" {
				continue
			}
			selected.posts = field.Alias
			if page, err := pageOf(ctx, field); err == nil {
				selected.page = &page
			}
		}
	}
	return selected
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
