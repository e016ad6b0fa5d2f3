package graph

import (
	"context"
	"slices"

	"retwis/graph/loaders"
	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/retwis"
)

// PageInfo is the Relay PageInfo of a page.
type PageInfo struct {
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     *retwis.Cursor
	EndCursor       *retwis.Cursor
}

// PostConnection is a page of a timeline.
type PostConnection struct {
	Edges      []retwis.PostEdge
	PageInfo   PageInfo
	LiveCursor retwis.Cursor

	unread retwis.Unread // if fields beside the page ask for it
}

// UserConnection is a page of users.
type UserConnection struct {
	Edges      []retwis.Follow
	PageInfo   PageInfo
	TotalCount int
}

// pageKey names a page for [loaders.Once].
type pageKey struct {
	connection string
	of         any // what has the connection
	page       retwis.Page
}

// posts returns a page of a timeline.
func (r *Resolver) posts(ctx context.Context, timeline retwis.TimelineID, page retwis.Page) (*PostConnection, error) {
	who := auth.IdentityOf(ctx)
	page.FilterEpoch = who.FilterEpoch
	if !loaders.From(ctx).SelectsNoViewer() {
		page.Viewer = who.User
	}
	return loaders.Once(ctx, pageKey{"posts", timeline, page}, func() (*PostConnection, error) {
		posts, err := r.Timelines.Page(ctx, timeline, page)
		return postConnection(ctx, posts, page.Last > 0), err
	})
}

func postConnection(ctx context.Context, page retwis.PostPage, backward bool) *PostConnection {
	return &PostConnection{
		Edges:      page.Edges,
		PageInfo:   postPageInfo(ctx, page, backward),
		LiveCursor: page.LiveCursor,
		unread:     page.Unread,
	}
}

// postPageInfo returns the position of a page of posts, and announces the posts to the loaders.
func postPageInfo(ctx context.Context, page retwis.PostPage, backward bool) PageInfo {
	info := PageInfo{HasNextPage: page.HasNextPage, HasPreviousPage: page.HasPreviousPage}
	if n := len(page.Edges); n > 0 {
		info.StartCursor, info.EndCursor = &page.Edges[0].Cursor, &page.Edges[n-1].Cursor

		posts := make([]*retwis.Post, n)
		var reposters []retwis.UserID
		for i, edge := range page.Edges {
			posts[i] = edge.Post
			if edge.Repost != nil {
				reposters = append(reposters, edge.Repost.UserID)
			}
		}
		expectPosts(ctx, posts, reposters, page.Related)
	}
	endAt(&info, page.ScannedTo, backward)
	return info
}

// endAt makes the next page of a page that ended early begin at the last position read, which is empty for any other page.
func endAt(info *PageInfo, scannedTo retwis.Cursor, backward bool) {
	switch {
	case scannedTo == "":
	case backward:
		info.StartCursor = &scannedTo
	default:
		info.EndCursor = &scannedTo
	}
}

// expectPosts announces a page of posts, their reposters, and the known relations between the viewer and the posts to the loaders.
func expectPosts(ctx context.Context, posts []*retwis.Post, reposters []retwis.UserID, related map[retwis.PostID]retwis.Relation) {
	ids, authors := make([]retwis.PostID, len(posts)), slices.Grow(reposters, len(posts))
	var named []retwis.UserID
	for i, post := range posts {
		ids[i], authors = post.ID, append(authors, post.AuthorID)
		named = appendNamed(named, post)
	}
	keepTexts(ctx, textsOfPosts(posts))
	expectAuthors(ctx, authors, named)
	loaders.From(ctx).ExpectPosts(ids, related)
}

// expectUsers announces users of a page to the loaders.
func expectUsers(ctx context.Context, users []*retwis.User) {
	ids := make([]retwis.UserID, len(users))
	for i, user := range users {
		ids[i] = user.ID
	}
	keepTexts(ctx, textsOfUsers(users))
	loaders.From(ctx).ExpectUsers(ids)
}

// announcedPerRow is how many users are announced in the time of a row.
const announcedPerRow = 20

// expectAuthors announces the authors of posts, and the users whom these mention or answer, to the loaders.
func expectAuthors(ctx context.Context, authors, named []retwis.UserID) {
	_ = cost.Walk(ctx, (len(authors)+len(named))/announcedPerRow) // without budget, the next read fails
	loaders.From(ctx).ExpectAuthors(authors, named)
}

func userConnection(ctx context.Context, page retwis.FollowPage) *UserConnection {
	connection := &UserConnection{
		Edges:      page.Follows,
		PageInfo:   PageInfo{HasNextPage: page.HasNextPage, HasPreviousPage: page.HasPreviousPage},
		TotalCount: page.TotalCount,
	}
	if n := len(page.Follows); n > 0 {
		connection.PageInfo.StartCursor = &page.Follows[0].Cursor
		connection.PageInfo.EndCursor = &page.Follows[n-1].Cursor

		users := make([]*retwis.User, n)
		for i, follow := range page.Follows {
			users[i] = follow.User
		}
		expectUsers(ctx, users)
	}
	return connection
}

// pageArgs returns the page that the arguments of a connection ask for. It does not check whether a cursor belongs to the
// connection, except that an empty one belongs to none.
func pageArgs(first *int, after *retwis.Cursor, last *int, before *retwis.Cursor) (retwis.Page, error) {
	switch {
	case first != nil && last != nil:
		return retwis.Page{}, badInput("use either `first` or `last`, not both")
	case first != nil && before != nil:
		return retwis.Page{}, badInput("use `before` with `last`, not with `first`")
	case last != nil && after != nil:
		return retwis.Page{}, badInput("use `after` with `first`, not with `last`")
	case after != nil && before != nil:
		return retwis.Page{}, badInput("use either `after` or `before`, not both")
	case after != nil && *after == "", before != nil && *before == "":
		return retwis.Page{}, retwis.ErrBadCursor
	}
	if last != nil || before != nil {
		size, err := pageSize("last", last)
		return retwis.Page{Last: size, Before: valueOrZero(before)}, err
	}
	size, err := pageSize("first", first)
	return retwis.Page{First: size, After: valueOrZero(after)}, err
}

func pageSize(name string, n *int) (int, error) {
	if n == nil {
		return retwis.DefaultPageSize, nil
	}
	if *n < 1 || *n > retwis.MaxPageSize {
		return 0, badInput("`%s` is %d: it must be from 1 to %d", name, *n, retwis.MaxPageSize)
	}
	return *n, nil
}

func valueOrZero[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
