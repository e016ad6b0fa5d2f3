package live

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"retwis/internal/retwis"
)

// recentPostsMax is how many entries [recentPosts] holds. Their posts are mostly those of the cache of posts.
const recentPostsMax = 4096

// recentPosts holds the posts that were loaded for messages. When thousands of feeds catch up at once, because the same authors wrote to all of
// them, each would read the same posts again. A feed may show one that was loaded after the read of its last known change: if the post was deleted since,
// that is a later change, which the feed reads, or a message that it has received. Its zero value is ready.
type recentPosts struct {
	mu    sync.Mutex
	posts *simplelru.LRU[retwis.Element, recentPost]
}

type recentPost struct {
	post  *retwis.Post // nil if the entry shows none
	begun time.Time    // begin of the read
}

// add adds what a read returned.
func (r *recentPosts) add(begun time.Time, entries []retwis.Element, posts []*retwis.Post) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.posts == nil {
		r.posts, _ = simplelru.NewLRU[retwis.Element, recentPost](recentPostsMax, nil) // fails only for a size below 1
	}
	for i, e := range entries {
		r.posts.Add(e, recentPost{posts[i], begun})
	}
}

// find returns the post that an entry shows, nil for none, if it was read after a time.
func (r *recentPosts) find(e retwis.Element, after time.Time) (post *retwis.Post, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.posts == nil {
		return nil, false
	}
	found, ok := r.posts.Get(e)
	if !ok || !found.begun.After(after) {
		return nil, false
	}
	return found.post, true
}
