package store_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"retwis/internal/pubsub"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
	"retwis/internal/store/storetest"
)

// A replay must not silently skip posts that were trimmed from the profile.
func TestSince_TrimmedProfileIsUnrecoverable(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{URL: redistest.Server(t).URL(), ProfileCap: 10, Slack: 2})
	author := storetest.Register(t, s, "author")[0]
	profile := retwis.Profile(author)
	created := 0
	create := func(posts int) {
		t.Helper()
		for range posts {
			created++
			post := retwis.NewPost{Author: author, Text: "x", IdempotencyKey: fmt.Sprint("key", created)}
			if _, err := s.Posts.CreatePost(t.Context(), post); err != nil {
				t.Fatal(err)
			}
		}
	}
	since := func(at retwis.TimelinePosition) pubsub.Replay {
		t.Helper()
		replay, err := s.Live.EventsSince(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		return replay
	}
	begin, _, err := s.Live.CurrentPosition(t.Context(), profile)
	if err != nil {
		t.Fatal(err)
	}
	create(5)
	replay := since(begin)
	if !replay.Found || len(replay.Arrived) != 5 {
		t.Fatalf("replay of 5 posts: %d posts, found %v", len(replay.Arrived), replay.Found)
	}
	create(8)
	if again := since(begin); again.Found {
		t.Errorf("replay of 13 posts: %d posts, want an unrecoverable position", len(again.Arrived))
	}
	if later := since(replay.Position); !later.Found || len(later.Arrived) != 8 {
		t.Errorf("replay of 8 posts: %d posts, found %v", len(later.Arrived), later.Found)
	}
}

// Only removals are produced so far. Replays understand the other changes.
func TestSince_UnderstandsEveryKindOfChange(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{URL: redistest.Server(t).URL()})
	people := storetest.Register(t, s, "author", "stranger")
	author, home := people[0], retwis.Home(people[0])
	edge, err := s.Posts.CreatePost(t.Context(), retwis.NewPost{Author: author, Text: "x", IdempotencyKey: "key"})
	if err != nil {
		t.Fatal(err)
	}
	post := edge.Post.ID
	type change struct {
		kind, subject string
		author        retwis.UserID
	}
	for _, tt := range []struct {
		name    string
		changes []change
		found   bool
		removed int
	}{
		{"removed", []change{{"removed", post.String(), author}}, true, 1},
		{"hidden", []change{{"hidden", post.String(), author}}, true, 1},
		{"hidden and restored", []change{{"hidden", post.String(), author}, {"restored", post.String(), author}}, true, 0},
		{"restored and hidden", []change{{"restored", post.String(), author}, {"hidden", post.String(), author}}, true, 1},
		{"state of the author", []change{{"state", "limited", author}}, false, 0},
		{"state of a stranger", []change{{"state", "limited", people[1]}}, true, 0},
		{"post of a stranger", []change{{"removed", "1790000000000000001", people[1]}}, true, 0},
		{"unknown kind", []change{{"renamed", post.String(), author}}, true, 0},
	} {
		from, _, err := s.Live.CurrentPosition(t.Context(), home)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range tt.changes {
			p := s.DB().OfTimeline(home)
			id, err := s.DB().Client.XAdd(t.Context(), &redis.XAddArgs{
				Stream: p.Changes(), Values: []any{c.kind, c.subject, "author", c.author.String()},
			}).Result()
			if err != nil {
				t.Fatal(err)
			}
			if err := s.DB().Client.Set(t.Context(), p.LastChange(), id, 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		replay, err := s.Live.EventsSince(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		if replay.Found != tt.found || len(replay.Removed) != tt.removed || replay.Position.Change == from.Change {
			t.Errorf("%s: found %t, removed %v, change %v", tt.name, replay.Found, replay.Removed, replay.Position.Change)
		}
	}
}

// Attack: a replay looks at all changes of its partition since the position. Those of other timelines are not returned, and were free.
func TestSince_ChargesTheChangesOfOtherTimelines(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{URL: redistest.Server(t).URL(), Partitions: 1})
	users := storetest.Register(t, s, "author", "reader")
	mentions := retwis.Mentions(users[1])
	before, _, err := s.Live.CurrentPosition(t.Context(), mentions)
	if err != nil {
		t.Fatal(err)
	}
	const deletions = 40
	for range deletions {
		post, err := s.Posts.CreatePost(t.Context(), retwis.NewPost{Author: users[0], Text: "x", IdempotencyKey: rand.Text()})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Posts.DeletePost(t.Context(), users[0], post.Post.ID); err != nil {
			t.Fatal(err)
		}
	}
	work := workOf(t, func(ctx context.Context) {
		if replay, err := s.Live.EventsSince(ctx, before); err != nil || len(replay.Removed) > 0 || !replay.Found {
			t.Errorf("replay %+v, %v", replay, err)
		}
	})
	if work.Rows < deletions {
		t.Errorf("charged %d rows for %d changes", work.Rows, deletions)
	}
}

// A failover may lose entries, which are then delivered again in another order.
func TestSince_ComparesTheEntriesBelowThePosition(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{URL: redistest.Server(t).URL()})
	home := retwis.Home(storetest.Register(t, s, "reader")[0])
	if _, err := s.Timelines.Page(t.Context(), home, retwis.Page{First: 1}); err != nil { // creates the list
		t.Fatal(err)
	}
	at, _, err := s.Live.CurrentPosition(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	id := func(n retwis.PostID) retwis.PostID { return 1790000000000000000 + n }
	for n := range retwis.PostID(4) {
		at = at.Next(retwis.Plain(id(n + 1)))
	}
	for _, tt := range []struct {
		name             string
		posts            []retwis.PostID // newest first
		complete         bool
		found, reordered bool
	}{
		{"the same", []retwis.PostID{5, 4, 3, 2, 1}, true, true, false},
		{"another order", []retwis.PostID{5, 4, 2, 3, 1}, true, false, true},
		{"the post at the position is newer", []retwis.PostID{3, 4, 2, 1}, true, false, true},
		{"another post", []retwis.PostID{5, 4, 3, 9, 2, 1}, true, false, true},
		{"a post fewer", []retwis.PostID{5, 4, 2, 1}, true, false, true},
		{"no further posts", []retwis.PostID{5, 4, 3}, true, false, true},
		{"trimmed below the third", []retwis.PostID{5, 4, 3}, false, true, false},
		{"trimmed below the position", []retwis.PostID{5, 4}, false, true, false},
		{"trimmed above the position", []retwis.PostID{6, 5}, false, false, false},
	} {
		var entries []any
		for _, n := range tt.posts {
			entries = append(entries, id(n).String())
		}
		if tt.complete {
			entries = append(entries, rdb.ListComplete)
		}
		key := s.DB().OfTimeline(home).Timeline(home).Entries()
		if err := s.DB().Client.Del(t.Context(), key).Err(); err != nil {
			t.Fatal(err)
		}
		if err := s.DB().Client.RPush(t.Context(), key, entries...).Err(); err != nil {
			t.Fatal(err)
		}
		replay, err := s.Live.EventsSince(t.Context(), at)
		if err != nil || replay.Found != tt.found || replay.Reordered != tt.reordered {
			t.Errorf("%s: found %t, reordered %t, %v", tt.name, replay.Found, replay.Reordered, err)
		}
	}
}
