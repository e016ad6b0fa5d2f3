package graph

import (
	"context"

	"retwis/graph/loaders"
	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// Lists keeps the lists that users make of others. The error about a list that is gone or
// never was is [retwis.ErrListNotFound], about another owner's [retwis.ErrListNotOwned].
type Lists interface {
	// CreateList makes a list once for a key: a repeat answers with the first one as it is
	// by then, or with [retwis.ErrListNotFound] when it is deleted.
	CreateList(ctx context.Context, owner retwis.UserID, name, key string) (*retwis.List, error)
	RenameList(ctx context.Context, owner retwis.UserID, list retwis.ListID, name string) (*retwis.List, error)
	DeleteList(ctx context.Context, owner retwis.UserID, list retwis.ListID) error
	AddListMember(ctx context.Context, owner retwis.UserID, list retwis.ListID, user retwis.UserID) error
	RemoveListMember(ctx context.Context, owner retwis.UserID, list retwis.ListID, user retwis.UserID) error
	// Lists answers in the order of the ids, with nil where there is none any more.
	Lists(ctx context.Context, ids []retwis.ListID) ([]*retwis.List, error)
	ListPage(ctx context.Context, owner retwis.UserID, page retwis.Page) (retwis.ListPage, error)
	// Memberships tells of each pair whether the user is on the list.
	Memberships(ctx context.Context, pairs []retwis.Membership) ([]bool, error)
}

// ListConnection is one page of a viewer's lists.
type ListConnection struct {
	Edges    []retwis.ListEdge
	PageInfo PageInfo
}

// ownLists reads one page of an owner's lists.
func (r *Resolver) ownLists(
	ctx context.Context, owner retwis.UserID,
	first *int, after *retwis.Cursor, last *int, before *retwis.Cursor,
) (*ListConnection, error) {
	page, err := pageArgs(first, after, last, before)
	if err != nil {
		return nil, err
	}
	lists, err := r.Lists.ListPage(ctx, owner, page)
	if err != nil {
		return nil, err
	}
	return listConnection(ctx, lists), nil
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

// couldOwn reports whether a list could be a user's, as far as its id tells. Where it says
// no there is nothing to read, and what is there does not show.
func couldOwn(user retwis.UserID, id retwis.ListID) bool {
	return user != 0 && user.Bucket() == id.Bucket()
}

// ownList reads a list for the viewer. To those it does not belong to it is FORBIDDEN, as
// homes are; one of the viewer's that is gone is NOT_FOUND.
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

// startOwnList begins to read a list for `node`, to which another's list is as unknown as
// one that never was.
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

// checkReader returns nil when the viewer may read a timeline.
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

// list reads a list without a loader, which a subscription that begins does not have.
func (r *Resolver) list(ctx context.Context, id retwis.ListID) (*retwis.List, error) {
	lists, err := r.Lists.Lists(ctx, []retwis.ListID{id})
	if err != nil {
		return nil, err
	}
	return lists[0], nil
}
