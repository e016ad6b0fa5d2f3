package live

import (
	"context"
	"errors"
	"sync/atomic"

	"retwis/internal/pubsub"
	"retwis/internal/sleep"
)

var errSilent = errors.New("the connection delivers no messages, not even a probe")

// listenOnce subscribes to the partition's channel until the subscription ends. A connection
// may appear healthy and deliver nothing, for instance if a proxy lost its other end. After
// a period of silence listenOnce therefore publishes a probe to the channel. If the probe
// does not arrive, it ends the subscription and returns errSilent.
func (p *partition) listenOnce(ctx context.Context) error {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	var heard atomic.Int64
	p.hub.wg.Go(func() {
		if p.isSilent(ctx, &heard) {
			giveUp(errSilent)
		}
	})
	err := p.hub.source.Listen(ctx, p.hub.options.Node, p.index, func(m pubsub.Message) {
		heard.Add(1)
		if m.Kind != pubsub.Probe && p.inbox.put(m) {
			p.hub.counts.overflows.Add(1)
		}
	})
	if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
		p.hub.counts.silentConnections.Add(1)
		return cause
	}
	return err
}

// isSilent blocks until a probe did not arrive and returns true. It returns false when ctx
// is done.
func (p *partition) isSilent(ctx context.Context, heard *atomic.Int64) bool {
	for {
		before := heard.Load()
		if sleep.For(ctx, p.hub.options.ProbeEvery) != nil {
			return false
		}
		if heard.Load() != before {
			p.markHeard()
			continue
		}
		if p.probe(ctx) != nil {
			continue // a probe that could not be sent proves nothing
		}
		if sleep.For(ctx, p.hub.options.ProbeWait) != nil {
			return false
		}
		if heard.Load() == before {
			return true
		}
		p.markHeard()
	}
}

func (p *partition) probe(ctx context.Context) error {
	ctx, cancel := p.hub.callContext(ctx)
	defer cancel()
	return p.hub.source.Probe(ctx, p.hub.options.Node, p.index)
}
