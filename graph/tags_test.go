package graph

import (
	"slices"
	"testing"

	"retwis/internal/retwis"
)

const hashtagFields = `start end ... on TextHashtag { name tag { name } }`

func TestPostEntities_HaveHashtags(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	a.tagPost(alice, "#Go and #ÉTÉ")
	a.tagPost(alice, "👋 #go https://example.com/#x #été #GO! @alice#no").Mentions = []retwis.UserID{alice.ID}
	a.addPost(alice, "#go before there were hashtags")
	wantData(t, a.run(as(t, nil), `{ publicTimeline { posts { edges { node { entities { `+hashtagFields+` } } } } } }`, ""),
		`{"publicTimeline": {"posts": {"edges": [
			{"node": {"entities": [{"start": 0, "end": 3, "name": "go", "tag": null}]}},
			{"node": {"entities": [
				{"start": 2, "end": 5, "name": "go", "tag": {"name": "Go"}},
				{"start": 6, "end": 28},
				{"start": 29, "end": 33, "name": "été", "tag": {"name": "ÉTÉ"}},
				{"start": 34, "end": 37, "name": "GO", "tag": {"name": "Go"}},
				{"start": 39, "end": 45}
			]}},
			{"node": {"entities": [
				{"start": 0, "end": 3, "name": "Go", "tag": {"name": "Go"}},
				{"start": 8, "end": 12, "name": "ÉTÉ", "tag": {"name": "ÉTÉ"}}
			]}}
		]}}}`)
	if got := a.called("Tags"); !slices.Equal(got, []string{"Tags2"}) {
		t.Errorf("made the calls %q", got)
	}
	a.run(as(t, nil), `{ publicTimeline { posts { edges { node { entities { ... on TextHashtag { name } } } } } } }`, "")
	if got := a.called("Tags"); len(got) != 1 {
		t.Errorf("read hashtags for their names in texts: %q", got)
	}
}

// A hashtag that was dropped and created again has another id.
func TestPostEntities_HaveNoHashtagThatWasDropped(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	a.tagPost(alice, "#go #redis")
	a.tags[0] = &retwis.Tag{ID: 7, Name: "go"}
	wantData(t, a.run(as(t, nil), `{ publicTimeline { posts { edges { node { entities { `+hashtagFields+` } } } } } }`, ""),
		`{"publicTimeline": {"posts": {"edges": [{"node": {"entities": [
			{"start": 0, "end": 3, "name": "go", "tag": null}, {"start": 4, "end": 10, "name": "redis", "tag": {"name": "redis"}}
		]}}]}}}`)
}

// A later version may find other hashtags in a text than the one that stored the post.
func TestPostEntities_HaveNoHashtagWithAnotherName(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	p := a.tagPost(a.addUser("alice"), "#go #redis")
	slices.Reverse(p.Tags)
	wantData(t, a.run(as(t, nil), `{ publicTimeline { posts { edges { node { entities { `+hashtagFields+` } } } } } }`, ""),
		`{"publicTimeline": {"posts": {"edges": [{"node": {"entities": [
			{"start": 0, "end": 3, "name": "go", "tag": null}, {"start": 4, "end": 10, "name": "redis", "tag": null}
		]}}]}}}`)
}

func TestBioEntities_HaveNoHashtags(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	a.addUser("alice").Bio = "#go"
	wantData(t, a.run(as(t, nil), `{ user(username: "alice") { bioEntities { start } } }`, ""), `{"user": {"bioEntities": []}}`)
}

func TestTag_IsFoundByItsNameAndID(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	a.tagPost(alice, "one #Straße")
	a.addPost(alice, "another post")
	a.tagPost(alice, "two #STRASSE")
	timeline := retwis.TagPosts(a.tags[0].ID)
	const fields = `id name timeline { id kind owner { id } marker unreadCount posts { edges { node { text } } } }`
	want := `{"id": "` + globalTagID(a.tags[0].ID) + `", "name": "Straße", "timeline": {"id": "` + globalTimelineID(timeline) + `", "kind": "TAG",
		"owner": null, "marker": null, "unreadCount": null, "posts": {"edges": [{"node": {"text": "two #STRASSE"}}, {"node": {"text": "one #Straße"}}]}}}`
	for _, name := range []string{"straße", "#STRASSE", "ｓｔｒａｓｓｅ"} {
		wantData(t, a.run(as(t, nil), `query($name: String!) { tag(name: $name) { `+fields+` } }`, `{"name": "`+name+`"}`), `{"tag": `+want+`}`)
	}
	for _, name := range []string{"go", "", "#", "##strasse", "1", "two words", "strasse "} {
		wantData(t, a.run(as(t, nil), `query($name: String!) { tag(name: $name) { id } }`, `{"name": "`+name+`"}`), `{"tag": null}`)
	}
	wantData(t, a.run(as(t, nil), `{ nodes(ids: ["`+globalTagID(a.tags[0].ID)+`", "`+globalTimelineID(timeline)+`", "`+globalTagID(7)+`", "`+globalTimelineID(retwis.TagPosts(7))+`"]) {
		... on Tag { `+fields+` } ... on Timeline { id } } }`, ""), `{"nodes": [`+want+`, {"id": "`+globalTimelineID(timeline)+`"}, null, null]}`)
}
