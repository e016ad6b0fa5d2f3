package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/check"
	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
	"retwis/internal/store/storetest"
)

// tag returns the hashtag with a folded name.
func (e *engine) tag(folded string) *retwis.Tag {
	e.T.Helper()
	tag, err := e.Tags.TagByName(e.T.Context(), folded)
	if err != nil {
		e.T.Fatal(err)
	}
	return tag
}

// wantTagged compares the timeline of a hashtag with posts, newest first.
func (e *engine) wantTagged(folded string, want ...retwis.PostID) {
	e.T.Helper()
	if got := e.Read(retwis.TagPosts(e.tag(folded).ID)); !slices.Equal(got, want) {
		e.T.Errorf("#%s has %v, want %v", folded, got, want)
	}
}

func TestTags_HavePostsAndReplies(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		people := e.Apart(3)
		first := e.Post(people[0], "#Go and #redis, and #GO")
		e.Post(people[0], "go without #")
		e.Drain() // a timeline is in order of arrival
		second := e.Post(people[1], "#redis")
		e.Drain()
		reply, err := e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: people[2], Text: "a reply about #go", InReplyTo: second, IdempotencyKey: "reply"})
		if err != nil {
			t.Fatal(err)
		}
		e.Drain()
		storetest.Repost(t, e.Store, people[1], first)
		e.Drain()
		e.wantTagged("go", reply.Post.ID, first)
		e.wantTagged("redis", second, first)
		if got := e.tag("go").Name; got != "Go" {
			t.Errorf("the name is %q, want the first spelling", got)
		}
		posts, err := e.Posts.Posts(t.Context(), []retwis.PostID{first, second})
		if err != nil {
			t.Fatal(err)
		}
		want := []retwis.TagID{e.tag("go").ID, e.tag("redis").ID}
		if !slices.Equal(posts[0].Tags, want) || !slices.Equal(posts[1].Tags, want[1:]) || !slices.Equal(reply.Post.Tags, want[:1]) {
			t.Errorf("posts have the hashtags %v, %v and %v, want those of %v", posts[0].Tags, posts[1].Tags, reply.Post.Tags, want)
		}

		if err := e.Posts.DeletePost(t.Context(), people[0], first); err != nil {
			t.Fatal(err)
		}
		e.Drain()
		e.wantTagged("go", reply.Post.ID)
		e.wantTagged("redis", second)
		e.DeleteAccount(people[2])
		e.Drain()
		e.wantTagged("go")
		e.IsSound()
	})
}

func TestTags_AreClaimedOnceByConcurrentPosts(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		people := e.Crowd("user", 8)
		var mu sync.Mutex
		var posts []retwis.PostID
		var wg sync.WaitGroup
		for i, user := range people {
			wg.Go(func() {
				edge, err := e.Posts.CreatePost(t.Context(), retwis.NewPost{Author: user, Text: []string{"#Been", "#BEEN", "#been"}[i%3], IdempotencyKey: fmt.Sprint(i)})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				posts = append(posts, edge.Post.ID)
			})
		}
		wg.Wait()
		e.Drain()
		if got := e.Read(retwis.TagPosts(e.tag("been").ID)); len(enginetest.Surplus(posts, got))+len(enginetest.Surplus(got, posts)) > 0 {
			t.Errorf("the hashtag has %v, want %v", got, posts)
		}
		e.IsSound()
	})
}

// A subscriber that resumes receives the removal of a post of an author whom it does not follow.
func TestTags_AreReplayed(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		people := e.Apart(2)
		old := e.Post(people[0], "#go")
		e.Drain()
		at, _, err := e.Live.CurrentPosition(t.Context(), retwis.TagPosts(e.tag("go").ID))
		if err != nil {
			t.Fatal(err)
		}
		e.Post(people[0], "#redis")
		post := e.Post(people[1], "#go")
		if err := e.Posts.DeletePost(t.Context(), people[0], old); err != nil {
			t.Fatal(err)
		}
		e.Drain()
		news, err := e.Live.EventsSince(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if !news.Found || len(news.Arrived) != 1 || news.Arrived[0].Element != retwis.Plain(post) || len(news.Removed) != 1 || news.Removed[0].Post != old {
			t.Errorf("got %+v, want post %s and the removal of %s", news, post, old)
		}
	})
}

// tagKeys returns the keys of hashtags, without those of their partitions.
func (e *engine) tagKeys(client redis.UniversalClient) []string {
	var names []string
	for _, key := range append(enginetest.Keys(e.T, client, "*:tag:*"), enginetest.Keys(e.T, client, "*:tag_name:*")...) {
		_, name, _ := strings.Cut(key, "}:")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// usedOn sets the day of the last post with a hashtag.
func (e *engine) usedOn(client redis.UniversalClient, id retwis.TagID, day int64) {
	e.T.Helper()
	if err := client.HSet(e.T.Context(), e.DB().OfBucket(id.Bucket()).Hashtag(id).Record(), "used", day).Err(); err != nil {
		e.T.Fatal(err)
	}
}

func TestSweep_DropsHashtagsThatNobodyUses(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		now := time.Now()
		e := newEngine(t, store.Options{URL: url, Now: func() time.Time { return now }})
		_, stop := e.Work(fanout.Options{})
		client := enginetest.Client(t, url)
		author := e.Register("author")[0]
		e.Post(author, "#idle #used #watched")
		// A post that was never created leaves its hashtag behind.
		if _, err := e.Tags.ClaimTags(t.Context(), retwis.IndexedTags("#crashed")); err != nil {
			t.Fatal(err)
		}
		e.Drain()
		stop()
		idle, watched := e.tag("idle"), e.tag("watched")
		if _, err := e.Live.SetOnline(t.Context(), "node", []retwis.TimelineID{retwis.TagPosts(watched.ID)}, time.Hour); err != nil {
			t.Fatal(err)
		}
		if n := e.sweep(); n != 0 {
			t.Errorf("%d hashtags were dropped on the day of their use", n)
		}
		for _, name := range []string{"idle", "crashed", "watched"} {
			e.usedOn(client, e.tag(name).ID, daysAgo(92))
		}
		e.usedOn(client, e.tag("used").ID, daysAgo(92))
		waiting := e.Post(author, "#used on its way")
		late := e.Post(author, "#late")
		dropped := e.tag("late")
		e.usedOn(client, dropped.ID, daysAgo(92))

		if n := e.sweep(); n != 0 {
			t.Errorf("%d hashtags were dropped that are younger than the age", n)
		}
		now = now.Add(90*24*time.Hour + time.Hour)
		if n := e.sweep(); n != 0 {
			t.Errorf("%d hashtags were dropped on another day than each seventh", n)
		}
		now = now.Add(24 * time.Hour)
		if n := e.sweep(); n != 3 {
			t.Errorf("%d hashtags were dropped, want those that are idle, late, and left behind", n)
		}
		for _, name := range []string{"idle", "crashed", "late"} {
			if tag, err := e.Tags.TagByName(t.Context(), name); !errors.Is(err, retwis.ErrNotFound) {
				t.Errorf("#%s is %v, %v", name, tag, err)
			}
		}
		if tags, err := e.Tags.Tags(t.Context(), []retwis.TagID{idle.ID, watched.ID}); err != nil || tags[0] != nil || tags[1] == nil {
			t.Errorf("hashtags after the sweep: %v, %v", tags, err)
		}

		// A post that arrives after its hashtag was dropped creates nothing.
		_, stop = e.Work(fanout.Options{})
		e.Drain()
		stop()
		e.wantTagged("used", waiting, e.Read(retwis.Profile(author))[2])
		for _, key := range e.tagKeys(client) {
			if strings.Contains(key, dropped.ID.String()) || strings.Contains(key, idle.ID.String()) {
				t.Errorf("%s is left of a hashtag that was dropped", key)
			}
		}
		if got := e.Read(retwis.Profile(author)); got[0] != late {
			t.Errorf("the profile has %v, want post %s first", got, late)
		}
		e.Work(fanout.Options{})
		e.IsSound()

		// The next post creates the hashtag again, with another id.
		again := e.Post(author, "#Late again")
		e.Drain()
		if tag := e.tag("late"); tag.ID == dropped.ID || tag.Name != "Late" {
			t.Errorf("the hashtag is %+v again", tag)
		}
		e.wantTagged("late", again)
		e.IsSound()
	})
}

func TestSweep_KeepsIdleHashtagsIfAsked(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), IdleTagAge: -1})
	e.Post(e.Register("author")[0], "#idle")
	e.usedOn(enginetest.Client(t, e.URL), e.tag("idle").ID, 1)
	if n := e.sweep(); n != 0 {
		t.Errorf("%d hashtags were dropped", n)
	}
}

func TestTags_ReceiveARequeuedPostOnce(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		client := enginetest.Client(t, url)
		people := e.Apart(2)
		e.Follow(people[1], people[0])
		e.Drain()
		home := enginetest.Keys(t, client, "*:home:"+people[1].String())[0]
		if err := client.Set(t.Context(), home, "no list", 0).Err(); err != nil {
			t.Fatal(err)
		}
		post := e.Post(people[0], "#go")
		e.Drain()
		e.wantTagged("go", post)
		if err := client.Del(t.Context(), home).Err(); err != nil {
			t.Fatal(err)
		}
		letters, err := e.Outbox.DeadLetters(t.Context())
		if err != nil || len(letters) != 1 {
			t.Fatal(letters, err)
		}
		if _, err := e.Outbox.Requeue(t.Context(), letters[0]); err != nil {
			t.Fatal(err)
		}
		e.Drain()
		e.wantTagged("go", post)
		e.IsSound()
	})
}

func TestCheck_FindsAndRepairsHashtags(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		client := enginetest.Client(t, url)
		people := e.Apart(2)
		first, other := e.Post(people[0], "#Go"), e.Post(people[1], "nothing")
		e.Drain()
		last := e.Post(people[1], "#GO #redis")
		e.Drain()
		e.IsSound()
		tag, redisTag := e.tag("go"), e.tag("redis")
		p := e.DB().OfBucket(tag.ID.Bucket())
		keys, name := p.Hashtag(tag.ID), p.TagName("go")
		for _, tt := range []struct {
			name    string
			corrupt func(ctx context.Context) error
			want    check.Kind
		}{
			{"a missing post", func(ctx context.Context) error { return client.LRem(ctx, keys.Posts(), 0, first.String()).Err() }, check.TagMissing},
			{"the newest post is missing", func(ctx context.Context) error { return client.LRem(ctx, keys.Posts(), 0, last.String()).Err() }, check.TagMissing},
			{"no list", func(ctx context.Context) error { return client.Del(ctx, keys.Posts()).Err() }, check.TagMissing},
			{"a post without the hashtag", func(ctx context.Context) error { return client.LPush(ctx, keys.Posts(), other.String()).Err() }, check.Extra},
			{"an entry without a post", func(ctx context.Context) error { return client.LPush(ctx, keys.Posts(), "123456000000").Err() }, check.Extra},
			{"a post twice", func(ctx context.Context) error { return client.LPush(ctx, keys.Posts(), first.String()).Err() }, check.Duplicate},
			{"no record", func(ctx context.Context) error { return client.Del(ctx, keys.Record()).Err() }, check.TagName},
			{"no claim", func(ctx context.Context) error { return client.Del(ctx, name).Err() }, check.TagName},
			{"a malformed claim", func(ctx context.Context) error { return client.Set(ctx, name, "go", 0).Err() }, check.TagName},
			{"a claim for nothing", func(ctx context.Context) error { return client.Set(ctx, name, "1025 go", 0).Err() }, check.TagName},
			{"a claim for nothing in the partition", func(ctx context.Context) error {
				return client.Set(ctx, name, (tag.ID+1<<20).String()+" go", 0).Err()
			}, check.TagName},
			{"a claim of another name", func(ctx context.Context) error {
				return client.Set(ctx, p.TagName(anotherName(e.DB(), p)), tag.ID.String()+" "+anotherName(e.DB(), p), 0).Err()
			}, check.TagName},
			{"a record with a name that another hashtag has", func(ctx context.Context) error {
				double := tag.ID + 1<<20
				return errors.Join(client.HSet(ctx, p.Hashtag(double).Record(), "state", "active", "name", "GO", "used", daysAgo(0)).Err(),
					client.RPush(ctx, p.Hashtag(double).Posts(), first.String(), "0").Err())
			}, check.TagName},
			{"a timeline without a record", func(ctx context.Context) error {
				return client.RPush(ctx, p.Hashtag(tag.ID+1<<20).Posts(), first.String(), "0").Err()
			}, check.TagName},
		} {
			if err := tt.corrupt(t.Context()); err != nil {
				t.Fatal(err)
			}
			if report := e.Check(check.Options{}); report.Counts[tt.want] == 0 || report.Repaired > 0 {
				t.Errorf("%s: check found %v, want %s", tt.name, report.Counts, tt.want)
			}
			e.Check(check.Options{Repair: true})
			e.wantTagged("go", last, first)
			e.wantTagged("redis", last)
			if again := e.tag("go"); *again != *tag || *e.tag("redis") != *redisTag {
				t.Errorf("%s: the hashtag is %+v after the repair, want %+v", tt.name, again, tag)
			}
			if got := len(e.tagKeys(client)); got != 6 {
				t.Errorf("%s: %d keys after the repair, want 6: %v", tt.name, got, e.tagKeys(client))
			}
			e.IsSound()
			if t.Failed() {
				return
			}
		}
	})
}

// anotherName returns a name of a hashtag whose place is a partition.
func anotherName(db *rdb.DB, p rdb.Partition) string {
	for i := 0; ; i++ {
		if name := fmt.Sprint("name", i); db.OfName(name) == p {
			return name
		}
	}
}
