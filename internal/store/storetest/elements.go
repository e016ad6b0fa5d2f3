package storetest

import (
	"crypto/rand"
	"testing"

	"retwis/internal/retwis"
	"retwis/internal/store"
)

// Reply creates a reply to a post.
func Reply(t testing.TB, s *store.Store, author retwis.UserID, to retwis.PostID) retwis.Element {
	t.Helper()
	return create(t, s, retwis.NewPost{Author: author, Text: "a reply", InReplyTo: to, IdempotencyKey: rand.Text()})
}

// Quote creates a quote of a post.
func Quote(t testing.TB, s *store.Store, author retwis.UserID, of retwis.PostID) retwis.PostID {
	t.Helper()
	return create(t, s, retwis.NewPost{Author: author, Text: "a quote", Quoted: of, IdempotencyKey: rand.Text()}).ID
}

func create(t testing.TB, s *store.Store, post retwis.NewPost) retwis.Element {
	t.Helper()
	edge, err := s.Posts.CreatePost(t.Context(), post)
	if err != nil {
		t.Fatal(err)
	}
	at, err := edge.Cursor.TimelinePosition(retwis.Home(post.Author))
	if err != nil {
		t.Fatal(err)
	}
	return at.Element
}

// Repost makes a user repost a post.
func Repost(t testing.TB, s *store.Store, reposter retwis.UserID, post retwis.PostID) retwis.Element {
	t.Helper()
	e, err := s.Posts.Repost(t.Context(), reposter, post)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Entries returns the stored entries of a timeline, newest first, with the mark at the end.
func Entries(t testing.TB, s *store.Store, id retwis.TimelineID) []string {
	t.Helper()
	entries, err := s.DB().Client.LRange(t.Context(), s.DB().OfTimeline(id).Timeline(id).Entries(), 0, -1).Result()
	if err != nil {
		t.Fatal(err)
	}
	return entries
}
