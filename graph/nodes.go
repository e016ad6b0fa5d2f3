package graph

import (
	"context"

	"retwis/graph/limits"
	"retwis/graph/loaders"
	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/retwis"
)

// Node is an object that has a global id: a [*retwis.User], [*retwis.Post], [*retwis.Timeline],
// [*retwis.List], [*retwis.Tag], [*retwis.Session] or [*retwis.Viewer].
type Node any

// rowsPerID is how many rows the decoding of an id counts, also of one that names nothing, or an object that was read before.
const rowsPerID = 2

// nodes returns objects in the order of their global ids, with one read per type. An object is nil if it does not exist, if
// the viewer may not see it, or if its id is malformed.
func nodes(ctx context.Context, ids []string) ([]Node, error) {
	if len(ids) > limits.MaxIDs {
		return nil, badInput("too many ids: %d, the limit is %d", len(ids), limits.MaxIDs)
	}
	if err := cost.Walk(ctx, rowsPerID*len(ids)); err != nil {
		return nil, err //nolint:wrapcheck // the error for the client
	}
	reads := make([]func() (Node, error), len(ids))
	for i, id := range ids {
		reads[i] = startNode(ctx, id)
	}
	found := make([]Node, len(ids))
	for i, read := range reads {
		node, err := read()
		if err != nil {
			return nil, err
		}
		found[i] = node
	}
	return found, nil
}

// startNode starts to load an object by its global id. The function that it returns waits for the object.
func startNode(ctx context.Context, id string) func() (Node, error) {
	viewer := auth.IdentityOf(ctx).User
	switch id := parseGlobalID(id).(type) {
	case retwis.UserID:
		return asNode(startUser(ctx, id))
	case retwis.PostID:
		return asNode(loaders.From(ctx).Posts.LoadThunk(ctx, id))
	case retwis.ListID:
		return asNode(startOwnList(ctx, id))
	case retwis.TagID:
		return asNode(loaders.From(ctx).Tags.LoadThunk(ctx, id))
	case retwis.TimelineID:
		switch {
		case id.Kind == retwis.ListTimeline:
			return timelineOf(id, startOwnList(ctx, id.List()))
		case !id.VisibleTo(viewer):
		case id.Kind == retwis.TagTimeline:
			return timelineOf(id, loaders.From(ctx).Tags.LoadThunk(ctx, id.Tag()))
		case id.User() != 0:
			return timelineOf(id, startUser(ctx, id.User()))
		default:
			return func() (Node, error) { return &retwis.Timeline{ID: id}, nil }
		}
	case retwis.SessionID:
		if viewer != 0 && id.User == viewer {
			return asNode(loaders.From(ctx).Sessions.LoadThunk(ctx, id))
		}
	case retwis.Viewer:
		if viewer != 0 && id.ID == viewer {
			return func() (Node, error) { return &id, nil }
		}
	}
	return func() (Node, error) { return nil, nil }
}

// startUser starts to load a user. A user whose account is being deleted exists only as the author of posts.
func startUser(ctx context.Context, id retwis.UserID) func() (*retwis.User, error) {
	read := loaders.From(ctx).Users.LoadThunk(ctx, id)
	return func() (*retwis.User, error) {
		user, err := read()
		if user != nil && user.BeingDeleted {
			return nil, err
		}
		return user, err
	}
}

// timelineOf returns the timeline of an object, if that exists.
func timelineOf[T any](id retwis.TimelineID, read func() (*T, error)) func() (Node, error) {
	return func() (Node, error) {
		if object, err := read(); object == nil {
			return nil, err
		}
		return &retwis.Timeline{ID: id}, nil
	}
}

// asNode converts a nil pointer to a nil Node.
func asNode[T any](read func() (*T, error)) func() (Node, error) {
	return func() (Node, error) {
		object, err := read()
		if object == nil {
			return nil, err
		}
		return object, err
	}
}
