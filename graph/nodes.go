package graph

import (
	"context"

	"retwis/graph/limits"
	"retwis/graph/loaders"
	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// Node is what an id can name: a [*retwis.User], [*retwis.Post], [*retwis.Timeline],
// [*retwis.List], [*retwis.Session] or [*retwis.Viewer].
type Node any

// nodes reads the things that ids name, in their order and in one read per type. What
// is unknown, malformed or not the viewer's to see is nil.
func nodes(ctx context.Context, ids []string) ([]Node, error) {
	if len(ids) > limits.MaxIDs {
		return nil, badInput("%d ids are too many: %d is the limit", len(ids), limits.MaxIDs)
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

// startNode begins to read what an id names; the function it returns waits for it.
func startNode(ctx context.Context, id string) func() (Node, error) {
	viewer := auth.IdentityOf(ctx).User
	switch id := parseGlobalID(id).(type) {
	case retwis.UserID:
		return asNode(startUser(ctx, id))
	case retwis.PostID:
		return asNode(loaders.From(ctx).Posts.LoadThunk(ctx, id))
	case retwis.ListID:
		return asNode(startOwnList(ctx, id))
	case retwis.TimelineID:
		if id.Kind == retwis.ListTimeline {
			readList := startOwnList(ctx, id.List())
			return func() (Node, error) {
				if list, err := readList(); list == nil {
					return nil, err
				}
				return &retwis.Timeline{ID: id}, nil
			}
		}
		if !id.VisibleTo(viewer) {
			break
		}
		timeline := &retwis.Timeline{ID: id}
		if id.Owner == 0 {
			return func() (Node, error) { return timeline, nil }
		}
		readOwner := startUser(ctx, id.Owner)
		return func() (Node, error) {
			if owner, err := readOwner(); owner == nil {
				return nil, err
			}
			return timeline, nil
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

// startUser begins to read a user. Who is leaving is there as an author only.
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

// asNode keeps a nil pointer from becoming a Node that is not nil.
func asNode[T any](read func() (*T, error)) func() (Node, error) {
	return func() (Node, error) {
		thing, err := read()
		if thing == nil {
			return nil, err
		}
		return thing, err
	}
}
