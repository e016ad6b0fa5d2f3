package graph

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"retwis/graph/loaders"
	"retwis/internal/retwis"
)

func TestViewerLists_ArePaged(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	one, two := a.addList(alice, "one"), a.addList(alice, "two")
	a.addList(bob, "bob's")
	three := a.addList(alice, "three")
	const query = `query($first: Int, $after: Cursor, $last: Int, $before: Cursor) { viewer {
		lists(first: $first, after: $after, last: $last, before: $before) {
			edges { cursor node { name } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
		}
	} }`
	want := func(next, previous bool, lists ...*kept) string {
		var edges []string
		for _, k := range lists {
			edges = append(edges, fmt.Sprintf(`{"cursor": %q, "node": {"name": %q}}`, listCursor(k), k.Name))
		}
		return fmt.Sprintf(`{"viewer": {"lists": {"edges": [%s], "pageInfo": {
			"hasNextPage": %t, "hasPreviousPage": %t, "startCursor": %q, "endCursor": %q}}}}`,
			strings.Join(edges, ","), next, previous, listCursor(lists[0]), listCursor(lists[len(lists)-1]))
	}
	tests := []struct{ name, variables, want string }{
		{"by default", `{}`, want(false, false, three, two, one)},
		{"the first", `{"first": 2}`, want(true, false, three, two)},
		{"the first after one", fmt.Sprintf(`{"first": 1, "after": %q}`, listCursor(three)), want(true, true, two)},
		{"the last", `{"last": 1}`, want(false, true, one)},
		{"all before one", fmt.Sprintf(`{"before": %q}`, listCursor(one)), want(true, false, three, two)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantData(t, a.run(as(t, alice), query, tt.variables), tt.want)
		})
	}
	for _, variables := range []string{`{"first": 101}`, `{"first": 1, "last": 1}`, `{"after": "x"}`, `{"after": ""}`} {
		err := wantError(t, a.run(as(t, alice), query, variables), "BAD_USER_INPUT")
		if err.Path.String() != "viewer.lists" {
			t.Errorf("%s: got an error at %s", variables, err.Path)
		}
	}
	t.Run("none", func(t *testing.T) {
		wantData(t, a.run(as(t, a.addUser("carol")), query, ""), `{"viewer": {"lists": {"edges": [], "pageInfo": {
			"hasNextPage": false, "hasPreviousPage": false, "startCursor": null, "endCursor": null}}}}`)
	})
}

func TestList_ReturnsItsFields(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob, carol := a.addUser("alice"), a.addUser("bob"), a.addUser("carol")
	a.addPost(bob, "from bob")
	a.addPost(alice, "from alice")
	a.addPost(carol, "from carol")
	list := a.addList(alice, "Friends", bob, carol)
	a.addFollow(alice, carol)

	wantData(t, a.run(as(t, alice), `{ viewer { lists { edges { node {
			__typename id name createdAt owner { username }
			members { totalCount edges { followedAt node { username viewerFollows } } }
			timeline { id kind owner { username } posts { edges { node { text } } liveCursor } }
		} } } } }`, ""), fmt.Sprintf(`{"viewer": {"lists": {"edges": [{"node": {
			"__typename": "List", "id": %q, "name": "Friends", "createdAt": "2026-01-01T01:00:00.000Z", "owner": {"username": "alice"},
			"members": {"totalCount": 2, "edges": [
				{"followedAt": "2026-01-01T01:00:02.000Z", "node": {"username": "carol", "viewerFollows": true}},
				{"followedAt": "2026-01-01T01:00:01.000Z", "node": {"username": "bob", "viewerFollows": false}}
			]},
			"timeline": {"id": %q, "kind": "LIST", "owner": {"username": "alice"},
				"posts": {"edges": [{"node": {"text": "from carol"}}, {"node": {"text": "from bob"}}], "liveCursor": %q}}
		}}]}}}`, globalListID(list.ID), globalTimelineID(retwis.ListPosts(list.ID)),
		retwis.TimelinePosition{Timeline: retwis.ListPosts(list.ID), Element: retwis.Plain(a.posts[0].ID)}.Cursor()))
	if got := a.called("Lists", "Users"); !slices.Equal(got, []string{"Users1"}) {
		t.Errorf("made the calls %q, although the page contains the lists", got)
	}

	t.Run("a page of members", func(t *testing.T) {
		place := a.membersOf(retwis.ListMembers(list.ID))[0].Cursor
		query := `query($id: ID!, $after: Cursor, $first: Int) { node(id: $id) { ... on List {
			members(first: $first, after: $after) { totalCount edges { node { username } } pageInfo { hasNextPage hasPreviousPage } } } } }`
		wantData(t, a.run(as(t, alice), query, fmt.Sprintf(`{"id": %q, "after": %q}`, globalListID(list.ID), place)),
			`{"node": {"members": {"totalCount": 2, "edges": [{"node": {"username": "bob"}}],
				"pageInfo": {"hasNextPage": false, "hasPreviousPage": true}}}}`)
		wantError(t, a.run(as(t, alice), query, fmt.Sprintf(`{"id": %q, "first": 0}`, globalListID(list.ID))), "BAD_USER_INPUT")
	})
}

func TestListHasMember_ReadsOnceForManyLists(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(Options{})
		alice, bob, carol := a.addUser("alice"), a.addUser("bob"), a.addUser("carol")
		a.addList(alice, "nobody")
		a.addList(alice, "bob", bob)
		list := a.addList(alice, "both", bob, carol)
		const query = `query($bob: ID!, $carol: ID!) { viewer { lists { edges { node {
			name bob: hasMember(userId: $bob) carol: hasMember(userId: $carol)
		} } } } }`
		ids := fmt.Sprintf(`{"bob": %q, "carol": %q}`, globalUserID(bob.ID), globalUserID(carol.ID))
		wantData(t, a.run(as(t, alice), query, ids), `{"viewer": {"lists": {"edges": [
			{"node": {"name": "both", "bob": true, "carol": true}},
			{"node": {"name": "bob", "bob": true, "carol": false}},
			{"node": {"name": "nobody", "bob": false, "carol": false}}
		]}}}`)
		if got := a.called("Memberships"); !slices.Equal(got, []string{"Memberships6"}) {
			t.Errorf("made the calls %q, want one for all", got)
		}

		const one = `query($list: ID!, $id: ID!) { node(id: $list) { ... on List { hasMember(userId: $id) } } }`
		for _, id := range []string{globalListID(list.ID), "nonsense", globalUserID(bob.ID + 999*retwis.Buckets)} {
			wantData(t, a.run(as(t, alice), one, fmt.Sprintf(`{"list": %q, "id": %q}`, globalListID(list.ID), id)),
				`{"node": {"hasMember": false}}`)
		}
	})
}

const nodesOrTimelines = `query($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Timeline { kind owner { username } } } }`

func TestNodes_ReadListsTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(Options{})
		alice := a.addUser("alice")
		list, gone := a.addList(alice, "Friends"), a.addList(alice, deleted)
		wantData(t, a.run(as(t, alice), nodesOrTimelines, listsAndTimelines(list, gone)), fmt.Sprintf(`{"nodes": [
			{"__typename": "List", "id": %q},
			{"__typename": "Timeline", "id": %q, "kind": "LIST", "owner": {"username": "alice"}}, null, null
		]}`, globalListID(list.ID), globalTimelineID(retwis.ListPosts(list.ID))))
		if got := a.called("Lists"); !slices.Equal(got, []string{"Lists2"}) {
			t.Errorf("made the calls %q, want one for the two lists", got)
		}
	})
}

// listsAndTimelines returns the variables of [nodesOrTimelines].
func listsAndTimelines(lists ...*kept) string {
	var ids []string
	for _, k := range lists {
		ids = append(ids, strconv.Quote(globalListID(k.ID)), strconv.Quote(globalTimelineID(retwis.ListPosts(k.ID))))
	}
	return `{"ids": [` + strings.Join(ids, ", ") + `]}`
}

func TestList_IsHiddenFromOthers(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	list, gone := a.addList(alice, "Friends", bob), a.addList(alice, deleted)
	for name, reader := range map[string]*retwis.User{"a member": bob, "an anonymous viewer": nil} {
		t.Run(name, func(t *testing.T) {
			wantData(t, a.run(as(t, reader), nodesOrTimelines, listsAndTimelines(list, gone)), `{"nodes": [null, null, null, null]}`)
		})
	}

	t.Run("for each path to a timeline", func(t *testing.T) {
		tests := []struct {
			name   string
			reader *retwis.User
			list   *kept
			want   error
		}{
			{"anonymously", nil, list, retwis.ErrForbidden},
			{"another's", bob, list, retwis.ErrForbidden},
			{"one that is gone", alice, gone, retwis.ErrNotFound},
		}
		for _, tt := range tests {
			r := a.resolver()
			ctx := r.sources().With(as(t, tt.reader), loaders.ListWait)
			timeline := &retwis.Timeline{ID: retwis.ListPosts(tt.list.ID)}
			if _, err := r.Timeline().Posts(ctx, timeline, nil, nil, nil, nil); !errors.Is(err, tt.want) {
				t.Errorf("%s: its posts are the error %v, want %v", tt.name, err, tt.want)
			}
			if _, err := r.Timeline().Owner(ctx, timeline); !errors.Is(err, tt.want) {
				t.Errorf("%s: its owner is the error %v, want %v", tt.name, err, tt.want)
			}
		}
		if got := a.called("Page"); len(got) > 0 {
			t.Errorf("made the calls %q", got)
		}
	})
}

func TestTimelineEvents_OfListsRequireTheOwner(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	list, gone, tagged := a.addList(alice, "Friends", bob), a.addList(alice, deleted), a.tagPost(bob, "#go")
	variables := func(timeline retwis.TimelineID) string { return fmt.Sprintf(`{"id": %q}`, globalTimelineID(timeline)) }

	t.Run("for their owner", func(t *testing.T) {
		for _, timeline := range []retwis.TimelineID{retwis.ListPosts(list.ID), retwis.Mentions(alice.ID), retwis.TagPosts(tagged.Tags[0])} {
			responses, ctx := a.start(as(t, alice), eventsQuery, variables(timeline))
			a.live[timeline].Take(&retwis.CaughtUp{Cursor: "c"})
			wantData(t, responses(ctx), `{"events": {"__typename": "TimelineCaughtUp", "cursor": "c", "replayed": 0}}`)
		}
	})

	before := len(a.called("Attach"))
	tests := []struct {
		name, want string
		timeline   retwis.TimelineID
		reader     *retwis.User
	}{
		{"a list, anonymously", "FORBIDDEN", retwis.ListPosts(list.ID), nil},
		{"another's list", "FORBIDDEN", retwis.ListPosts(list.ID), bob},
		{"a list that is gone", "NOT_FOUND", retwis.ListPosts(gone.ID), alice},
		{"a list that may be of another owner", "FORBIDDEN", retwis.ListPosts(gone.ID + 1), alice},
		{"mentions, anonymously", "FORBIDDEN", retwis.Mentions(alice.ID), nil},
		{"another's mentions", "FORBIDDEN", retwis.Mentions(alice.ID), bob},
		{"a hashtag that does not exist", "NOT_FOUND", retwis.TagPosts(7), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			responses, ctx := a.start(as(t, tt.reader), eventsQuery, variables(tt.timeline))
			wantError(t, responses(ctx), tt.want)
		})
	}
	if got := a.called("Attach")[before:]; len(got) > 0 {
		t.Errorf("made the calls %q", got)
	}

	t.Run("when lists cannot be read", func(t *testing.T) {
		a.fail["Lists"] = errors.New("broken")
		responses, ctx := a.start(as(t, alice), eventsQuery, variables(retwis.ListPosts(list.ID)))
		wantError(t, responses(ctx), "INTERNAL_SERVER_ERROR")
	})
}
