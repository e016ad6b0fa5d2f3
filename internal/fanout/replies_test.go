package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/check"
	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/outbox"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/storetest"
)

// references reads all replies to a post, or all its quotes, in small pages in both directions.
func (e *engine) references(of retwis.References) []retwis.PostID {
	e.T.Helper()
	what := fmt.Sprintf("%s of %s, newest first %t", of.Kind, of.To, of.Newest)
	return enginetest.BothWays(e.Engine, what, 2, func(page retwis.Page) (entries []enginetest.PageEntry[retwis.PostID], more bool) {
		got, err := e.Posts.ReferencePage(e.T.Context(), of, page)
		if err != nil {
			e.T.Fatal(err)
		}
		for _, edge := range got.Edges {
			entries = append(entries, enginetest.PageEntry[retwis.PostID]{Value: edge.Post.ID, Cursor: edge.Cursor})
		}
		more = enginetest.More(page, got.HasNextPage, got.HasPreviousPage)
		if first, _, _ := page.Direction(); first && more && got.EndCursor() != entries[len(entries)-1].Cursor {
			e.T.Errorf("%s: the end cursor is %s, that of the last post %s", what, got.EndCursor(), entries[len(entries)-1].Cursor)
		}
		return entries, more
	})
}

// repliesKey returns the key of the replies of a post.
func (e *engine) repliesKey(post retwis.PostID) string {
	p, ok := e.DB().OfPost(post)
	if !ok {
		e.T.Fatalf("no partition has post %s", post)
	}
	return p.References(retwis.ReplyReference, post)
}

// replyCount returns the number of replies of a post.
func (e *engine) replyCount(post retwis.PostID) int {
	e.T.Helper()
	counts, err := e.Posts.ReplyCounts(e.T.Context(), []retwis.PostID{post})
	if err != nil {
		e.T.Fatal(err)
	}
	return counts[0]
}

func (e *engine) wantReplies(of retwis.References, want ...retwis.PostID) {
	e.T.Helper()
	if got := e.references(of); !slices.Equal(got, want) {
		e.T.Errorf("replies of %s, newest first %t: %v, want %v", of.To, of.Newest, got, want)
	}
	if got := e.replyCount(of.To); got != len(want) {
		e.T.Errorf("post %s has %d replies, want %d", of.To, got, len(want))
	}
}

func TestReplies_AreASetWithThoseOfTheAuthorFirst(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		people := e.Apart(3)
		author := people[0]
		post := e.Post(author, "a question")
		var others, own []retwis.PostID
		for range 3 {
			for _, user := range people {
				reply := storetest.Reply(t, e.Store, user, post)
				if own = append(own, reply.ID); user != author {
					own, others = own[:len(own)-1], append(others, reply.ID)
				}
				if plain := reply == retwis.Plain(reply.ID); plain != (user == author) {
					t.Errorf("the reply of %s to %s is the element %s", user, author, reply)
				}
				time.Sleep(2 * time.Millisecond) // no two replies are of one instant, which are ordered by their partitions
			}
		}
		e.Drain()
		newest := func(a, b []retwis.PostID) []retwis.PostID {
			return slices.Concat(enginetest.Newest(a), enginetest.Newest(b))
		}
		e.wantReplies(retwis.References{Kind: retwis.ReplyReference, To: post}, slices.Concat(own, others)...)
		e.wantReplies(retwis.References{Kind: retwis.ReplyReference, To: post, Newest: true}, newest(own, others)...)

		// A deleted reply is skipped at once, and leaves the set with its delivery.
		if err := e.Posts.DeletePost(t.Context(), people[1], others[0]); err != nil {
			t.Fatal(err)
		}
		if got := e.references(retwis.References{Kind: retwis.ReplyReference, To: post}); slices.Contains(got, others[0]) {
			t.Error("a deleted reply is shown")
		}
		e.Drain()
		others = others[1:]
		e.wantReplies(retwis.References{Kind: retwis.ReplyReference, To: post}, slices.Concat(own, others)...)

		// A deleted post keeps its replies, and accepts no more.
		if err := e.Posts.DeletePost(t.Context(), author, post); err != nil {
			t.Fatal(err)
		}
		e.wantReplies(retwis.References{Kind: retwis.ReplyReference, To: post, Newest: true}, newest(own, others)...)
		reply := retwis.NewPost{Author: people[1], Text: "too late", InReplyTo: post, IdempotencyKey: e.Key()}
		_, err := e.Posts.CreatePost(t.Context(), reply)
		if shown, ok := errors.AsType[*retwis.Error](err); !ok || shown.Code != retwis.CodeNotFound {
			t.Errorf("reply to a deleted post: %v, want NOT_FOUND", err)
		}

		// The replies of a deleted account leave the set too.
		e.DeleteAccount(people[1])
		e.Drain()
		others = slices.DeleteFunc(others, func(id retwis.PostID) bool {
			posts, err := e.Posts.Posts(t.Context(), []retwis.PostID{id})
			if err != nil {
				t.Fatal(err)
			}
			return posts[0] == nil
		})
		if len(others) != 3 {
			t.Fatalf("%d replies of the last user are left, want 3", len(others))
		}
		e.wantReplies(retwis.References{Kind: retwis.ReplyReference, To: post}, slices.Concat(own, others)...)
		e.IsSound()
	})
}

func TestReplies_KeepTheNewestAboveTheCap(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), ReplyCap: 3})
	e.Work(fanout.Options{})
	people := e.Register("author", "other")
	post := e.Post(people[0], "a question")
	var all []retwis.PostID
	for i := range 6 {
		all = append(all, storetest.Reply(t, e.Store, people[min(i, 1)], post).ID)
		e.Drain()
	}
	e.wantReplies(retwis.References{Kind: retwis.ReplyReference, To: post}, all[0], all[4], all[5])
	if err := e.Posts.DeletePost(t.Context(), people[1], all[5]); err != nil {
		t.Fatal(err)
	}
	e.Drain()
	e.wantReplies(retwis.References{Kind: retwis.ReplyReference, To: post}, all[0], all[4])
	e.IsSound()
}

func TestCreatePost_RepeatsAReplyToAPostDeletedSince(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL()})
	people := e.Register("author", "other")
	post, another := e.Post(people[0], "a question"), e.Post(people[0], "another")
	reply := retwis.NewPost{Author: people[1], Text: "an answer", InReplyTo: post, IdempotencyKey: "key"}
	first, err := e.Posts.CreatePost(t.Context(), reply)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Posts.DeletePost(t.Context(), people[0], post); err != nil {
		t.Fatal(err)
	}
	again, err := e.Posts.CreatePost(t.Context(), reply)
	if err != nil || again.Post.ID != first.Post.ID {
		t.Errorf("the repeat returns %v, %v, want post %s", again.Post, err, first.Post.ID)
	}
	reply.InReplyTo = another
	_, err = e.Posts.CreatePost(t.Context(), reply)
	if shown, ok := errors.AsType[*retwis.Error](err); !ok || shown.Code != retwis.CodeInvalid {
		t.Errorf("the key with another post answered: %v, want INVALID", err)
	}
}

// A thread deeper than MaxAncestors keeps its root.
func TestCreatePost_StoresTheThread(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL()})
	people := e.Register("one", "two")
	chain := []retwis.PostID{e.Post(people[0], "the root")}
	for i := range retwis.MaxAncestors + 3 {
		chain = append(chain, storetest.Reply(t, e.Store, people[i%2], chain[i]).ID)
	}
	posts, err := e.Posts.Posts(t.Context(), chain)
	if err != nil {
		t.Fatal(err)
	}
	for i, post := range posts {
		want := chain[:i]
		if i > 1+retwis.MaxAncestors {
			want = slices.Concat(chain[:1], chain[i-retwis.MaxAncestors:i])
		}
		if !slices.Equal(post.Thread, want) {
			t.Errorf("post %d has the thread %v, want %v", i, post.Thread, want)
		}
	}
}

// A delivery that failed permanently is carried out again, unless the reply was deleted meanwhile.
func TestReplies_AreRequeuedUnlessDeleted(t *testing.T) {
	t.Parallel()
	url := redistest.Server(t).URL()
	e := newEngine(t, store.Options{URL: url})
	client := enginetest.Client(t, url)
	people := e.Register("author", "other")
	post := e.Post(people[0], "a question")
	e.Work(fanout.Options{})
	e.Drain()
	blocked := e.repliesKey(post)
	if err := client.Set(t.Context(), blocked, "not a set", 0).Err(); err != nil {
		t.Fatal(err)
	}
	kept, deleted := storetest.Reply(t, e.Store, people[1], post).ID, storetest.Reply(t, e.Store, people[1], post).ID
	if err := e.Posts.DeletePost(t.Context(), people[1], deleted); err != nil {
		t.Fatal(err)
	}
	e.Drain()
	if err := client.Del(t.Context(), blocked).Err(); err != nil {
		t.Fatal(err)
	}
	letters, err := e.Outbox.DeadLetters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(letters) != 3 {
		t.Fatalf("%d dead letters, want those of two replies and a deletion", len(letters))
	}
	for _, letter := range letters {
		if letter.Entry.Kind == outbox.KindDelete {
			continue
		}
		if _, err := e.Outbox.Requeue(t.Context(), letter); err != nil {
			t.Fatal(err)
		}
	}
	e.Drain()
	e.wantReplies(retwis.References{Kind: retwis.ReplyReference, To: post}, kept)
	e.IsSound()
}

func TestCheck_FindsAndRepairsReplies(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		client := enginetest.Client(t, url)
		people := e.Apart(2)
		post, other := e.Post(people[0], "a question"), e.Post(people[0], "another")
		own, reply := storetest.Reply(t, e.Store, people[0], post).ID, storetest.Reply(t, e.Store, people[1], post).ID
		elsewhere := storetest.Reply(t, e.Store, people[1], other).ID
		e.Drain()
		e.IsSound()
		key := e.repliesKey(post)
		z := func(id retwis.PostID) redis.Z {
			return redis.Z{Score: float64(id.CreatedAt().UnixMilli()), Member: id.String()}
		}
		for name, plant := range map[string]struct {
			corrupt func(ctx context.Context) error
			want    check.Kind
		}{
			"a missing reply":            {func(ctx context.Context) error { return client.ZRem(ctx, key, reply.String()).Err() }, check.ReplyMissing},
			"all replies missing":        {func(ctx context.Context) error { return client.Del(ctx, key).Err() }, check.ReplyMissing},
			"a reply to another post":    {func(ctx context.Context) error { return client.ZAdd(ctx, key, z(elsewhere)).Err() }, check.ReplyExtra},
			"a post that does not exist": {func(ctx context.Context) error { return client.ZAdd(ctx, key, z(reply+1_000_000_000)).Err() }, check.ReplyExtra},
			"an entry that is not a post": {func(ctx context.Context) error {
				return client.ZAdd(ctx, key, redis.Z{Score: 1, Member: "nonsense"}).Err()
			}, check.ReplyExtra},
			"a reply with another score":   {func(ctx context.Context) error { return client.ZIncrBy(ctx, key, 7, reply.String()).Err() }, check.ReplyExtra},
			"another user's reply as own":  {func(ctx context.Context) error { return client.ZIncrBy(ctx, key, -1e13, reply.String()).Err() }, check.ReplyExtra},
			"the reply of a deleted thing": {func(ctx context.Context) error { return client.ZAdd(ctx, e.repliesKey(reply), z(own)).Err() }, check.ReplyExtra},
		} {
			if err := plant.corrupt(t.Context()); err != nil {
				t.Fatal(err)
			}
			report := e.Check(check.Options{Repair: true})
			if report.Counts[plant.want] == 0 {
				t.Errorf("%s: check found %v, want %s", name, report.Counts, plant.want)
			}
			e.wantReplies(retwis.References{Kind: retwis.ReplyReference, To: post}, own, reply)
			e.IsSound()
		}
	})
}
