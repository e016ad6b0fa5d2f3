package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"retwis/internal/retwis"
)

// markTimeline returns the mutation that marks a timeline at a post.
func markTimeline(id retwis.TimelineID, at retwis.TimelineID, post retwis.PostID) string {
	return fmt.Sprintf(`mutation { markTimelineRead(input: {timelineId: %q, cursor: %q}) {
		timeline { id unreadCount marker } userErrors { code field } } }`,
		globalTimelineID(id), retwis.TimelinePosition{Timeline: at, Element: retwis.Plain(post)}.Cursor())
}

func TestMarkTimelineRead_MovesTheMarker(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	list := a.addList(alice, "friends", bob)
	var posts []*retwis.Post
	for range 4 {
		p := a.addPost(bob, "text")
		p.Mentions = []retwis.UserID{alice.ID}
		posts = append(posts, p)
	}
	for _, id := range []retwis.TimelineID{retwis.Home(alice.ID), retwis.Mentions(alice.ID), retwis.ListPosts(list.ID)} {
		wantData(t, a.run(as(t, alice), markTimeline(id, id, posts[2].ID), ""), fmt.Sprintf(
			`{"markTimelineRead": {"timeline": {"id": %q, "unreadCount": 1, "marker": %q}, "userErrors": []}}`,
			globalTimelineID(id), *retwis.MarkerCursor(id, retwis.Plain(posts[2].ID))))
		wantData(t, a.run(as(t, alice), `query($id: ID!) { node(id: $id) { ... on Timeline { unreadCount marker } } }`,
			fmt.Sprintf(`{"id": %q}`, globalTimelineID(id))), fmt.Sprintf(
			`{"node": {"unreadCount": 1, "marker": %q}}`, *retwis.MarkerCursor(id, retwis.Plain(posts[2].ID))))
	}
}

func TestMarkTimelineRead_RefusesOtherTimelines(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	post := a.addPost(bob, "text").ID
	foreign := a.addList(bob, "bob's")
	home := retwis.Home(alice.ID)
	tests := []struct {
		name     string
		id, at   retwis.TimelineID
		code, of string
	}{
		{"the home of another user", retwis.Home(bob.ID), retwis.Home(bob.ID), "NOT_FOUND", "timelineId"},
		{"the mentions of another user", retwis.Mentions(bob.ID), retwis.Mentions(bob.ID), "NOT_FOUND", "timelineId"},
		{"a list of another user", retwis.ListPosts(foreign.ID), retwis.ListPosts(foreign.ID), "NOT_FOUND", "timelineId"},
		{"a profile", retwis.Profile(alice.ID), retwis.Profile(alice.ID), "INVALID", "timelineId"},
		{"the public timeline", retwis.Public(), retwis.Public(), "INVALID", "timelineId"},
		{"a cursor of another timeline", home, retwis.Mentions(alice.ID), "INVALID", "cursor"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantData(t, a.run(as(t, alice), markTimeline(tt.id, tt.at, post), ""), fmt.Sprintf(
				`{"markTimelineRead": {"timeline": null, "userErrors": [{"code": %q, "field": ["input", %q]}]}}`, tt.code, tt.of))
		})
	}
	wantError(t, a.run(t.Context(), markTimeline(home, home, post), ""), "UNAUTHENTICATED")
	if len(a.markers) > 0 {
		t.Errorf("marked %v", a.markers)
	}
}

func TestUnreadCount_IsCheckedAndNullWithoutAMarker(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	a.addPost(alice, "text")
	wantData(t, a.run(as(t, alice), `{ publicTimeline { unreadCount marker } user(username: "alice") { timeline { unreadCount marker } } }`, ""),
		`{"publicTimeline": {"unreadCount": null, "marker": null}, "user": {"timeline": {"unreadCount": null, "marker": null}}}`)
	wantData(t, a.run(as(t, alice), `{ viewer { homeTimeline { unreadCount marker } } }`, ""),
		`{"viewer": {"homeTimeline": {"unreadCount": 1, "marker": null}}}`)
	for _, atMost := range []int{0, -1, 101} {
		wantError(t, a.run(as(t, alice), fmt.Sprintf(`{ viewer { homeTimeline { unreadCount(atMost: %d) } } }`, atMost), ""), "BAD_USER_INPUT")
	}
}

// A count and a marker take no read of their own if a page is selected beside them.
func TestUnreadCount_SharesTheReadOfAPage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		selection string
		variables string
		want      []string // calls
	}{
		{`posts { liveCursor }`, ``, []string{"Page 20 0 0"}},
		{`unreadCount posts { liveCursor }`, ``, []string{"Page 20 0 99"}},
		{`posts(first: 2) { liveCursor } n: unreadCount(atMost: 7) marker`, ``, []string{"Page 2 0 7"}},
		{`marker posts(last: 3) { liveCursor }`, ``, []string{"Page 0 3 1"}},
		{`a: unreadCount(atMost: 7) b: unreadCount(atMost: $n) posts(first: $size) { liveCursor }`, `{"n": 9, "size": 5}`, []string{"Page 5 0 9"}},
		{`a: posts(first: 1) { liveCursor } b: posts(first: 2) { liveCursor } unreadCount`, ``, []string{"Page 1 0 99", "Page 2 0 0"}},
		{`...F unreadCount`, ``, []string{"Page 20 0 99"}},
		{`unreadCount(atMost: 3) marker`, ``, []string{"Unread 3"}},
		{`marker`, ``, []string{"Unread 0"}},
	}
	for _, tt := range tests {
		for _, unplanned := range []bool{false, true} {
			a := newAPI(Options{Unplanned: unplanned})
			alice := a.addUser("alice")
			a.addPost(alice, "text")
			query := `{ viewer { homeTimeline { ` + tt.selection + ` } } }`
			if strings.Contains(query, "$n") {
				query = `query($n: Int, $size: Int) ` + query
			}
			if strings.Contains(query, "...F") {
				query += ` fragment F on Timeline { posts { liveCursor } }`
			}
			response := a.run(as(t, alice), query, tt.variables)
			if len(response.Errors) > 0 {
				t.Fatalf("%s: %v", tt.selection, response.Errors)
			}
			calls := a.called("Page", "Unread")
			for i := range calls {
				calls[i] = strings.Replace(calls[i], retwis.Home(alice.ID).String()+" ", " ", 1)
				calls[i] = strings.Join(strings.Fields(calls[i]), " ")
			}
			slices.Sort(calls)
			if !slices.Equal(calls, tt.want) {
				t.Errorf("%s, unplanned %t: called %q, want %q", tt.selection, unplanned, calls, tt.want)
			}
		}
	}
}
