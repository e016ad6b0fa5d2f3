package store_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/storetest"
)

func TestClaimTags_IsIdempotentAndFindsFoldedNames(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		s := storetest.Open(t, store.Options{URL: url})
		first, err := s.Tags.ClaimTags(t.Context(), retwis.IndexedTags("#Go #Été #STRASSE"))
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Tags.ClaimTags(t.Context(), retwis.IndexedTags("#straße #ete #ÉTÉ #go"))
		if err != nil {
			t.Fatal(err)
		}
		if want := []retwis.TagID{first[2], again[1], first[1], first[0]}; !slices.Equal(again, want) || slices.Contains(first, again[1]) {
			t.Errorf("claimed %v, and then %v", first, again)
		}
		tags, err := s.Tags.Tags(t.Context(), append(slices.Clone(again), 7))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"STRASSE", "ete", "Été", "Go", ""} {
			if want == "" {
				if tags[i] != nil {
					t.Errorf("a hashtag that does not exist is %+v", tags[i])
				}
				continue
			}
			byName, err := s.Tags.TagByName(t.Context(), retwis.FoldTag(want))
			if err != nil || tags[i] == nil || *byName != *tags[i] || tags[i].Name != want {
				t.Errorf("hashtag %d is %+v by its id and %+v by its name, %v", i, tags[i], byName, err)
			}
		}
		if _, err := s.Tags.TagByName(t.Context(), "unknown"); !errors.Is(err, retwis.ErrNotFound) {
			t.Errorf("an unknown hashtag: %v", err)
		}
	})
}

// Attack: hashtags of posts that are refused remain for 90 days.
func TestCreatePost_ClaimsNoTagsForARefusedPost(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{URL: redistest.Server(t).URL()})
	author := storetest.Register(t, s, "author")[0]
	for name, post := range map[string]retwis.NewPost{
		"a reply to a missing post": {InReplyTo: 5},
		"a quote of a missing post": {Quoted: 5},
	} {
		post.Author, post.Text, post.IdempotencyKey = author, "#new", name
		if _, err := s.Posts.CreatePost(t.Context(), post); err == nil {
			t.Errorf("%s was created", name)
		}
		if _, err := s.Tags.TagByName(t.Context(), "new"); !errors.Is(err, retwis.ErrNotFound) {
			t.Errorf("%s: the hashtag exists, %v", name, err)
		}
	}
}

// Hashtags, users and lists of a partition never have the same id.
func TestClaimTags_AssignsIDsThatNoUserHas(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{URL: redistest.Server(t).URL(), Partitions: 1})
	sequences := map[int64]bool{}
	for i := range 20 {
		user := storetest.Register(t, s, "user"+strconv.Itoa(i))[0]
		tags, err := s.Tags.ClaimTags(t.Context(), retwis.IndexedTags("#tag"+strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		for _, sequence := range []int64{int64(user) / retwis.Buckets, int64(tags[0]) / retwis.Buckets} {
			if sequences[sequence] {
				t.Errorf("two objects have the sequence number %d", sequence)
			}
			sequences[sequence] = true
		}
	}
}

func TestClaimTags_RecordsTheDayOfUse(t *testing.T) {
	t.Parallel()
	url := redistest.Server(t).URL()
	s, client := storetest.Open(t, store.Options{URL: url}), enginetest.Client(t, url)
	ids, err := s.Tags.ClaimTags(t.Context(), retwis.IndexedTags("#go"))
	if err != nil {
		t.Fatal(err)
	}
	record := s.DB().OfBucket(ids[0].Bucket()).Hashtag(ids[0]).Record()
	if err := client.HSet(t.Context(), record, "used", 7).Err(); err != nil {
		t.Fatal(err)
	}
	writes := func() int { return commandStat(t, client, "hset", "calls") }
	before := writes()
	for range 3 {
		if _, err := s.Tags.ClaimTags(t.Context(), retwis.IndexedTags("#GO")); err != nil {
			t.Fatal(err)
		}
	}
	if after := writes(); after != before+1 && after != before+2 { // the day may change meanwhile
		t.Errorf("three claims write from %d to %d times, want once", before, after)
	}
	if day := client.HGet(t.Context(), record, "used").Val(); day < strconv.FormatInt(time.Now().Unix()/86_400-1, 10) {
		t.Errorf("the hashtag was used on day %s", day)
	}
}

// A failover must not lose a hashtag whose post was created.
func TestClaimTags_WaitsForReplicas(t *testing.T) {
	t.Parallel()
	cluster, s := replicated(t)
	author := storetest.Register(t, s, "author")[0]
	replicas := cluster.Nodes()[3:]
	for _, replica := range replicas {
		replica.Pause()
	}
	names := retwis.IndexedTags("#a #b #c #d #e #f")
	if _, err := s.Tags.ClaimTags(t.Context(), names); !errors.Is(err, retwis.ErrNotReplicated) {
		t.Errorf("without replicas: %v", err)
	}
	for _, replica := range replicas {
		replica.Resume()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ids, err := s.Tags.ClaimTags(ctx, names)
	if err != nil {
		t.Fatal(err)
	}
	edge, err := s.Posts.CreatePost(ctx, retwis.NewPost{Author: author, Text: "#A #b #C", IdempotencyKey: "key"})
	if err != nil || !slices.Equal(edge.Post.Tags, ids[:3]) {
		t.Errorf("the post has the hashtags %v, want %v: %v", edge.Post, ids[:3], err)
	}
}
