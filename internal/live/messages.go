package live

import (
	"context"
	"slices"

	"retwis/internal/cost"
	"retwis/internal/netpoll"
	"retwis/internal/pubsub"
	"retwis/internal/retwis"
)

// recipientBatch is how many recipients of messages are served before others have the lock of the partition, and the core.
const recipientBatch = 32

// apply processes the messages of the inbox in order until ctx is done.
func (p *partition) apply(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.inbox.ready:
		}
		for batch := p.inbox.take(); len(batch) > 0 && ctx.Err() == nil; batch = p.inbox.take() {
			posts, err := p.loadPosts(ctx, batch)
			if err != nil && ctx.Err() == nil {
				p.hub.log.WarnContext(ctx, "live: loading pushed posts failed, feeds catch up", "partition", p.index, "err", err)
			}
			for _, m := range batch {
				p.handle(m, posts)
			}
		}
	}
}

// loadPosts returns the posts that the entries of a batch show which were pushed to feeds of this process. The post of an entry that
// shows none any more is nil.
func (p *partition) loadPosts(ctx context.Context, batch []pubsub.Message) (map[retwis.Element]*retwis.Post, error) {
	var entries []retwis.Element
	p.mu.Lock()
	for _, m := range batch {
		if m.Kind == pubsub.Pushed && slices.ContainsFunc(m.Recipients, func(r pubsub.Recipient) bool { return p.feeds[r.Timeline] != nil }) {
			entries = append(entries, m.Element)
		}
	}
	p.mu.Unlock()
	return p.hub.pushedPosts(ctx, entries)
}

// handle passes a message to the feeds of its recipients. A message may have hundreds, so others have the lock and the core after some of them.
func (p *partition) handle(m pubsub.Message, posts map[retwis.Element]*retwis.Post) {
	switch m.Kind {
	case pubsub.Joined:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.channelSubscribed()
	case pubsub.Counted:
		p.hub.counting.add(m.Post)
	default:
		for some := range slices.Chunk(m.Recipients, recipientBatch) {
			p.passOn(m, some, posts)
			if p.passed += len(some); p.passed >= recipientBatch {
				p.passed = 0
				netpoll.Yield()
			}
		}
	}
}

// passOn passes a message to the feeds of some recipients. A feed catches up if the post of the message could not be loaded.
func (p *partition) passOn(m pubsub.Message, to []pubsub.Recipient, posts map[retwis.Element]*retwis.Post) {
	p.mu.Lock()
	defer p.mu.Unlock()
	body, loaded := posts[m.Element]
	kind := m.Kind
	if kind == pubsub.Hidden {
		kind, body, loaded = pubsub.Pushed, nil, true // the feed advances and sends nothing
	}
	for _, r := range to {
		f := p.feeds[r.Timeline]
		if f == nil {
			continue
		}
		if m.Pulled {
			f.pay(cost.PerPull, 0)
		}
		if kind == pubsub.Pushed && !loaded {
			f.requestCatchUp()
			continue
		}
		f.receive(message{
			kind: kind, element: m.Element, hidden: m.Kind == pubsub.Hidden, before: r.Before, body: body, removal: pubsub.Removal{Post: m.Post, Author: m.Author},
		})
	}
}
