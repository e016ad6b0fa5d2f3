package graph

import (
	"context"

	"retwis/graph/loaders"
	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// ListConnection is a page of the viewer's lists.
type ListConnection struct {
	Edges    []retwis.ListEdge
	PageInfo PageInfo
}

// ownLists returns a page of an owner's lists.
func (r *Resolver) ownLists(
	ctx context.Context, owner retwis.UserID,
	first *int, after *retwis.Cursor, last *int, before *retwis.Cursor,
) (*ListConnection, error) {
	page, err := pageArgs(first, after, last, before)
	if err != nil {
		return nil, err
	}
	return loaders.Once(ctx, pageKey{"lists", owner, page}, func() (*ListConnection, error) {
		lists, err := r.Lists.ListPage(ctx, owner, page)
		return listConnection(ctx, lists), err
	})
}

func listConnection(ctx context.Context, page retwis.ListPage) *ListConnection {
	connection := &ListConnection{
		Edges:    page.Edges,
		PageInfo: PageInfo{HasNextPage: page.HasNextPage, HasPreviousPage: page.HasPreviousPage},
	}
	if n := len(page.Edges); n > 0 {
		connection.PageInfo.StartCursor = &page.Edges[0].Cursor
		connection.PageInfo.EndCursor = &page.Edges[n-1].Cursor

		ids, lists := make([]retwis.ListID, n), make([]*retwis.List, n)
		for i, edge := range page.Edges {
			ids[i], lists[i] = edge.List.ID, edge.List
		}
		loaders.From(ctx).Lists.Prime(ids, lists)
	}
	return connection
}

// couldOwn reports whether a user may be the owner of a list, which the bucket in its id decides. If not, the list is not
// read, so that response times do not reveal whether it exists.
func couldOwn(user retwis.UserID, id retwis.ListID) bool {
	return user != 0 && user.Bucket() == id.Bucket()
}

// ownList returns a list of the viewer. A list of another owner is FORBIDDEN, like the home of another user. A deleted list
// of the viewer is NOT_FOUND.
func ownList(
	ctx context.Context, id retwis.ListID, read func(context.Context, retwis.ListID) (*retwis.List, error),
) (*retwis.List, error) {
	viewer := auth.IdentityOf(ctx).User
	if !couldOwn(viewer, id) {
		return nil, retwis.ErrForbidden
	}
	list, err := read(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case list == nil:
		return nil, retwis.ErrNotFound
	case list.OwnerID != viewer:
		return nil, retwis.ErrForbidden
	}
	return list, nil
}

// startOwnList starts to load a list. To the viewer, a list of another owner does not exist.
func startOwnList(ctx context.Context, id retwis.ListID) func() (*retwis.List, error) {
	viewer := auth.IdentityOf(ctx).User
	if !couldOwn(viewer, id) {
		return func() (*retwis.List, error) { return nil, nil }
	}
	read := loaders.From(ctx).Lists.LoadThunk(ctx, id)
	return func() (*retwis.List, error) {
		list, err := read()
		if list == nil || list.OwnerID != viewer {
			return nil, err
		}
		return list, nil
	}
}

// checkReader refuses a timeline that the viewer may not read.
func checkReader(ctx context.Context, timeline retwis.TimelineID) error {
	if timeline.Kind == retwis.ListTimeline {
		_, err := ownList(ctx, timeline.List(), loaders.From(ctx).Lists.Load)
		return err
	}
	if !timeline.VisibleTo(auth.IdentityOf(ctx).User) {
		return retwis.ErrForbidden
	}
	return nil
}

// list returns a list without a loader, because a subscription that starts has none. It is nil if it does not exist.
func (r *Resolver) list(ctx context.Context, id retwis.ListID) (*retwis.List, error) {
	lists, err := r.Lists.Lists(ctx, []retwis.ListID{id})
	if err != nil {
		return nil, err
	}
	return lists[0], nil
}
