package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"retwis/internal/sleep"
)

// listen subscribes to the partition's channel until ctx is done.
func (p *partition) listen(ctx context.Context) {
	for failures := 0; ; failures++ {
		began := time.Now()
		err := p.listenOnce(ctx)
		p.mu.Lock()
		p.channelLost()
		p.mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("the subscription ended unexpectedly")
		}
		p.hub.log.WarnContext(ctx, "live: subscription to the partition's channel failed, retrying", "partition", p.index, "err", err)
		if time.Since(began) > time.Minute {
			failures = 0
		}
		_ = sleep.For(ctx, backoff(failures))
	}
}

// ready returns nil if the partition has no feeds, or if its channel is subscribed and
// recently delivered a message or a probe.
func (p *partition) ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.hub.options
	switch silence := time.Since(p.lastHeard); {
	case len(p.feeds) == 0:
		return nil
	case !p.subscribed:
		return fmt.Errorf("live channel of partition %d is not subscribed", p.index)
	case silence > 2*(o.ProbeEvery+o.ProbeWait)+o.CallTimeout:
		return fmt.Errorf("live channel of partition %d delivered no message and no probe for %s", p.index, silence.Round(time.Second))
	}
	return nil
}

// channelSubscribed records a new subscription of the channel and makes every feed catch up:
// messages published before it may be lost, also those about filters. The feeds also verify what they sent last.
func (p *partition) channelSubscribed() {
	p.lastHeard = time.Now()
	if !p.subscribed {
		p.subscribed = true
		close(p.whenSubscribed)
	}
	for _, f := range p.feeds {
		f.verify = true // the channel may be that of another master
		f.compareFilters = f.compareFilters || f.accepting
		f.requestCatchUp()
	}
}

func (p *partition) channelLost() {
	if p.subscribed {
		p.subscribed = false
		p.whenSubscribed = make(chan struct{})
	}
}

// markHeard records that the channel delivers.
func (p *partition) markHeard() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastHeard = time.Now()
}
