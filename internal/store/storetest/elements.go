package storetest

import (
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

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

// Repost stores a repost as create_post stores a post, and queues its delivery. No mutation creates reposts yet, and no
// other client may use the partition of the reposter meanwhile.
func Repost(t testing.TB, s *store.Store, reposter retwis.UserID, post retwis.PostID) retwis.Element {
	t.Helper()
	e := retwis.Element{Author: reposter, Reposted: post}
	ctx, author, p := t.Context(), e.Author, s.DB().OfUser(e.Author)
	clock, err := s.DB().Client.Get(ctx, p.Clock()).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		t.Fatal(err)
	}
	instant := max(clock+1, time.Now().UnixMicro())
	e.ID = retwis.PostID(instant/1000*1_000_000 + int64(author.PostBucket())*1000 + instant%1000)
	record := []any{"author", author.String(), "reposted", e.Reposted.String()}
	entry := []any{"kind", "post", "author", author.String(), "post", e.ID.String(), "reposted", e.Reposted.String()}
	_, err = s.DB().Client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, p.Clock(), instant, 0)
		pipe.HSet(ctx, p.Post(e.ID), record...)
		pipe.HIncrBy(ctx, p.User(author).Account(), "posts", 1)
		pipe.LPush(ctx, p.User(author).Profile(), e.String())
		pipe.LPushX(ctx, p.User(author).Home(), e.String())
		pipe.XAdd(ctx, &redis.XAddArgs{Stream: p.Outbox(), Values: entry})
		return nil
	})
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
