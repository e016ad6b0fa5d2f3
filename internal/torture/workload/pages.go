package workload

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"retwis/internal/torture/history"
	"retwis/internal/torture/validate"
)

const (
	homeQuery = `query($first: Int, $after: Cursor, $last: Int, $before: Cursor) { viewer { homeTimeline { posts(first: $first, after: $after, last: $last, before: $before) {
		liveCursor edges { entryId node { text } reason { user { username } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } } }`
	listQuery = `query($id: ID!, $after: Cursor) { node(id: $id) { ... on List {
		timeline { posts(first: 100, after: $after) { edges { entryId node { text } reason { user { username } } } pageInfo { hasNextPage endCursor } } } } } }`
	mentionsQuery = `query($after: Cursor) { viewer { mentionsTimeline { posts(first: 100, after: $after) { edges { entryId node { text } reason { user { username } } } pageInfo { hasNextPage endCursor } } } } }`
	taggedQuery   = `query($name: String!, $after: Cursor) { tag(name: $name) { timeline { posts(first: 100, after: $after) { edges { entryId node { text } reason { user { username } } } pageInfo { hasNextPage endCursor } } } } }`
	profileQuery  = `query($name: String!, $after: Cursor, $replies: Boolean!) { user(username: $name) { postCount followerCount followingCount
		timeline(includeReplies: $replies) { posts(first: 100, after: $after) { edges { entryId node { text } reason { user { username } } } pageInfo { hasNextPage endCursor } } } } }`
	followingQuery = `query($name: String!, $after: Cursor) { user(username: $name) { following(first: 100, after: $after) { edges { node { username viewerHidesReposts } } pageInfo { hasNextPage endCursor } } } }`
)

type pageInfo struct {
	HasNextPage, HasPreviousPage bool
	StartCursor, EndCursor       string
}

// entry is an edge of a timeline.
type entry struct {
	EntryID string
	Node    struct{ ID, Text string }
	Reason  *struct{ User struct{ Username string } }
}

// text returns the text that represents the entry in a history.
func (e entry) text() string {
	if e.Reason != nil {
		return validate.Reposting(e.Node.Text, e.Reason.User.Username, e.EntryID)
	}
	return e.Node.Text
}

type textEdges []entry

func (e textEdges) texts() []string {
	found := make([]string, len(e))
	for i, edge := range e {
		found[i] = edge.text()
	}
	return found
}

type nameEdges []struct {
	Node struct {
		Username           string
		ViewerHidesReposts bool // of the users whom the viewer follows
	}
}

func (e nameEdges) names() []string {
	found := make([]string, len(e))
	for i, edge := range e {
		found[i] = edge.Node.Username
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
	type page struct{ Node struct{ Timeline postsPage } }
	err = walk(ctx, u, listQuery, map[string]any{"id": u.list}, func(p *page) pageInfo {
		texts = append(texts, p.Node.Timeline.Posts.Edges.texts()...)
		return p.Node.Timeline.Posts.PageInfo
	})
	return texts, err
}

// mentioned reads the posts that mention the user.
func (u *User) mentioned(ctx context.Context) (texts []string, err error) {
	type page struct {
		Viewer struct{ MentionsTimeline postsPage }
	}
	err = walk(ctx, u, mentionsQuery, map[string]any{}, func(p *page) pageInfo {
		texts = append(texts, p.Viewer.MentionsTimeline.Posts.Edges.texts()...)
		return p.Viewer.MentionsTimeline.Posts.PageInfo
	})
	return texts, err
}

// tagged reads the posts with the user's name as a hashtag.
func (u *User) tagged(ctx context.Context) (texts []string, err error) {
	type page struct{ Tag struct{ Timeline postsPage } }
	err = walk(ctx, u, taggedQuery, map[string]any{"name": u.Name}, func(p *page) pageInfo {
		texts = append(texts, p.Tag.Timeline.Posts.Edges.texts()...)
		return p.Tag.Timeline.Posts.PageInfo
	})
	return texts, err
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
	if v.Tagged, err = u.tagged(ctx); err != nil {
		return v, err
	}
	if err := u.profile(ctx, &v, &v.Profile, false); err != nil {
		return v, err
	}
	if err := u.profile(ctx, &v, &v.Replies, true); err != nil {
		return v, err
	}
	return v, u.followed(ctx, &v)
}

// profile reads the counters of the user, and the user's posts and continuations, or all replies too.
func (u *User) profile(ctx context.Context, v *history.View, texts *[]string, replies bool) error {
	type page struct {
		User struct {
			PostCount, FollowerCount, FollowingCount int
			Timeline                                 postsPage
		}
	}
	return walk(ctx, u, profileQuery, map[string]any{"name": u.Name, "replies": replies}, func(p *page) pageInfo {
		v.Posts, v.Followers, v.Followings = p.User.PostCount, p.User.FollowerCount, p.User.FollowingCount
		*texts = append(*texts, p.User.Timeline.Posts.Edges.texts()...)
		return p.User.Timeline.Posts.PageInfo
	})
}

// followed reads whom the user follows, and whose reposts the home does not show.
func (u *User) followed(ctx context.Context, v *history.View) error {
	type page struct {
		User struct {
			Following struct {
				Edges    nameEdges
				PageInfo pageInfo
			}
		}
	}
	return walk(ctx, u, followingQuery, map[string]any{"name": u.Name}, func(p *page) pageInfo {
		v.Following = append(v.Following, p.User.Following.Edges.names()...)
		for _, edge := range p.User.Following.Edges {
			if edge.Node.ViewerHidesReposts {
				v.Hidden = append(v.Hidden, edge.Node.Username)
			}
		}
		return p.User.Following.PageInfo
	})
}

// walk reads all pages of a connection forwards. The query has the variable after.
func walk[Page any](ctx context.Context, u *User, query string, variables map[string]any, add func(*Page) pageInfo) error {
	for {
		var page Page
		if err := u.persist(ctx, query, variables, &page); err != nil {
			return err
		}
		info := add(&page)
		if !info.HasNextPage {
			return nil
		}
		variables["after"] = info.EndCursor
	}
}

// persist repeats a read until it succeeds, is refused, or ctx is done.
func (u *User) persist(ctx context.Context, query string, variables map[string]any, into any) error {
	for {
		err := u.api.call(ctx, rand.Uint64(), u.token, query, variables, into)
		if err == nil {
			return nil
		}
		if errors.Is(err, errRefused) {
			return fmt.Errorf("read as %s: %w", u.Name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("read as %s: %w", u.Name, err)
		case <-time.After(retryAfter):
		}
	}
}
