// Package postcache holds posts in the memory of a process, so that a page need not read them again.
//
// A post never changes, but it may be deleted or hidden. Each partition has a stream of such changes, and the list of a
// timeline is read together with the changes that followed the last one applied: see [Cache.Apply]. A page shows a
// cached post only if the partition of its timeline receives the changes of that post. So a page shows no post whose
// deletion had reached the partition before the page was read:
//
//   - Nothing is cached before the position in the stream of every partition is known. A change of a post that was read
//     afterwards comes after these positions.
//   - A change counts as applied once its posts are dropped. Both happen under one lock.
//   - A post is cached only if nothing was dropped between the begin of its read and now. Otherwise the read may have
//     preceded its deletion.
//   - If changes may be missing, all posts are dropped.
//   - A post is read again after [MaxAge], which bounds the effect of a change that never arrives.
package postcache

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"retwis/internal/retwis"
)

// MaxAge is the age from which a cached post is read again.
const MaxAge = 10 * time.Minute

// Cache is a cache of posts, bounded in bytes. It drops the least recently used posts. It is off until [Cache.Start]. Its
// methods may be called concurrently. Callers share the posts and must not change them.
type Cache struct {
	mu      sync.Mutex
	most    int // bytes
	posts   *simplelru.LRU[retwis.PostID, cached]
	stats   Stats
	applied []retwis.ChangeID // last change applied, by partition; empty while the cache is off
	drops   uint64            // how often posts were dropped, other than for lack of room
}

type cached struct {
	post *retwis.Post // nil if the post was deleted
	read time.Time    // time before the read
}

// Stats are the figures of a cache since its creation.
type Stats struct {
	Bytes, Posts int // now
	Hits, Misses uint64
	Resets       uint64 // how often all posts were dropped
}

// New returns a cache that is off.
func New() *Cache {
	c := &Cache{}
	c.resetLocked()
	c.stats = Stats{}
	return c
}

// overhead is the memory that the cache takes for each post besides its text, mentions, hashtags and thread, in bytes.
const overhead = 344

func size(p *retwis.Post) int {
	if p == nil {
		return overhead
	}
	return overhead + len(p.Text) + 8*len(p.Mentions) + 8*len(p.Tags) + 8*len(p.Thread)
}

// Start begins to cache posts in at most so many bytes. It takes the last change of each partition.
func (c *Cache) Start(last []retwis.ChangeID, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.applied, c.most = slices.Clone(last), most
}

// Changes are the changes of a partition that followed a position in its stream.
type Changes struct {
	From     retwis.ChangeID // the position
	Last     retwis.ChangeID // last change of the stream
	Complete bool            // whether these are all changes after the position
	Posts    []retwis.PostID // posts that changed
	Others   bool            // whether there are changes of anything other than single posts
}

// Position returns the last change of a partition that was applied, false while the cache is off.
func (c *Cache) Position(partition int) (retwis.ChangeID, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.applied) == 0 {
		return retwis.ChangeID{}, false
	}
	return c.applied[partition], true
}

// Apply drops the posts that changes of a partition concern. Call it with the changes that were read with a list, before
// [Cache.Find].
func (c *Cache) Apply(partition int, changes Changes) {
	c.mu.Lock()
	defer c.mu.Unlock()
	applied := &c.applied[partition]
	if !changes.Complete {
		c.resetLocked()
		*applied = changes.Last
		return
	}
	if changes.Others {
		c.resetLocked()
	}
	for _, post := range changes.Posts {
		c.dropLocked(post)
	}
	// The position may have gone back since the read began. Then the changes may not continue at it.
	if !applied.Before(changes.From) && applied.Before(changes.Last) {
		*applied = changes.Last
	}
}

// Drop drops a post whose deletion has begun in this process.
func (c *Cache) Drop(post retwis.PostID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropLocked(post)
}

func (c *Cache) dropLocked(post retwis.PostID) {
	c.drops++
	c.posts.Remove(post)
}

// resetLocked drops all posts. It takes a new list, because emptying a large one takes long.
func (c *Cache) resetLocked() {
	c.drops++
	c.stats.Resets++
	c.stats.Bytes = 0
	c.posts, _ = simplelru.NewLRU(math.MaxInt, func(_ retwis.PostID, dropped cached) { // fails only for a size below 1
		c.stats.Bytes -= size(dropped.post)
	})
}

// Find sets posts[i] to the post with ids[i], nil if it was deleted, for each i for which find[i] is true and the post is
// cached. It returns the other indexes.
func (c *Cache) Find(ids []retwis.PostID, find []bool, posts []*retwis.Post) (missing []int) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, id := range ids {
		if !find[i] {
			missing = append(missing, i)
			continue
		}
		known, ok := c.posts.Get(id)
		if !ok || now.Sub(known.read) >= MaxAge {
			c.stats.Misses++
			missing = append(missing, i)
			continue
		}
		c.stats.Hits++
		posts[i] = known.post
	}
	return missing
}

// Reading is a read of posts that began.
type Reading struct {
	began time.Time
	drops uint64
	on    bool // whether the cache was on
}

// BeginReading returns a reading. Call it before a read of posts is sent to the database.
func (c *Cache) BeginReading() Reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Reading{time.Now(), c.drops, len(c.applied) > 0}
}

// Result is what a reading has found out about a post.
type Result struct {
	ID   retwis.PostID
	Post *retwis.Post // nil if the post was deleted
}

// Add caches the results of a reading, unless posts were dropped meanwhile.
func (c *Cache) Add(r Reading, results []Result) {
	if !r.on {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.drops != r.drops {
		return
	}
	for _, result := range results {
		c.posts.Remove(result.ID)
		c.posts.Add(result.ID, cached{result.Post, r.began})
		c.stats.Bytes += size(result.Post)
	}
	for c.stats.Bytes > c.most {
		c.posts.RemoveOldest()
	}
}

// Stats returns the figures of the cache.
func (c *Cache) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	stats := c.stats
	stats.Posts = c.posts.Len()
	return stats
}
