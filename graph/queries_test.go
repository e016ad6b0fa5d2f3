package graph

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/retwis"
)

func TestUser_ReturnsUserByName(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	alice.Bio = "“Hi”\n"
	a.addPost(alice, "one")
	a.addFollow(bob, alice)

	const query = `query($name: String!) { user(username: $name) {
		__typename id username displayName bio createdAt postCount followerCount followingCount
		viewerFollows followsViewer timeline { id kind owner { username } }
	} }`
	want := func(viewerFollows, followsViewer bool) string {
		return fmt.Sprintf(`{"user": {
			"__typename": "User", "id": %q, "username": "alice", "displayName": "ALICE", "bio": "“Hi”\n",
			"createdAt": "2026-01-01T01:00:00.000Z", "postCount": 1, "followerCount": 1, "followingCount": 0,
			"viewerFollows": %t, "followsViewer": %t,
			"timeline": {"id": %q, "kind": "PROFILE", "owner": {"username": "alice"}}
		}}`, globalUserID(alice.ID), viewerFollows, followsViewer, globalTimelineID(retwis.Profile(alice.ID)))
	}

	t.Run("for an anonymous viewer", func(t *testing.T) {
		wantData(t, a.run(as(t, nil), query, `{"name": "alice"}`), want(false, false))
	})
	t.Run("to a follower", func(t *testing.T) {
		wantData(t, a.run(as(t, bob), query, `{"name": "ALICE"}`), want(true, false))
	})
	t.Run("to themselves", func(t *testing.T) {
		wantData(t, a.run(as(t, alice), query, `{"name": "alice"}`), want(false, false))
	})
	t.Run("a followed user", func(t *testing.T) {
		wantData(t, a.run(as(t, alice), `{ user(username: "bob") { viewerFollows followsViewer } }`, ""),
			`{"user": {"viewerFollows": false, "followsViewer": true}}`)
	})
	t.Run("a missing user", func(t *testing.T) {
		wantData(t, a.run(as(t, nil), query, `{"name": "carol"}`), `{"user": null}`)
	})
}

func TestViewer_ReturnsTheViewer(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	const query = `{ viewer { id user { username } homeTimeline { kind owner { username } posts { edges { node { text } } } } } }`

	wantData(t, a.run(as(t, nil), query, ""), `{"viewer": null}`)

	a.addPost(alice, "one")
	wantData(t, a.run(as(t, alice), query, ""), fmt.Sprintf(`{"viewer": {
		"id": %q, "user": {"username": "alice"},
		"homeTimeline": {"kind": "HOME", "owner": {"username": "alice"}, "posts": {"edges": [{"node": {"text": "one"}}]}}
	}}`, globalViewerID(alice.ID)))
}

func TestTimelinePosts_ArePaged(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	var cursors []retwis.Cursor // newest first
	for i := range 5 {
		p := a.addPost(alice, fmt.Sprint("post ", i+1))
		cursors = append([]retwis.Cursor{edge(retwis.Public(), p).Cursor}, cursors...)
	}
	const query = `query($first: Int, $after: Cursor, $last: Int, $before: Cursor) { publicTimeline {
		kind owner { id }
		posts(first: $first, after: $after, last: $last, before: $before) {
			edges { cursor node { text } }
			pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
			liveCursor
		}
	} }`
	want := func(from, to int, next, previous bool) string {
		edges := ""
		for i := from; i < to; i++ {
			if edges != "" {
				edges += ","
			}
			edges += fmt.Sprintf(`{"cursor": %q, "node": {"text": "post %d"}}`, cursors[i], 5-i)
		}
		return fmt.Sprintf(`{"publicTimeline": {"kind": "PUBLIC", "owner": null, "posts": {
			"edges": [%s], "liveCursor": %q,
			"pageInfo": {"hasNextPage": %t, "hasPreviousPage": %t, "startCursor": %q, "endCursor": %q}
		}}}`, edges, cursors[0], next, previous, cursors[from], cursors[to-1])
	}

	tests := []struct {
		name, variables, want string
	}{
		{"by default", `{}`, want(0, 5, false, false)},
		{"the first", `{"first": 2}`, want(0, 2, true, false)},
		{"the first after one", fmt.Sprintf(`{"first": 2, "after": %q}`, cursors[1]), want(2, 4, true, true)},
		{"all after one", fmt.Sprintf(`{"after": %q}`, cursors[1]), want(2, 5, false, true)},
		{"the last", `{"last": 2}`, want(3, 5, false, true)},
		{"the last before one", fmt.Sprintf(`{"last": 2, "before": %q}`, cursors[3]), want(1, 3, true, true)},
		{"all before one", fmt.Sprintf(`{"before": %q}`, cursors[3]), want(0, 3, true, false)},
		{"null is left out", fmt.Sprintf(`{"first": null, "after": null, "last": 1, "before": %q}`, cursors[1]), want(0, 1, true, false)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantData(t, a.run(as(t, nil), query, tt.variables), tt.want)
		})
	}

	t.Run("an empty timeline has a live cursor and no others", func(t *testing.T) {
		bob := a.addUser("bob")
		wantData(t, a.run(as(t, nil), `{ user(username: "bob") { timeline { posts {
				edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } liveCursor } } } }`, ""),
			fmt.Sprintf(`{"user": {"timeline": {"posts": {"edges": [], "liveCursor": %q,
				"pageInfo": {"hasNextPage": false, "hasPreviousPage": false, "startCursor": null, "endCursor": null}}}}}`,
				retwis.TimelinePosition{Timeline: retwis.Profile(bob.ID)}.Cursor()))
	})
	t.Run("bad arguments", func(t *testing.T) {
		for _, variables := range []string{
			`{"first": 0}`, `{"first": 101}`, `{"first": -1}`, `{"first": 3000000000}`, `{"last": 0}`, `{"first": 1, "last": 1}`,
			`{"after": "none"}`, `{"after": ""}`, `{"before": ""}`,
		} {
			response := a.run(as(t, nil), query, variables)
			err := wantError(t, response, "BAD_USER_INPUT")
			if got := err.Path.String(); got != "publicTimeline.posts" {
				t.Errorf("%s: got an error at %s", variables, got)
			}
			if want := []gqlerror.Location{{Line: 3, Column: 3}}; !slices.Equal(err.Locations, want) {
				t.Errorf("%s: got an error at %v, want %v", variables, err.Locations, want)
			}
			wantJSON(t, string(response.Data), `{"publicTimeline": null}`)
		}
	})
}

func TestFollowConnections_ArePaged(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob, carol := a.addUser("alice"), a.addUser("bob"), a.addUser("carol")
	a.addFollow(bob, alice)
	a.addFollow(carol, alice)
	a.addFollow(alice, carol)

	const query = `query($name: String!, $first: Int) { user(username: $name) {
		followers(first: $first) { totalCount edges { followedAt node { username } } pageInfo { hasNextPage } }
		following(first: $first) { totalCount edges { followedAt node { username } } pageInfo { hasNextPage } }
	} }`
	wantData(t, a.run(as(t, nil), query, `{"name": "alice", "first": 1}`), `{"user": {
		"followers": {"totalCount": 2, "pageInfo": {"hasNextPage": true},
			"edges": [{"followedAt": "2026-01-01T00:02:00.000Z", "node": {"username": "carol"}}]},
		"following": {"totalCount": 1, "pageInfo": {"hasNextPage": false},
			"edges": [{"followedAt": "2026-01-01T00:03:00.000Z", "node": {"username": "carol"}}]}
	}}`)

	first := retwis.FollowPosition{
		Connection: retwis.FollowConnection{Kind: retwis.Followers, User: alice.ID},
		Score:      a.follows[1].at.UnixMicro(), User: carol.ID,
	}.Cursor()
	wantData(t, a.run(as(t, nil), `query($after: Cursor!) { user(username: "alice") { followers(after: $after) {
			pageInfo { hasPreviousPage startCursor } edges { node { username } } } } }`, fmt.Sprintf(`{"after": %q}`, first)),
		fmt.Sprintf(`{"user": {"followers": {"edges": [{"node": {"username": "bob"}}],
			"pageInfo": {"hasPreviousPage": true, "startCursor": %q}}}}`, retwis.FollowPosition{
			Connection: retwis.FollowConnection{Kind: retwis.Followers, User: alice.ID},
			Score:      a.follows[2].at.UnixMicro(), User: bob.ID,
		}.Cursor()))

	for _, field := range []string{"followers", "following"} {
		response := a.run(as(t, nil), `{ user(username: "alice") { `+field+`(first: 2, last: 2) { totalCount } } }`, "")
		wantError(t, response, "BAD_USER_INPUT")
	}
}

func TestHomeTimeline_IsHiddenFromOthers(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	home := &retwis.Timeline{ID: retwis.Home(alice.ID)}
	for _, reader := range []*retwis.User{nil, bob} {
		if _, err := a.resolver().Timeline().Posts(as(t, reader), home, nil, nil, nil, nil); !errors.Is(err, retwis.ErrForbidden) {
			t.Errorf("another reader got the error %v", err)
		}
	}
	if len(a.calls) > 0 {
		t.Errorf("made the calls %q", a.calls)
	}
}
