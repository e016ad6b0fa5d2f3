package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const entityFields = `start end ... on TextLink { url } ... on TextMention { user { username } }`

func TestPostEntities_AreTheLinksAndMentionsOfTheText(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("Bob")
	a.mention(alice, "👋 https://example.com/@alice, @bob @gone @BOB http://é.de", bob.ID, 99)
	a.mention(alice, "nothing @bob")
	wantData(t, a.run(as(t, nil), `{ publicTimeline { posts { edges { node { entities { `+entityFields+` } } } } } }`, ""),
		`{"publicTimeline": {"posts": {"edges": [
			{"node": {"entities": []}},
			{"node": {"entities": [
				{"start": 2, "end": 28, "url": "https://example.com/@alice"},
				{"start": 30, "end": 34, "user": {"username": "Bob"}},
				{"start": 41, "end": 45, "user": {"username": "Bob"}},
				{"start": 46, "end": 57, "url": "http://é.de"}
			]}}
		]}}}`)
	if got := a.called("Users"); !slices.Equal(got, []string{"Users3"}) {
		t.Errorf("made the calls %q", got)
	}
}

func TestBioEntities_ResolveMentionsWhenRead(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	alice.Bio = "@nobody @bob, https://alice.example"
	bob.Bio = "@Alice"
	a.addPost(alice, "a post")
	a.addPost(bob, "a post")
	query := `{ newestUsers { edges { node { bioEntities { ` + entityFields + ` } } } } }`
	wantData(t, a.run(as(t, nil), query, ""), `{"newestUsers": {"edges": [
		{"node": {"bioEntities": [{"start": 0, "end": 6, "user": {"username": "alice"}}]}},
		{"node": {"bioEntities": [{"start": 8, "end": 12, "user": {"username": "bob"}}, {"start": 14, "end": 35, "url": "https://alice.example"}]}}
	]}}`)
	if got := a.called("UsersByName"); !slices.Equal(got, []string{"UsersByName3"}) {
		t.Errorf("made the calls %q", got)
	}
}

func TestBioEntities_LooksUpTenUsernames(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	for i := range 12 {
		name := fmt.Sprintf("user%02d", i)
		a.addUser(name)
		alice.Bio += "@" + name + " @" + name + " "
	}
	response := a.run(as(t, nil), `{ user(username: "alice") { bioEntities { start } } }`, "")
	if got := strings.Count(string(response.Data), "start"); got != 2*maxBioMentions || len(response.Errors) > 0 {
		t.Errorf("%d entities: %s %v", got, response.Data, response.Errors)
	}
}
