package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"retwis/internal/torture/history"
)

const (
	homeQuery = `query($first: Int, $after: Cursor, $last: Int, $before: Cursor) { viewer { homeTimeline { posts(first: $first, after: $after, last: $last, before: $before) {
		liveCursor edges { node { text } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } } }`
	listQuery = `query($id: ID!, $after: Cursor) { node(id: $id) { ... on List {
		timeline { posts(first: 100, after: $after) { edges { node { text } } pageInfo { hasNextPage endCursor } } } } } }`
	mentionsQuery = `query($after: Cursor) { viewer { mentionsTimeline { posts(first: 100, after: $after) { edges { node { text } } pageInfo { hasNextPage endCursor } } } } }`
	profileQuery  = `query($name: String!, $after: Cursor) { user(username: $name) { postCount followerCount followingCount
		timeline { posts(first: 100, after: $after) { edges { node { text } } pageInfo { hasNextPage endCursor } } } } }`
	followingQuery = `query($name: String!, $after: Cursor) { user(username: $name) { following(first: 100, after: $after) { edges { node { username } } pageInfo { hasNextPage endCursor } } } }`
)

type pageInfo struct {
	HasNextPage, HasPreviousPage bool
	StartCursor, EndCursor       string
}

type textEdges []struct{ Node struct{ Text string } }

func (e textEdges) texts() []string {
	found := make([]string, len(e))
	for i, edge := range e {
		found[i] = edge.Node.Text
	}
	return found
}

type postsPage struct {
	Posts struct {
		Edges    textEdges
		PageInfo pageInfo
	}
}

type homePage struct {
	Viewer struct {
		HomeTimeline struct {
			Posts struct {
				LiveCursor string
				Edges      textEdges
				PageInfo   pageInfo
			}
		}
	}
}

// readHome reads the first page of the home, once.
func (u *User) readHome(ctx context.Context) {
	o := history.Operation{Client: u.Name, Kind: history.ReadHome, Call: u.recorder.Now(), Outcome: history.OK}
	var page homePage
	if err := u.api.call(ctx, rand.Uint64(), u.token, homeQuery, map[string]any{"first": 50}, &page); err != nil {
		return // a failed read gives no information
	}
	o.Texts, o.Return = page.Viewer.HomeTimeline.Posts.Edges.texts(), u.recorder.Now()
	u.recorder.Operation(o)
}

// home reads the whole home forwards. It returns the texts and the live cursor of the first page.
func (u *User) home(ctx context.Context) (texts []string, cursor string, err error) {
	variables := map[string]any{"first": 100}
	for {
		var page homePage
		if err := u.persist(ctx, homeQuery, variables, &page); err != nil {
			return nil, "", err
		}
		posts := page.Viewer.HomeTimeline.Posts
		if cursor == "" {
			cursor = posts.LiveCursor
		}
		texts = append(texts, posts.Edges.texts()...)
		if !posts.PageInfo.HasNextPage {
			return texts, cursor, nil
		}
		variables = map[string]any{"first": 100, "after": posts.PageInfo.EndCursor}
	}
}

// backwards reads the whole home from its oldest post on.
func (u *User) backwards(ctx context.Context) (texts []string, err error) {
	variables := map[string]any{"last": 100}
	for {
		var page homePage
		if err := u.persist(ctx, homeQuery, variables, &page); err != nil {
			return nil, err
		}
		posts := page.Viewer.HomeTimeline.Posts
		found := posts.Edges.texts()
		slices.Reverse(found)
		texts = append(texts, found...)
		if !posts.PageInfo.HasPreviousPage {
			return texts, nil
		}
		variables = map[string]any{"last": 100, "before": posts.PageInfo.StartCursor}
	}
}

// listed reads the timeline of the user's list.
func (u *User) listed(ctx context.Context) (texts []string, err error) {
	for after := any(nil); ; {
		var data struct{ Node struct{ Timeline postsPage } }
		if err := u.persist(ctx, listQuery, map[string]any{"id": u.list, "after": after}, &data); err != nil {
			return nil, err
		}
		posts := data.Node.Timeline.Posts
		if texts = append(texts, posts.Edges.texts()...); !posts.PageInfo.HasNextPage {
			return texts, nil
		}
		after = posts.PageInfo.EndCursor
	}
}

// mentioned reads the posts that mention the user.
func (u *User) mentioned(ctx context.Context) (texts []string, err error) {
	for after := any(nil); ; {
		var data struct {
			Viewer struct{ MentionsTimeline postsPage }
		}
		if err := u.persist(ctx, mentionsQuery, map[string]any{"after": after}, &data); err != nil {
			return nil, err
		}
		posts := data.Viewer.MentionsTimeline.Posts
		if texts = append(texts, posts.Edges.texts()...); !posts.PageInfo.HasNextPage {
			return texts, nil
		}
		after = posts.PageInfo.EndCursor
	}
}

// view reads the timelines and counters of the user.
func (u *User) view(ctx context.Context) (v history.View, err error) {
	v.User = u.Name
	if v.Home, _, err = u.home(ctx); err != nil {
		return v, err
	}
	if v.Backwards, err = u.backwards(ctx); err != nil {
		return v, err
	}
	if u.list != "" {
		if v.List, err = u.listed(ctx); err != nil {
			return v, err
		}
	}
	if v.Mentions, err = u.mentioned(ctx); err != nil {
		return v, err
	}
	for after := any(nil); ; {
		var data struct {
			User struct {
				PostCount, FollowerCount, FollowingCount int
				Timeline                                 struct {
					Posts struct {
						Edges    textEdges
						PageInfo pageInfo
					}
				}
			}
		}
		if err := u.persist(ctx, profileQuery, map[string]any{"name": u.Name, "after": after}, &data); err != nil {
			return v, err
		}
		v.Posts, v.Followers, v.Followings = data.User.PostCount, data.User.FollowerCount, data.User.FollowingCount
		v.Profile = append(v.Profile, data.User.Timeline.Posts.Edges.texts()...)
		if !data.User.Timeline.Posts.PageInfo.HasNextPage {
			break
		}
		after = data.User.Timeline.Posts.PageInfo.EndCursor
	}
	for after := any(nil); ; {
		var data struct {
			User struct {
				Following struct {
					Edges    []struct{ Node struct{ Username string } }
					PageInfo pageInfo
				}
			}
		}
		if err := u.persist(ctx, followingQuery, map[string]any{"name": u.Name, "after": after}, &data); err != nil {
			return v, err
		}
		for _, edge := range data.User.Following.Edges {
			v.Following = append(v.Following, edge.Node.Username)
		}
		if !data.User.Following.PageInfo.HasNextPage {
			return v, nil
		}
		after = data.User.Following.PageInfo.EndCursor
	}
}

// persist repeats a read until it succeeds or ctx is done.
func (u *User) persist(ctx context.Context, query string, variables map[string]any, into any) error {
	for {
		err := u.api.call(ctx, rand.Uint64(), u.token, query, variables, into)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("read as %s: %w", u.Name, err)
		case <-time.After(retryAfter):
		}
	}
}
