package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"retwis/internal/redistest"
)

// TestForeignCursorsAndIDs_RevealNothing uses cursors and ids of another user, and variations of them.
func TestForeignCursorsAndIDs_RevealNothing(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL="+redistest.Server(t).URL()))
	victim, thief := register(t, p.url, "victim"), register(t, p.url, "thief")
	victim.follow(thief)
	var seen struct {
		Data struct {
			Viewer struct {
				ID, HomeID   string
				HomeTimeline timeline
				Sessions     []openSession
			}
			User       struct{ ID string }
			CreateList struct{ List struct{ ID string } }
		}
	}
	for _, text := range []string{"one", "two", "three"} {
		victim.createPost(text)
	}
	victim.decode(&seen, `mutation { createList(input: {name: "secret"}) { list { id } } }`, nil)
	victim.decode(&seen, `{ viewer { id sessions { id } homeTimeline { id posts { edges { cursor node { id } } liveCursor } } } user(username: "victim") { id } }`, nil)
	home := seen.Data.Viewer.HomeTimeline

	cursors := []string{"", "x", "null", "0", strings.Repeat("A", 10_000), home.Posts.LiveCursor, home.Posts.Edges[0].Cursor}
	for _, cursor := range cursors[5:] {
		for i := range len(cursor) {
			cursors = append(cursors, cursor[:i], cursor[:i]+"A"+cursor[i+1:], cursor[:i]+"\x00"+cursor[i:])
		}
		if raw, err := base64.RawURLEncoding.DecodeString(cursor); err == nil {
			for i := range raw {
				changed := slices.Clone(raw)
				changed[i] ^= 0x11
				cursors = append(cursors, base64.RawURLEncoding.EncodeToString(changed))
			}
		}
	}
	const pages = `query ($c: Cursor) {
		viewer { homeTimeline { posts(after: $c) { edges { node { text } } } } mentions: mentionsTimeline { posts(before: $c) { liveCursor } } lists(after: $c) { edges { cursor } } }
		publicTimeline { posts(before: $c) { liveCursor } }
		user(username: "victim") { timeline { posts(after: $c) { liveCursor } } followers(after: $c) { totalCount } following(before: $c) { totalCount } }
		newestUsers(after: $c) { totalCount }
	}`
	for _, cursor := range cursors {
		_, a := thief.post(pages, map[string]any{"c": cursor})
		for _, err := range a.Errors {
			if err.Extensions.Code != "BAD_USER_INPUT" {
				t.Errorf("the cursor %.80q: %s: %s", cursor, err.Extensions.Code, err.Message)
			}
		}
		if a.Data.Viewer != nil && len(a.Data.Viewer.HomeTimeline.Posts.Edges) > 0 {
			t.Errorf("the cursor %.80q reveals %+v", cursor, a.Data.Viewer.HomeTimeline)
		}
	}
	s := thief.open()
	for i, cursor := range []string{home.Posts.LiveCursor, home.Posts.Edges[0].Cursor, "x", home.Posts.LiveCursor[:10]} {
		for j, timeline := range []*string{nil, &home.ID} {
			s.send(map[string]any{"type": "subscribe", "id": fmt.Sprint(i, j), "payload": map[string]any{
				"query":     `subscription ($id: ID, $after: Cursor) { timelineEvents(timelineId: $id, after: $after) { cursor } }`,
				"variables": map[string]any{"id": timeline, "after": cursor},
			}})
			want := "BAD_USER_INPUT"
			if timeline != nil {
				want = "FORBIDDEN"
			}
			if m := s.read(); m.Type != "error" || !strings.Contains(string(m.Payload), want) {
				t.Errorf("a subscription after %s receives %s %s", cursor, m.Type, m.Payload)
			}
		}
	}

	private := []string{home.ID, seen.Data.Viewer.ID, seen.Data.CreateList.List.ID, seen.Data.Viewer.Sessions[0].ID}
	ids := slices.Clone(private)
	for _, id := range append(private, seen.Data.User.ID, home.Posts.Edges[0].Node.ID) {
		for i := range len(id) {
			ids = append(ids, id[:i], id[:i]+"A"+id[i+1:])
		}
	}
	for _, kind := range []string{"Viewer", "Timeline", "List", "Session", "Outbox", "SessionKey", ""} {
		for _, key := range []string{"0", "-1", "1", "h1", "9223372036854775807", "99999999999999999999", "*", "\n", "1:2", "..", "{}"} {
			ids = append(ids, base64.RawURLEncoding.EncodeToString([]byte(kind+":"+key)))
		}
	}
	for chunk := range slices.Chunk(ids, 100) {
		var got struct {
			Data struct {
				Nodes []*struct {
					Typename string `json:"__typename"`
					ID       string
				}
			}
		}
		thief.decode(&got, `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }`, map[string]any{"ids": chunk})
		for i, node := range got.Data.Nodes {
			if node != nil && (node.ID != chunk[i] || slices.Contains(private, node.ID) || slices.Contains([]string{"Viewer", "List", "Session"}, node.Typename)) {
				t.Errorf("the id %q reveals %+v", chunk[i], node)
			}
		}
	}
	const writes = `mutation ($id: ID!) {
		deletePost(input: {postId: $id}) { userErrors { code } } followUser(input: {userId: $id}) { userErrors { code } }
		deleteList(input: {listId: $id}) { userErrors { code } } revokeSession(input: {sessionId: $id}) { userErrors { code } }
	}`
	for _, id := range append(private, "", "x", strings.Repeat("A", 10_000)) {
		got, text := thief.request("POST", "/graphql", mustJSON(t, map[string]any{"query": writes, "variables": map[string]any{"id": id}}),
			"Content-Type: application/json", "Authorization: Bearer "+thief.token)
		if got.status != http.StatusOK || strings.Count(string(text), "NOT_FOUND") != 4 || len(text) > 4<<10 {
			t.Errorf("mutations of %.80q: %d %.300s", id, got.status, text)
		}
	}
	victim.do(`{ viewer { id } }`, nil) // the session still exists
	victim.awaitHome("three", "two", "one")
	p.stop()
}
