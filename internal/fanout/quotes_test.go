package fanout_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"retwis/internal/check"
	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/storetest"
)

// wantQuotes compares the quotes of a post, which are given in any order, and their number.
func (e *engine) wantQuotes(post retwis.PostID, want ...retwis.PostID) {
	e.T.Helper()
	slices.SortFunc(want, func(a, b retwis.PostID) int { return cmp.Compare(b, a) })
	if got := e.references(retwis.References{Kind: retwis.QuoteReference, To: post, Newest: true}); !slices.Equal(got, want) {
		e.T.Errorf("quotes of %s: %v, want %v", post, got, want)
	}
	counts, err := e.Posts.QuoteCounts(e.T.Context(), []retwis.PostID{post})
	if err != nil {
		e.T.Fatal(err)
	}
	if counts[0] != len(want) {
		e.T.Errorf("post %s has %d quotes, want %d", post, counts[0], len(want))
	}
}

func TestQuotes_AreCountedAndOutliveTheOriginal(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		people := e.Apart(3)
		original := e.Post(people[0], "an original")
		first, second := storetest.Quote(t, e.Store, people[1], original), storetest.Quote(t, e.Store, people[2], original)
		own := storetest.Quote(t, e.Store, people[0], original)
		ofQuote := storetest.Quote(t, e.Store, people[2], first)
		e.Drain()
		e.wantQuotes(original, own, second, first)
		e.wantQuotes(first, ofQuote)
		if got := e.replyCount(original); got != 0 {
			t.Errorf("the original has %d replies, want none", got)
		}
		if err := e.Posts.DeletePost(t.Context(), people[1], first); err != nil {
			t.Fatal(err)
		}
		if err := e.Posts.DeletePost(t.Context(), people[0], original); err != nil {
			t.Fatal(err)
		}
		e.Drain()
		e.wantQuotes(original, own, second)
		posts, err := e.Posts.Posts(t.Context(), []retwis.PostID{original, second, own, ofQuote})
		if err != nil {
			t.Fatal(err)
		}
		if posts[0] != nil || posts[1].Quoted != original || posts[2].Quoted != original || posts[3].Quoted != first {
			t.Errorf("got %v, want no original, and the quotes with the ids of their originals", posts)
		}
		e.IsSound()
	})
}

// A reply may quote another post than the one that it answers.
func TestCreatePost_RefusesAQuoteOfAMissingPost(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL()})
	people := e.Register("author", "other")
	question, original, deleted := e.Post(people[0], "a question"), e.Post(people[0], "an original"), e.Post(people[0], "gone")
	if err := e.Posts.DeletePost(t.Context(), people[0], deleted); err != nil {
		t.Fatal(err)
	}
	create := func(answered, quoted retwis.PostID, key string) (retwis.PostEdge, error) {
		return e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: people[1], Text: "x", InReplyTo: answered, Quoted: quoted, IdempotencyKey: key})
	}
	for _, missing := range []retwis.PostID{deleted, original + 1_000_000_000} {
		_, err := create(question, missing, e.Key())
		if shown, ok := errors.AsType[*retwis.Error](err); !ok || shown.Code != retwis.CodeNotFound || shown.Field[1] != "quotedPostId" {
			t.Errorf("a quote of %s: %v, want NOT_FOUND", missing, err)
		}
	}
	first, err := create(question, original, "key")
	if err != nil {
		t.Fatal(err)
	}
	if first.Post.Quoted != original || first.Post.InReplyTo() != question {
		t.Errorf("got %+v", first.Post)
	}
	if again, err := create(question, original, "key"); err != nil || again.Post.ID != first.Post.ID {
		t.Errorf("the repeat returns %v, %v, want post %s", again.Post, err, first.Post.ID)
	}
	_, err = create(question, question, "key")
	if shown, ok := errors.AsType[*retwis.Error](err); !ok || shown.Code != retwis.CodeInvalid {
		t.Errorf("the key with another post quoted: %v, want INVALID", err)
	}
}

func TestCheck_FindsAndRepairsQuotes(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		client := enginetest.Client(t, url)
		people := e.Apart(2)
		original := e.Post(people[0], "an original")
		quote, reply := storetest.Quote(t, e.Store, people[0], original), storetest.Reply(t, e.Store, people[1], original).ID
		e.Drain()
		e.IsSound()
		p, ok := e.DB().OfPost(original)
		if !ok {
			t.Fatalf("no partition has post %s", original)
		}
		key := p.References(retwis.QuoteReference, original)
		for name, plant := range map[string]struct {
			corrupt func(ctx context.Context) error
			want    check.Kind
		}{
			"a missing quote": {func(ctx context.Context) error { return client.ZRem(ctx, key, quote.String()).Err() }, check.QuoteMissing},
			"a reply among the quotes": {func(ctx context.Context) error {
				return client.ZAdd(ctx, key, redis.Z{Score: float64(reply.CreatedAt().UnixMilli()), Member: reply.String()}).Err()
			}, check.QuoteExtra},
			"a quote that comes first": {func(ctx context.Context) error { return client.ZIncrBy(ctx, key, -1e13, quote.String()).Err() }, check.QuoteExtra},
			"a quote of a post without any": {func(ctx context.Context) error {
				return client.ZAdd(ctx, p.References(retwis.QuoteReference, quote), redis.Z{Score: 1, Member: "nonsense"}).Err()
			}, check.QuoteExtra},
		} {
			if err := plant.corrupt(t.Context()); err != nil {
				t.Fatal(err)
			}
			if report := e.Check(check.Options{Repair: true}); report.Counts[plant.want] == 0 {
				t.Errorf("%s: check found %v, want %s", name, report.Counts, plant.want)
			}
			e.wantQuotes(original, quote)
			e.IsSound()
		}
	})
}
