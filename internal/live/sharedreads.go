package live

import (
	"context"
	"slices"
	"sync"
	"time"

	"retwis/internal/retwis"
)

// sharedReads reads the posts that pushed entries show. A post to many timelines reaches all partitions at about the same time, and each of them
// would read it. So there is one read at a time of the posts that live in a partition, and calls that come meanwhile share the next one. Each call is
// answered by a read that began after it: the post of an earlier one may have been deleted since. The posts of each partition are read
// apart, so that a server which does not answer delays no others. Its zero value is ready.
type sharedReads struct {
	mu    sync.Mutex
	lanes map[int]*readLane // by the partition of the posts
}

// readLane is the reads of the posts of a partition.
type readLane struct {
	turn chan struct{} // holds an element while a read runs
	next *sharedRead   // the one that has not begun; sharedReads.mu guards it
}

// sharedRead is a read for one or more calls.
type sharedRead struct {
	entries []retwis.Element                // those of all calls, each once
	posts   map[retwis.Element]*retwis.Post // by entry; the read sets the values
	err     error                           // of the read
	done    chan struct{}                   // closed when the read has ended
}

// pushedPosts returns the posts that entries show, nil for those that show none, like [Source.Shown]. It takes the context of the hub, because calls share
// its reads.
func (h *Hub) pushedPosts(ctx context.Context, entries []retwis.Element) (map[retwis.Element]*retwis.Post, error) {
	var reads []*sharedRead
	var led sync.WaitGroup
	defer led.Wait()
	for partition, some := range h.byPartition(entries) {
		read, lane, leads := h.reads.join(partition, some)
		if leads {
			led.Go(func() { h.lead(ctx, lane, read) })
		}
		reads = append(reads, read)
	}
	posts := make(map[retwis.Element]*retwis.Post, len(entries))
	for _, read := range reads {
		if <-read.done; read.err != nil {
			return nil, read.err
		}
		for _, e := range entries {
			if post, ok := read.posts[e]; ok {
				posts[e] = post
			}
		}
	}
	return posts, nil
}

func (h *Hub) byPartition(entries []retwis.Element) map[int][]retwis.Element {
	groups := map[int][]retwis.Element{}
	for _, e := range entries {
		partition := h.source.PartitionOfPost(e.Shown())
		groups[partition] = append(groups[partition], e)
	}
	return groups
}

// join adds entries to the next read of a partition's posts. The caller of the first ones leads it.
func (r *sharedReads) join(partition int, entries []retwis.Element) (read *sharedRead, lane *readLane, leads bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lane = r.lanes[partition]
	if lane == nil {
		if r.lanes == nil {
			r.lanes = map[int]*readLane{}
		}
		lane = &readLane{turn: make(chan struct{}, 1)}
		r.lanes[partition] = lane
	}
	if leads = lane.next == nil; leads {
		lane.next = &sharedRead{done: make(chan struct{}), posts: map[retwis.Element]*retwis.Post{}}
	}
	for _, e := range entries {
		if _, joined := lane.next.posts[e]; !joined {
			lane.next.posts[e] = nil
			lane.next.entries = append(lane.next.entries, e)
		}
	}
	return lane.next, lane, leads
}

// lead makes a read when the one before it has ended.
func (h *Hub) lead(ctx context.Context, lane *readLane, read *sharedRead) {
	lane.turn <- struct{}{}
	h.reads.mu.Lock()
	lane.next = nil // who comes now joins another read
	h.reads.mu.Unlock()
	for some := range slices.Chunk(read.entries, postBatch) {
		var loaded []*retwis.Post
		begun := time.Now()
		if loaded, read.err = h.shown(ctx, some); read.err != nil {
			break
		}
		h.recent.add(begun, some, loaded)
		for i, post := range loaded {
			read.posts[some[i]] = post
		}
	}
	<-lane.turn
	close(read.done)
}
