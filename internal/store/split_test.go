package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"retwis/internal/enginetest"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
)

// A split copies each partition; ids made before it must lead to the copies.
func TestIDs_AreFoundAfterPartitionsDouble(t *testing.T) {
	t.Parallel()
	url := redistest.Server(t).URL()
	client := enginetest.Client(t, url)
	for n := 1; n <= 256; n *= 2 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if err := client.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			before := enginetest.New(t, store.Options{URL: url, Partitions: n})
			users := before.Crowd("user", 6)
			posts := make([]retwis.PostID, len(users))
			lists := make([]retwis.ListID, len(users))
			for i, user := range users {
				posts[i] = before.Post(user, fmt.Sprintf("post %d #Tag%d", i, i))
				lists[i] = before.CreateList(user)
			}
			splitPartitions(t, client, n)

			after := enginetest.New(t, store.Options{URL: url, Partitions: 2 * n})
			after.ContinueKeys(before)
			found, err := after.Accounts.Users(t.Context(), users)
			if err != nil {
				t.Fatal(err)
			}
			bodies, err := after.Posts.Posts(t.Context(), posts)
			if err != nil {
				t.Fatal(err)
			}
			kept, err := after.Lists.Lists(t.Context(), lists)
			if err != nil {
				t.Fatal(err)
			}
			for i, user := range users {
				if found[i] == nil || found[i].Username != fmt.Sprint("user", i) {
					t.Errorf("user %s is read as %+v", user, found[i])
				}
				if bodies[i] == nil || bodies[i].AuthorID != user || bodies[i].Text != fmt.Sprintf("post %d #Tag%d", i, i) {
					t.Errorf("post %s is read as %+v", posts[i], bodies[i])
				}
				if kept[i] == nil || kept[i].OwnerID != user {
					t.Errorf("list %s is read as %+v", lists[i], kept[i])
				}
				tag, err := after.Tags.TagByName(t.Context(), fmt.Sprint("tag", i))
				if err != nil || !slices.Equal(bodies[i].Tags, []retwis.TagID{tag.ID}) {
					t.Fatalf("the hashtag of post %s is %v, %v", posts[i], tag, err)
				}
				if again, err := after.Tags.ClaimTags(t.Context(), retwis.IndexedTags(bodies[i].Text)); err != nil || again[0] != tag.ID {
					t.Errorf("the hashtag %s is claimed again as %v, %v", tag.ID, again, err)
				}
				if known, err := after.Tags.Tags(t.Context(), bodies[i].Tags); err != nil || known[0] == nil || *known[0] != *tag {
					t.Errorf("the hashtag %s is read as %v, %v", tag.ID, known, err)
				}
				if at, list := after.DB().OfTimeline(retwis.TagPosts(tag.ID)), after.DB().OfName(retwis.FoldTag(tag.Name)); at != list {
					t.Errorf("the timeline of hashtag %s is in partition %d, its name in %d", tag.ID, at.Number, list.Number)
				}
				if got := after.Read(retwis.Profile(user)); !slices.Equal(got, posts[i:i+1]) {
					t.Errorf("the profile of %s holds %v, want %s", user, got, posts[i])
				}
				if next := after.Post(user, "later"); next <= posts[i] || next.Bucket() != posts[i].Bucket() {
					t.Errorf("after the split %s follows post %s", next, posts[i])
				}
			}
		})
	}
}

// splitPartitions copies the keys of each of n partitions to its second half, and doubles the number of partitions.
func splitPartitions(t *testing.T, client redis.UniversalClient, n int) {
	t.Helper()
	partitions := rdb.NewPartitions(2 * n)
	for i, p := range partitions[:n] {
		for _, key := range enginetest.Keys(t, client, p.Tag+":*") {
			other := partitions[n+i].Tag + strings.TrimPrefix(key, p.Tag)
			if err := client.Copy(t.Context(), key, other, 0, false).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := client.HSet(t.Context(), rdb.MetaKey, "partitions", 2*n).Err(); err != nil {
		t.Fatal(err)
	}
}
