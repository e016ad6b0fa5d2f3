package main

import (
	"testing"
)

// TestSubscription_EndsWhenItsTimelineIsDeleted deletes a list and an account while clients subscribe to their
// timelines.
func TestSubscription_EndsWhenItsTimelineIsDeleted(t *testing.T) {
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
