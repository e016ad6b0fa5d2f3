package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"retwis/internal/retwis"
)

// These are the sets of users of the fake backend.

func (f followsOf) CommonFollowers(_ context.Context, of, with retwis.UserID, page retwis.Page) (retwis.FollowPage, error) {
	return f.userSet("CommonFollowers", retwis.CommonFollowers(of, with), page, func(e follow) bool {
		return e.author == of && f.has(e.reader, with)
	})
}

func (f followsOf) KnownFollowers(_ context.Context, of, viewer retwis.UserID, page retwis.Page) (retwis.FollowPage, error) {
	return f.userSet("KnownFollowers", retwis.KnownFollowers(of, viewer), page, func(e follow) bool {
		return e.author == of && f.has(viewer, e.reader)
	})
}

func (f followsOf) has(reader, author retwis.UserID) bool {
	return slices.ContainsFunc(f.w.follows, func(e follow) bool { return e.reader == reader && e.author == author })
}

// userSet returns one page of the readers of some follows.
func (f followsOf) userSet(call string, set retwis.UserSet, page retwis.Page, in func(follow) bool) (retwis.FollowPage, error) {
	err := f.w.begin(call, page.First, " ", page.Last)
	defer f.w.mu.Unlock()
	if err != nil {
		return retwis.FollowPage{}, err
	}
	var all []retwis.Follow
	for _, e := range f.w.follows {
		if in(e) {
			cursor := retwis.UserSetPosition{Set: set, Score: e.at.UnixMicro(), User: e.reader}.Cursor()
			all = append(all, retwis.Follow{Cursor: cursor, User: f.w.user(e.reader), FollowedAt: e.at})
		}
	}
	found, more, err := cut(all, page, func(e retwis.Follow) retwis.Cursor { return e.Cursor })
	return retwis.FollowPage{Follows: found, HasNextPage: more.next, HasPreviousPage: more.previous, TotalCount: len(all)}, err
}

func (w *fakeBackend) NewestUsers(_ context.Context, page retwis.Page) (retwis.FollowPage, error) {
	err := w.begin("NewestUsers", page.First, " ", page.Last)
	defer w.mu.Unlock()
	if err != nil {
		return retwis.FollowPage{}, err
	}
	var all []retwis.Follow
	for _, u := range slices.Backward(w.users) {
		at := retwis.UserSetPosition{Set: retwis.NewestUsers(), Score: u.CreatedAt.UnixMilli(), User: u.ID}
		all = append(all, retwis.Follow{Cursor: at.Cursor(), User: u})
	}
	found, more, err := cut(all, page, func(e retwis.Follow) retwis.Cursor { return e.Cursor })
	return retwis.FollowPage{Follows: found, HasNextPage: more.next, HasPreviousPage: more.previous, TotalCount: len(all)}, err
}

func (w *fakeBackend) SearchUsers(_ context.Context, prefix string, page retwis.Page) (retwis.FollowPage, error) {
	err := w.begin("SearchUsers", prefix, " ", page.First)
	defer w.mu.Unlock()
	if err != nil {
		return retwis.FollowPage{}, err
	}
	var all []retwis.Follow
	for _, u := range w.users { // sorted by name
		if strings.HasPrefix(u.Username, prefix) {
			all = append(all, retwis.Follow{Cursor: retwis.NameCursor(u.Username), User: u})
		}
	}
	found, more, err := cut(all, page, func(e retwis.Follow) retwis.Cursor { return e.Cursor })
	return retwis.FollowPage{Follows: found, HasNextPage: more.next, HasPreviousPage: more.previous, TotalCount: len(all)}, err
}

func (w *fakeBackend) FindUsers(_ context.Context, query string, count int) ([]*retwis.User, error) {
	err := w.begin("FindUsers", query, " ", count)
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var found []*retwis.User
	for _, u := range w.users {
		if strings.Contains(u.DisplayName, query) {
			found = append(found, w.user(u.ID))
		}
	}
	return found, nil
}

func TestFindUsers_ReturnsMatches(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	a.addUser("ann").DisplayName = "Ann Example"
	a.addUser("bob")
	wantData(t, a.run(as(t, nil), `{ findUsers(query: "Exam") { username } }`, ""), `{"findUsers": [{"username": "ann"}]}`)
	wantData(t, a.run(as(t, nil), `{ findUsers(query: "nobody") { username } }`, ""), `{"findUsers": []}`)
	wantError(t, a.run(as(t, nil), `{ findUsers(query: "`+strings.Repeat("a", 257)+`") { username } }`, ""), "BAD_USER_INPUT")
	if got := a.called("FindUsers"); !slices.Equal(got, []string{"FindUsersExam 20", "FindUsersnobody 20"}) {
		t.Errorf("made the calls %q", got)
	}
}

func TestCommonFollowers_ArePaged(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob, carol, dave := a.addUser("alice"), a.addUser("bob"), a.addUser("carol"), a.addUser("dave")
	a.addFollow(carol, alice)
	a.addFollow(dave, alice)
	a.addFollow(dave, bob)
	a.addFollow(carol, bob)

	const query = `query($with: ID!, $first: Int, $after: Cursor, $last: Int, $before: Cursor) { user(username: "alice") {
		commonFollowers(with: $with, first: $first, after: $after, last: $last, before: $before) {
			totalCount edges { followedAt node { username } } pageInfo { hasNextPage hasPreviousPage endCursor }
		} } }`
	cursor := retwis.UserSetPosition{
		Set: retwis.CommonFollowers(alice.ID, bob.ID), Score: a.follows[2].at.UnixMicro(), User: dave.ID,
	}.Cursor()
	wantData(t, a.run(as(t, nil), query, fmt.Sprintf(`{"with": %q, "first": 1}`, globalUserID(bob.ID))), fmt.Sprintf(`{"user": {
		"commonFollowers": {"totalCount": 2, "pageInfo": {"hasNextPage": true, "hasPreviousPage": false, "endCursor": %q},
			"edges": [{"followedAt": "2026-01-01T00:02:00.000Z", "node": {"username": "dave"}}]} }}`, cursor))
	wantData(t, a.run(as(t, nil), `query($with: ID!, $after: Cursor) { user(username: "alice") {
			commonFollowers(with: $with, after: $after) { edges { node { username } } } } }`,
		fmt.Sprintf(`{"with": %q, "after": %q}`, globalUserID(bob.ID), cursor)),
		`{"user": {"commonFollowers": {"edges": [{"node": {"username": "carol"}}]} }}`)

	before := len(a.called("CommonFollowers"))
	tests := []struct{ name, variables, want string }{
		{"with a missing user", fmt.Sprintf(`{"with": %q}`, globalUserID(99)), "NOT_FOUND"},
		{"with a post", fmt.Sprintf(`{"with": %q}`, globalPostID(99)), "NOT_FOUND"},
		{"with no id", `{"with": ""}`, "NOT_FOUND"},
		{"in both directions", fmt.Sprintf(`{"with": %q, "first": 1, "last": 1}`, globalUserID(bob.ID)), "BAD_USER_INPUT"},
		{"too many", fmt.Sprintf(`{"with": %q, "last": 101}`, globalUserID(bob.ID)), "BAD_USER_INPUT"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := wantError(t, a.run(as(t, nil), query, tt.variables), tt.want)
			if got := err.Path.String(); got != "user.commonFollowers" {
				t.Errorf("got an error at %s", got)
			}
		})
	}
	if got := a.called("CommonFollowers")[before:]; len(got) > 0 {
		t.Errorf("made the calls %q", got)
	}
}

func TestFollowersYouKnow_ArePaged(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob, carol, dave := a.addUser("alice"), a.addUser("bob"), a.addUser("carol"), a.addUser("dave")
	a.addFollow(carol, alice)
	a.addFollow(dave, alice)
	a.addFollow(bob, carol)

	const query = `query($first: Int, $last: Int) { user(username: "alice") { followersYouKnow(first: $first, last: $last) {
		totalCount edges { followedAt node { username } } pageInfo { hasNextPage hasPreviousPage startCursor }
	} } }`
	const nobody = `{"user": {"followersYouKnow": {"totalCount": 0, "edges": [],
		"pageInfo": {"hasNextPage": false, "hasPreviousPage": false, "startCursor": null}} }}`
	wantData(t, a.run(as(t, bob), query, ""), fmt.Sprintf(`{"user": {"followersYouKnow": {"totalCount": 1,
		"edges": [{"followedAt": "2026-01-01T00:01:00.000Z", "node": {"username": "carol"}}],
		"pageInfo": {"hasNextPage": false, "hasPreviousPage": false, "startCursor": %q}} }}`, retwis.UserSetPosition{
		Set: retwis.KnownFollowers(alice.ID, bob.ID), Score: a.follows[2].at.UnixMicro(), User: carol.ID,
	}.Cursor()))
	wantData(t, a.run(as(t, dave), query, ""), nobody)
	before := len(a.called("KnownFollowers"))
	wantData(t, a.run(as(t, nil), query, ""), nobody)
	for _, variables := range []string{`{"first": 0}`, `{"first": 1, "last": 1}`} {
		wantError(t, a.run(as(t, nil), query, variables), "BAD_USER_INPUT")
	}
	if got := a.called("KnownFollowers")[before:]; len(got) > 0 {
		t.Errorf("made the calls %q for an anonymous viewer", got)
	}
}

func TestNewestUsers_ArePaged(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	for _, name := range []string{"alice", "bob", "carol"} {
		a.addUser(name)
	}
	const query = `query($first: Int, $after: Cursor, $last: Int, $before: Cursor) {
		newestUsers(first: $first, after: $after, last: $last, before: $before) {
			totalCount edges { followedAt node { username } } pageInfo { hasNextPage hasPreviousPage endCursor }
		} }`
	bob := retwis.UserSetPosition{Set: retwis.NewestUsers(), Score: a.users[1].CreatedAt.UnixMilli(), User: a.users[1].ID}.Cursor()
	wantData(t, a.run(as(t, nil), query, `{"first": 2}`), fmt.Sprintf(`{"newestUsers": {"totalCount": 3, "edges": [
		{"followedAt": null, "node": {"username": "carol"}}, {"followedAt": null, "node": {"username": "bob"}}],
		"pageInfo": {"hasNextPage": true, "hasPreviousPage": false, "endCursor": %q}}}`, bob))
	wantData(t, a.run(as(t, nil), `query($before: Cursor) { newestUsers(before: $before) { edges { node { username } } } }`,
		fmt.Sprintf(`{"before": %q}`, bob)), `{"newestUsers": {"edges": [{"node": {"username": "carol"}}]}}`)
	for _, variables := range []string{`{"first": 101}`, `{"first": 1, "last": 1}`, `{"after": "x"}`, `{"before": ""}`} {
		response := a.run(as(t, nil), query, variables)
		wantError(t, response, "BAD_USER_INPUT")
		wantJSON(t, string(response.Data), `{"newestUsers": null}`)
	}
}

func TestSearchUsers_ArePaged(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	for _, name := range []string{"ann", "anna", "bob"} {
		a.addUser(name)
	}
	const query = `query($prefix: String!, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
		searchUsers(prefix: $prefix, first: $first, after: $after, last: $last, before: $before) {
		totalCount edges { cursor followedAt node { username } } pageInfo { hasNextPage hasPreviousPage endCursor }
	} }`
	ann, anna := retwis.NameCursor("ann"), retwis.NameCursor("anna")
	wantData(t, a.run(as(t, nil), query, `{"prefix": "an", "first": 1}`), fmt.Sprintf(`{"searchUsers": {"totalCount": 2,
		"edges": [{"cursor": %[1]q, "followedAt": null, "node": {"username": "ann"}}],
		"pageInfo": {"hasNextPage": true, "hasPreviousPage": false, "endCursor": %[1]q}}}`, ann))
	wantData(t, a.run(as(t, nil), query, fmt.Sprintf(`{"prefix": "an", "first": 1, "after": %q}`, ann)), fmt.Sprintf(`{"searchUsers": {
		"totalCount": 2, "edges": [{"cursor": %[1]q, "followedAt": null, "node": {"username": "anna"}}],
		"pageInfo": {"hasNextPage": false, "hasPreviousPage": true, "endCursor": %[1]q}}}`, anna))
	wantData(t, a.run(as(t, nil), `{ searchUsers(prefix: "c") { totalCount edges { cursor } } }`, ""),
		`{"searchUsers": {"totalCount": 0, "edges": []}}`)
	calls := []string{"SearchUsersan 1", "SearchUsersan 1", "SearchUsersc 20"}
	for _, variables := range []string{
		`{"prefix": ""}`, `{"prefix": "@ann"}`, `{"prefix": "a b"}`, `{"prefix": "\u00e9"}`, `{"prefix": "a23456789012345678901"}`,
		`{"prefix": "a", "first": 0}`, `{"prefix": "a", "first": 51}`, `{"prefix": "a", "first": 101}`,
		`{"prefix": "a", "after": ""}`, `{"prefix": "a", "last": 51}`, `{"prefix": "a", "first": 1, "last": 1}`,
	} {
		wantError(t, a.run(as(t, nil), query, variables), "BAD_USER_INPUT")
	}
	if got := a.called("SearchUsers"); !slices.Equal(got, calls) {
		t.Errorf("made the calls %q, want %q", got, calls)
	}
}
