package limits

import (
	"container/list"
	"sync"

	"retwis/internal/ratelimit"
)

// documentCache holds the most recently used persisted documents of this process. A holder that adds more than its share
// replaces its own documents, so it cannot evict those of others. Its methods are safe for concurrent use.
type documentCache struct {
	most, share int

	mu      sync.Mutex
	entries map[string]*list.Element // of cachedDocument, by hash
	order   *list.List               // most recently used first
	held    map[ratelimit.Key]int
}

type cachedDocument struct {
	hash     string
	holder   ratelimit.Key
	document *persistedDocument
}

func newDocumentCache(most, share int) *documentCache {
	return &documentCache{most: most, share: share, entries: map[string]*list.Element{}, order: list.New(), held: map[ratelimit.Key]int{}}
}

// find returns a document by its hash, or nil.
func (c *documentCache) find(hash string) *persistedDocument {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[hash]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(cachedDocument).document //nolint:forcetypeassert // nothing else is stored
}

// add adds a document of a holder. It returns the one that has the hash already, if there is one.
func (c *documentCache) add(holder ratelimit.Key, hash, text string) *persistedDocument {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[hash]; e != nil {
		return e.Value.(cachedDocument).document //nolint:forcetypeassert // nothing else is stored
	}
	switch {
	case c.held[holder] >= c.share:
		c.evictLocked(func(d cachedDocument) bool { return d.holder == holder })
	case len(c.entries) >= c.most:
		c.evictLocked(func(cachedDocument) bool { return true })
	}
	document := &persistedDocument{text: text}
	c.entries[hash] = c.order.PushFront(cachedDocument{hash, holder, document})
	c.held[holder]++
	return document
}

// evictLocked removes the least recently used of some documents.
func (c *documentCache) evictLocked(of func(cachedDocument) bool) {
	for e := c.order.Back(); e != nil; e = e.Prev() {
		d := e.Value.(cachedDocument) //nolint:forcetypeassert // nothing else is stored
		if !of(d) {
			continue
		}
		c.order.Remove(e)
		delete(c.entries, d.hash)
		if c.held[d.holder]--; c.held[d.holder] == 0 {
			delete(c.held, d.holder)
		}
		return
	}
}
