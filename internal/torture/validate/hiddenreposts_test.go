package validate_test

import (
	"testing"

	"retwis/internal/torture/history"
	"retwis/internal/torture/validate"
)

// hidden returns a sound history in which bob hid the reposts of alice, after one was on his home.
func hidden() *history.History {
	h := reposted()
	repost := h.Views[1].Home[0]
	h.Operations = append(h.Operations,
		history.Operation{Client: "bob", Kind: history.ReadHome, Texts: []string{repost}, Call: 70, Return: 71, Outcome: history.OK},
		choose(history.HideReposts, 72, history.Unknown),
		history.Operation{Client: "bob", Kind: history.ReadHome, Texts: []string{repost}, Call: 74, Return: 75, Outcome: history.OK},
		choose(history.HideReposts, 76, history.OK),
		history.Operation{Client: "bob", Kind: history.ReadHome, Call: 78, Return: 79, Outcome: history.OK},
		choose(history.DefaultReposts, 80, history.OK),
	)
	bob := &h.Views[1]
	bob.Home, bob.Backwards, bob.Hidden = bob.Home[1:], bob.Backwards[:2], []string{"alice"}
	h.Streams[0].Events = append(h.Streams[0].Events, history.Event{Kind: history.Reset, Texts: bob.Home})
	return h
}

// choose returns an operation of bob, who follows alice and chooses whether his home shows her reposts.
func choose(reposts history.Reposts, at int64, outcome history.Outcome) history.Operation {
	return history.Operation{Client: "bob", Kind: history.Follow, Target: "alice", Reposts: reposts, Call: at, Return: at + 1, Outcome: outcome}
}

func TestCheck_FindsPlantedErrorsOfHiddenReposts(t *testing.T) {
	t.Parallel()
	for _, v := range validate.Check(hidden()) {
		t.Errorf("a sound history: %s", v)
	}
	repost := validate.Reposting(validate.Text("erin", 1), "alice", "r")
	show := func(h *history.History) {
		h.Operations = append(h.Operations, choose(history.ShowReposts, 90, history.OK))
	}
	checkFinds(t, hidden, []planted{
		{"a home shows a hidden repost", func(h *history.History) {
			bob := &h.Views[1]
			bob.Home, bob.Backwards = append([]string{repost}, bob.Home...), append(bob.Backwards, repost)
		}, validate.Isolation},
		{"a page shows a hidden repost", func(h *history.History) { h.Operations[len(h.Operations)-2].Texts = []string{repost} }, validate.Isolation},
		{"a list lacks a hidden repost", func(h *history.History) { h.Views[1].List = h.Views[1].List[1:] }, validate.Durable},
		{"a home lacks a repost that it shows again", show, validate.Durable},
		{"a home lacks a repost after another follow", func(h *history.History) {
			h.Operations = append(h.Operations,
				history.Operation{Client: "bob", Kind: history.Unfollow, Target: "alice", Call: 90, Return: 91, Outcome: history.OK},
				choose(history.DefaultReposts, 92, history.OK))
		}, validate.Durable},
		{"a choice is lost", func(h *history.History) { h.Views[1].Hidden = nil }, validate.Durable},
		{"a subscriber is not reset", func(h *history.History) { h.Streams[0].Events = h.Streams[0].Events[:7] }, validate.Resumable},
		{"a subscriber is not reset, and its home shows the post", func(h *history.History) {
			h.Streams[0].Events = h.Streams[0].Events[:7]
			h.Operations = append(h.Operations, history.Operation{Client: "bob", Kind: history.Follow, Target: "erin", Call: 90, Return: 91, Outcome: history.OK})
			bob, text := &h.Views[1], validate.Text("erin", 1)
			bob.Home, bob.Backwards = append([]string{text}, bob.Home...), append(bob.Backwards, text)
			bob.Following, bob.Followings = append(bob.Following, "erin"), 2
			h.Streams[0].Events = append(h.Streams[0].Events, history.Event{Kind: history.Added, ID: "g", Text: text})
		}, validate.Resumable},
	})
}

func TestCheck_AllowsEitherEffectOfUnknownChoices(t *testing.T) {
	t.Parallel()
	h := hidden()
	h.Operations = append(h.Operations, choose(history.ShowReposts, 90, history.Unknown))
	for _, v := range validate.Check(h) {
		t.Errorf("still hidden: %s", v)
	}
	h = reposted()
	h.Operations = append(h.Operations, choose(history.HideReposts, 90, history.Unknown))
	for _, v := range validate.Check(h) {
		t.Errorf("still shown: %s", v)
	}
}
