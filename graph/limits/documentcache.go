package limits

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"retwis/internal/ratelimit"
)

// documentCache holds the most recently used persisted documents of this process. A holder that adds more than its share
// replaces its own documents, so it cannot evict those of others. Its methods are safe for concurrent use.
type documentCache struct {
	share int

	mu        sync.Mutex
	documents *simplelru.LRU[string, cachedDocument] // by hash
	held      map[ratelimit.Key]int
}

type cachedDocument struct {
	holder   ratelimit.Key
	document *persistedDocument
}

func newDocumentCache(most, share int) *documentCache {
	c := &documentCache{share: share, held: map[ratelimit.Key]int{}}
	c.documents, _ = simplelru.NewLRU(most, func(_ string, evicted cachedDocument) { // fails only if most is not positive
		if c.held[evicted.holder]--; c.held[evicted.holder] == 0 {
			delete(c.held, evicted.holder)
		}
	})
	return c
}

// find returns a document by its hash, or nil.
func (c *documentCache) find(hash string) *persistedDocument {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, _ := c.documents.Get(hash)
	return known.document
}

// add adds a document of a holder. It returns the one that has the hash already, if there is one.
func (c *documentCache) add(holder ratelimit.Key, hash, text string) *persistedDocument {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.documents.Peek(hash); ok {
		return known.document
	}
	if c.held[holder] >= c.share {
		c.evictLocked(holder)
	}
	document := &persistedDocument{text: text}
	c.documents.Add(hash, cachedDocument{holder, document})
	c.held[holder]++
	return document
}

// evictLocked removes the least recently used document of a holder.
func (c *documentCache) evictLocked(holder ratelimit.Key) {
	for _, hash := range c.documents.Keys() { // oldest first
		if d, _ := c.documents.Peek(hash); d.holder == holder {
			c.documents.Remove(hash)
			return
		}
	}
}
