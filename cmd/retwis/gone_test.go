package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestSubscribersLearnThatATimelineIsGone deletes a list and an account whose timelines
// are watched by others, and by another device.
func TestSubscribersLearnThatATimelineIsGone(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL=memory"))
	reader, author := register(t, p.url, "reader"), register(t, p.url, "author")
	var made struct {
		Data struct {
			CreateList struct {
				List struct {
					ID       string
					Timeline struct{ ID string }
				}
			}
			User struct{ Timeline struct{ ID string } }
		}
	}
	reader.decode(&made, `mutation { createList(input: {name: "friends"}) { list { id timeline { id } } userErrors { code } } }`, nil)
	reader.decode(&made, `{ user(username: "author") { timeline { id } } }`, nil)

	list, profile := made.Data.CreateList.List, made.Data.User.Timeline.ID
	ofList, ofProfile := reader.watchTimeline(list.Timeline.ID), reader.watchTimeline(profile)
	reader.do(`mutation ($id: ID!) { deleteList(input: {listId: $id}) { userErrors { code } } }`, map[string]any{"id": list.ID})
	ofList.expectGone()
	author.do(`mutation ($password: String!) { deleteAccount(input: {password: $password}) { userErrors { code } } }`,
		map[string]any{"password": somePassword})
	ofProfile.expectGone()
	p.stop()
}

// decode sends an operation that has to succeed, and reads what comes of it.
func (c *client) decode(into any, document string, variables map[string]any) {
	c.t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		c.t.Fatal(err)
	}
	_, text := c.request("POST", "/graphql", body, "Content-Type: application/json", "Authorization: Bearer "+c.token)
	if err := json.Unmarshal(text, into); err != nil || strings.Contains(string(text), `"errors"`) {
		c.t.Fatalf("%v: %s", err, text)
	}
}

// watchTimeline subscribes to a timeline, and waits until that is live.
func (c *client) watchTimeline(id string) *stream {
	c.t.Helper()
	s := c.open()
	s.send(map[string]any{"type": "subscribe", "id": "1", "payload": map[string]any{
		"query": `subscription ($id: ID!) { timelineEvents(timelineId: $id) { __typename cursor } }`, "variables": map[string]any{"id": id},
	}})
	s.expect("TimelineCaughtUp")
	return s
}

// expectGone reads the end of a subscription whose timeline was deleted.
func (s *stream) expectGone() {
	s.t.Helper()
	m := s.read()
	if m.Type != "error" || !strings.Contains(string(m.Payload), `"code":"NOT_FOUND"`) || !strings.Contains(string(m.Payload), "was deleted") {
		s.t.Errorf("got %s %s", m.Type, m.Payload)
	}
}
