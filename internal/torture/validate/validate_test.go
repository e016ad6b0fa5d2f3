package validate_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"retwis/internal/torture/history"
	"retwis/internal/torture/validate"
)

// sound returns a history without violations: bob follows alice, who created three posts and deleted the second one.
// Carol was unfollowed, so that bob's home does not show what alice answered her.
func sound() *history.History {
	one, two, three, gone := validate.Text("alice", 1), validate.Text("alice", 2), validate.Mentioning(validate.Text("alice", 3), "bob"), validate.Text("dave", 1)
	answer := validate.Answering(validate.Text("alice", 5), validate.Text("carol", 1))
	home := []string{three, one}
	return &history.History{
		Operations: []history.Operation{
			{Client: "bob", Kind: history.Follow, Target: "alice", Call: 1, Return: 2, Outcome: history.OK},
			{Client: "bob", Kind: history.Follow, Target: "carol", Call: 3, Return: 4, Outcome: history.Unknown},
			{Client: "bob", Kind: history.Follow, Target: "carol", Call: 5, Return: 6, Outcome: history.OK},
			{Client: "bob", Kind: history.ReadFollow, Target: "carol", Follows: true, Call: 7, Return: 8, Outcome: history.OK},
			{Client: "bob", Kind: history.Unfollow, Target: "carol", Call: 9, Return: 10, Outcome: history.OK},
			{Client: "alice", Kind: history.Post, Text: one, Key: "1", ID: "a", Call: 11, Return: 12, Outcome: history.OK},
			{Client: "alice", Kind: history.Post, Text: two, Key: "2", Call: 13, Return: 14, Outcome: history.Unknown},
			{Client: "alice", Kind: history.Post, Text: two, Key: "2", ID: "b", Call: 15, Return: 16, Outcome: history.OK},
			{Client: "bob", Kind: history.ReadHome, Texts: []string{two, one}, Call: 17, Return: 18, Outcome: history.OK},
			{Client: "alice", Kind: history.Delete, Text: two, ID: "b", Call: 19, Return: 20, Outcome: history.OK},
			{Client: "alice", Kind: history.Post, Text: three, Key: "3", ID: "c", Call: 21, Return: 22, Outcome: history.OK},
			{Client: "bob", Kind: history.AddMember, Target: "alice", Call: 23, Return: 24, Outcome: history.OK},
			{Client: "bob", Kind: history.Follow, Target: "dave", Call: 25, Return: 26, Outcome: history.OK},
			{Client: "bob", Kind: history.AddMember, Target: "dave", Call: 27, Return: 28, Outcome: history.OK},
			{Client: "dave", Kind: history.Post, Text: gone, Key: "1", ID: "e", Call: 29, Return: 30, Outcome: history.OK},
			{Client: "dave", Kind: history.Leave, Call: 31, Return: 32, Outcome: history.Unknown},
			{Client: "dave", Kind: history.Leave, Call: 33, Return: 34, Outcome: history.Refused},
			{Client: "alice", Kind: history.Post, Text: answer, Key: "5", ID: "f", Call: 35, Return: 36, Outcome: history.OK},
			{Client: "bob", Kind: history.Like, Target: three, Call: 37, Return: 38, Outcome: history.OK},
		},
		Streams: []history.Stream{{Client: "bob", Events: []history.Event{
			{Kind: history.Reset}, {Kind: history.Added, ID: "a", Text: one}, {Kind: history.Added, ID: "b", Text: two},
			{Kind: history.Removed, ID: "b", Text: two}, {Kind: history.Connected}, {Kind: history.Added, ID: "c", Text: three},
		}}},
		Views: []history.View{
			{
				User: "alice", Home: []string{answer, three, one}, Backwards: []string{one, three, answer}, Profile: home,
				Replies: []string{answer, three, one}, Posts: 3, Followers: 1,
			},
			{
				User: "bob", Home: home, Backwards: []string{one, three}, Following: []string{"alice"}, Followings: 1,
				List: home, Mentions: []string{three}, Tagged: []string{three},
			},
			{User: "carol"},
		},
		Threads: []history.Thread{
			{Text: validate.Text("carol", 1), Replies: []string{answer}, Count: 1},
			{Text: three, Likers: []string{"bob"}, Likes: 1},
		},
	}
}

func TestCheck_FindsNothingInASoundHistory(t *testing.T) {
	t.Parallel()
	for _, v := range validate.Check(sound()) {
		t.Error(v)
	}
}

// planted is an error that a test plants in a sound history, and the promise that it breaks.
type planted struct {
	name  string
	plant func(h *history.History)
	want  validate.Promise
}

// checkFinds tests that a check finds each error, in a history of its own.
func checkFinds(t *testing.T, fresh func() *history.History, errors []planted) {
	t.Helper()
	for _, tt := range errors {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := fresh()
			tt.plant(h)
			found := validate.Check(h)
			if !slices.ContainsFunc(found, func(v validate.Violation) bool { return v.Promise == tt.want }) {
				t.Errorf("found %v, want a violation of %q", found, tt.want)
			}
		})
	}
}

func TestCheck_FindsPlantedErrors(t *testing.T) {
	t.Parallel()
	one, two, three, gone := validate.Text("alice", 1), validate.Text("alice", 2), validate.Mentioning(validate.Text("alice", 3), "bob"), validate.Text("dave", 1)
	answer := validate.Answering(validate.Text("alice", 5), validate.Text("carol", 1))
	bob := func(h *history.History) *history.View { return &h.Views[1] }
	checkFinds(t, sound, []planted{
		{"an acknowledged post is lost", func(h *history.History) { h.Views[0].Profile = []string{three} }, validate.Durable},
		{"a follower's home lacks a post", func(h *history.History) {
			bob(h).Home, bob(h).Backwards = []string{three}, []string{three}
		}, validate.Durable},
		{"a follow is lost", func(h *history.History) { bob(h).Following = nil }, validate.Durable},
		{"a list lacks a post of a member", func(h *history.History) { bob(h).List = []string{three} }, validate.Durable},
		{"a mention is lost", func(h *history.History) { bob(h).Mentions = nil }, validate.Durable},
		{"a post that mentions nobody is a mention", func(h *history.History) { bob(h).Mentions = []string{three, one} }, validate.Isolation},
		{"a post with a hashtag is lost", func(h *history.History) { bob(h).Tagged = nil }, validate.Durable},
		{"a post without a hashtag has it", func(h *history.History) { bob(h).Tagged = []string{three, one} }, validate.Isolation},
		{"a mention is there twice", func(h *history.History) { bob(h).Mentions = []string{three, three} }, validate.ExactlyOnce},
		{"a list is out of order", func(h *history.History) { bob(h).List = []string{one, three} }, validate.Ordered},
		{"a list holds a post of somebody else", func(h *history.History) {
			h.Operations[11].Kind = history.DropMember
		}, validate.Isolation},
		{"a home holds a post of a deleted account", func(h *history.History) {
			bob(h).Home, bob(h).Backwards = []string{gone, three, one}, []string{one, three, gone}
		}, validate.Isolation},
		{"a deleted account is still followed", func(h *history.History) { bob(h).Following = []string{"alice", "dave"} }, validate.Isolation},
		{"a home holds a post twice", func(h *history.History) { bob(h).Home = []string{three, one, one} }, validate.ExactlyOnce},
		{"a post is delivered twice", func(h *history.History) {
			h.Streams[0].Events = append(h.Streams[0].Events, history.Event{Kind: history.Added, ID: "c", Text: three})
		}, validate.ExactlyOnce},
		{"a home is out of order", func(h *history.History) {
			bob(h).Home, bob(h).Backwards = []string{one, three}, []string{three, one}
		}, validate.Ordered},
		{"events are out of order", func(h *history.History) {
			e := h.Streams[0].Events
			e[1], e[5] = e[5], e[1]
		}, validate.Ordered},
		{"a subscriber misses a post", func(h *history.History) { h.Streams[0].Events = h.Streams[0].Events[:5] }, validate.Resumable},
		{"a subscriber knows a post that its home lacks", func(h *history.History) {
			h.Streams[0].Events = append(h.Streams[0].Events, history.Event{Kind: history.Added, ID: "d", Text: validate.Text("carol", 1)})
		}, validate.Resumable},
		{"a walk backwards misses a post", func(h *history.History) { bob(h).Backwards = []string{three} }, validate.CompletePages},
		{"a deleted post is back", func(h *history.History) {
			bob(h).Home, bob(h).Backwards = []string{three, two, one}, []string{one, two, three}
		}, validate.NoResurrection},
		{"a deleted post is on a page", func(h *history.History) {
			h.Operations = append(h.Operations, history.Operation{Client: "alice", Kind: history.ReadHome, Texts: []string{two}, Call: 30, Return: 31, Outcome: history.OK})
		}, validate.NoResurrection},
		{"postCount is wrong", func(h *history.History) { h.Views[0].Posts = 2 }, validate.Counts},
		{"followerCount is wrong", func(h *history.History) { h.Views[0].Followers = 2 }, validate.Counts},
		{"followingCount is wrong", func(h *history.History) { bob(h).Followings = 2 }, validate.Counts},
		{"an unfollowed author stays on a home", func(h *history.History) {
			text := validate.Text("carol", 1)
			h.Operations = append(h.Operations, history.Operation{Client: "carol", Kind: history.Post, Text: text, Key: "x", ID: "x", Call: 40, Return: 41, Outcome: history.OK})
			bob(h).Home, bob(h).Backwards = []string{text, three, one}, []string{one, three, text}
		}, validate.Isolation},
		{"a home shows an answer to somebody not followed", func(h *history.History) {
			bob(h).Home, bob(h).Backwards = []string{answer, three, one}, []string{one, three, answer}
		}, validate.Isolation},
		{"a list shows an answer to somebody who is not a member", func(h *history.History) { bob(h).List = []string{answer, three, one} }, validate.Isolation},
		{"a profile shows an answer to somebody else", func(h *history.History) { h.Views[0].Profile = h.Views[0].Replies }, validate.Isolation},
		{"an author's home lacks an answer", func(h *history.History) {
			h.Views[0].Home, h.Views[0].Backwards = []string{three, one}, []string{one, three}
		}, validate.Durable},
		{"a home lacks an answer to somebody followed", func(h *history.History) { h.Operations[4].Kind = history.Follow }, validate.Durable},
		{"a profile with replies lacks one", func(h *history.History) { h.Views[0].Replies = []string{three, one} }, validate.Durable},
		{"a thread lacks a reply", func(h *history.History) { h.Threads[0].Replies = nil }, validate.Durable},
		{"a thread holds a reply twice", func(h *history.History) { h.Threads[0].Replies = []string{answer, answer} }, validate.ExactlyOnce},
		{"a thread holds a deleted reply", func(h *history.History) {
			h.Operations = append(h.Operations, history.Operation{Client: "alice", Kind: history.Delete, Text: answer, ID: "f", Call: 40, Return: 41, Outcome: history.OK})
		}, validate.NoResurrection},
		{"a thread holds a reply to another post", func(h *history.History) { h.Threads[0].Text = validate.Text("carol", 2) }, validate.Isolation},
		{"a like is lost", func(h *history.History) { h.Threads[1].Likers, h.Threads[1].Likes = nil, 0 }, validate.Durable},
		{"a like is there twice", func(h *history.History) { h.Threads[1].Likers, h.Threads[1].Likes = []string{"bob", "bob"}, 2 }, validate.ExactlyOnce},
		{"a like that ended is back", func(h *history.History) {
			h.Operations = append(h.Operations, history.Operation{Client: "bob", Kind: history.Unlike, Target: three, Call: 40, Return: 41, Outcome: history.OK})
		}, validate.Isolation},
		{"likeCount is wrong", func(h *history.History) { h.Threads[1].Likes = 2 }, validate.Counts},
		{"replyCount is wrong", func(h *history.History) { h.Threads[0].Count = 2 }, validate.Counts},
		{"an unfollow is lost", func(h *history.History) { bob(h).Following = []string{"alice", "carol"} }, validate.Isolation},
		{"a read contradicts a follow", func(h *history.History) { h.Operations[3].Follows = false }, validate.Linearizable},
		{"a key names two posts", func(h *history.History) {
			h.Operations = append(h.Operations, history.Operation{Client: "alice", Kind: history.Post, Text: three, Key: "3", ID: "z", Call: 50, Return: 51, Outcome: history.OK})
		}, validate.Linearizable},
	})
}

func TestCheck_AllowsEitherEffectOfUnknownOutcomes(t *testing.T) {
	t.Parallel()
	six := validate.Text("alice", 6)
	for name, held := range map[string]bool{"created": true, "not created": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := sound()
			h.Operations = append(h.Operations,
				history.Operation{Client: "alice", Kind: history.Post, Text: six, Key: "6", Call: 60, Return: 61, Outcome: history.Unknown})
			if held {
				for i := range 2 {
					h.Views[i].Home = append([]string{six}, h.Views[i].Home...)
					h.Views[i].Backwards = append(h.Views[i].Backwards, six)
				}
				h.Views[0].Profile, h.Views[0].Replies = append([]string{six}, h.Views[0].Profile...), append([]string{six}, h.Views[0].Replies...)
				h.Views[0].Posts = 4
				h.Streams[0].Events = append(h.Streams[0].Events, history.Event{Kind: history.Added, ID: "d", Text: six})
			}
			for _, v := range validate.Check(h) {
				t.Error(v)
			}
		})
	}
}

func TestHistory_CanBeCheckedAgainFromAFile(t *testing.T) {
	t.Parallel()
	h := sound()
	h.Views[0].Posts = 7
	var b bytes.Buffer
	if err := h.Write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "history.json")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := history.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want, got := validate.Check(h), validate.Check(again); len(want) != 1 || !slices.Equal(want, got) {
		t.Errorf("the file gives %v, the history itself %v", got, want)
	}
}
