package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"retwis/internal/retwis"
)

// mention adds a post that mentions users.
func (a *api) mention(author *retwis.User, text string, users ...retwis.UserID) *retwis.Post {
	p := a.addPost(author, text)
	p.Mentions = users
	return p
}

func TestPostMentions_ReturnsExistingUsers(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	a.addPost(alice, "nobody")
	a.mention(alice, "@bob @gone @alice", bob.ID, 99, alice.ID)
	a.mention(bob, "@gone", 99)
	wantData(t, a.run(as(t, nil), `{ publicTimeline { posts { edges { node { text mentions { username } } } } } }`, ""),
		`{"publicTimeline": {"posts": {"edges": [
			{"node": {"text": "@gone", "mentions": []}},
			{"node": {"text": "@bob @gone @alice", "mentions": [{"username": "bob"}, {"username": "alice"}]}},
			{"node": {"text": "nobody", "mentions": []}}
		]}}}`)
}

func TestPostPage_ReadsMentionedUsersOnce(t *testing.T) {
	t.Parallel()
	query := func(fields string) string {
		return `{ publicTimeline { posts { edges { node { ` + fields + ` } } } } }`
	}
	a := newAPI(Options{})
	alice := a.addUser("alice")
	for i := range 10 {
		named := a.addUser(fmt.Sprint("user", i))
		a.mention(alice, "text", named.ID, alice.ID)
		a.mention(alice, "text", named.ID)
	}
	tests := []struct {
		name, fields string
		mentioned    int
		want         []string
	}{
		{"nothing about them", "author { username }", 0, []string{"Users1"}},
		{"their names", "author { username } mentions { username }", 30, []string{"Users11"}},
		{"all about them", "mentions { username viewerFollows followsViewer }", 30,
			[]string{"FollowedBy11", "Follows11", "Users11"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := len(a.called("Users", "Follow"))
			response := a.run(as(t, alice), query(tt.fields), "")
			if len(response.Errors) > 0 || strings.Count(string(response.Data), `"username"`) < tt.mentioned {
				t.Fatalf("got %s %v", response.Data, response.Errors)
			}
			got := a.called("Users", "Follow")[before:]
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("made the calls %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMentionsTimeline_IsForItsOwner(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	a.mention(bob, "@alice", alice.ID)
	a.mention(alice, "@bob", bob.ID)
	id := globalTimelineID(retwis.Mentions(alice.ID))
	want := `{"id": "` + id + `", "kind": "MENTIONS", "owner": {"username": "alice"}, "posts": {"edges": [{"node": {"text": "@alice"}}]}}`
	const fields = `id kind owner { username } posts { edges { node { text } } }`

	wantData(t, a.run(as(t, alice), `{ viewer { mentionsTimeline { `+fields+` } } }`, ""), `{"viewer": {"mentionsTimeline": `+want+`}}`)
	node := `{ node(id: "` + id + `") { ... on Timeline { ` + fields + ` } } }`
	wantData(t, a.run(as(t, alice), node, ""), `{"node": `+want+`}`)
	for _, reader := range []*retwis.User{nil, bob} {
		wantData(t, a.run(as(t, reader), node, ""), `{"node": null}`)
	}
}

func TestCreatePost_ReturnsMentionedUsers(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	a.mention(alice, "one", bob.ID)
	a.keys[alice.ID.String()+"k"] = a.posts[0].ID
	wantData(t, a.run(as(t, alice), `mutation { createPost(input: {text: "one", idempotencyKey: "k"}) {
			edge { node { mentions { username followsViewer } } } } }`, ""),
		`{"createPost": {"edge": {"node": {"mentions": [{"username": "bob", "followsViewer": false}]}}}}`)
}
