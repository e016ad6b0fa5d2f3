package validate_test

import (
	"testing"

	"retwis/internal/torture/history"
	"retwis/internal/torture/validate"
)

// reposted returns a sound history in which alice, whom bob follows and has on a list, reposted a post of erin.
func reposted() *history.History {
	h := sound()
	post := validate.Text("erin", 1)
	repost := validate.Reposting(post, "alice", "r")
	h.Operations = append(h.Operations,
		history.Operation{Client: "erin", Kind: history.Post, Text: post, Key: "1", ID: "g", Call: 60, Return: 61, Outcome: history.OK},
		history.Operation{Client: "alice", Kind: history.Repost, Target: post, Call: 62, Return: 63, Outcome: history.OK},
	)
	alice, bob := &h.Views[0], &h.Views[1]
	for _, list := range []*[]string{&alice.Home, &alice.Profile, &alice.Replies, &bob.Home, &bob.List} {
		*list = append([]string{repost}, *list...)
	}
	alice.Backwards, bob.Backwards = append(alice.Backwards, repost), append(bob.Backwards, repost)
	h.Streams[0].Events = append(h.Streams[0].Events, history.Event{Kind: history.Added, ID: "r", Text: repost})
	h.Threads = append(h.Threads, history.Thread{Text: post, Reposts: 1})
	return h
}

func TestCheck_FindsPlantedErrorsOfReposts(t *testing.T) {
	t.Parallel()
	for _, v := range validate.Check(reposted()) {
		t.Errorf("a sound history: %s", v)
	}
	undo := func(h *history.History) {
		h.Operations = append(h.Operations, history.Operation{
			Client: "alice", Kind: history.UndoRepost, Target: validate.Text("erin", 1), Call: 70, Return: 71, Outcome: history.OK,
		})
	}
	checkFinds(t, reposted, []planted{
		{"a home lacks a repost", func(h *history.History) {
			h.Views[1].Home, h.Views[1].Backwards = h.Views[1].Home[1:], h.Views[1].Backwards[:2]
		}, validate.Durable},
		{"a profile lacks a repost", func(h *history.History) { h.Views[0].Profile = h.Views[0].Profile[1:] }, validate.Durable},
		{"a repost that was undone is back", undo, validate.NoResurrection},
		{"a repost of a deleted post is shown", func(h *history.History) {
			h.Operations = append(h.Operations, history.Operation{
				Client: "erin", Kind: history.Delete, Text: validate.Text("erin", 1), ID: "g", Call: 70, Return: 71, Outcome: history.OK,
			})
		}, validate.NoResurrection},
		{"a repost of somebody not followed is shown", func(h *history.History) { h.Operations[0].Kind = history.Unfollow }, validate.Isolation},
		{"mentions hold a repost", func(h *history.History) { h.Views[1].Mentions = append(h.Views[1].Mentions, h.Views[1].Home[0]) }, validate.Isolation},
		{"a repost is shown twice", func(h *history.History) { h.Views[1].List = append(h.Views[1].List, h.Views[1].List[0]) }, validate.ExactlyOnce},
		{"a user has two reposts of a post", func(h *history.History) {
			h.Views[1].List = append(h.Views[1].List, validate.Reposting(validate.Text("erin", 1), "alice", "s"))
		}, validate.ExactlyOnce},
		{"a repost is delivered twice", func(h *history.History) {
			h.Streams[0].Events = append(h.Streams[0].Events, h.Streams[0].Events[6])
		}, validate.ExactlyOnce},
		{"a subscriber misses a repost", func(h *history.History) { h.Streams[0].Events = h.Streams[0].Events[:6] }, validate.Resumable},
		{"a subscriber misses that a repost was undone", func(h *history.History) {
			undo(h)
			for i := range h.Views {
				v := &h.Views[i]
				for _, list := range []*[]string{&v.Home, &v.Backwards, &v.Profile, &v.Replies, &v.List} {
					*list = validate.WithoutReposts(*list)
				}
			}
		}, validate.Resumable},
		{"repostCount is wrong", func(h *history.History) { h.Threads[2].Reposts = 2 }, validate.Counts},
	})
}
