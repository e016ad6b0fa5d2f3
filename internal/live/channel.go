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
			err = errors.New("it ended early")
		}
		p.hub.log.WarnContext(ctx, "listening for live messages failed", "partition", p.index, "err", err)
		if time.Since(began) > time.Minute {
			failures = 0
		}
		_ = sleep.For(ctx, backoff(failures))
	}
}

// ready returns nil when nobody needs the channel, or it is subscribed and delivered
// something not long ago, if only a probe.
func (p *partition) ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.hub.options
	switch silence := time.Since(p.lastHeard); {
	case len(p.feeds) == 0:
		return nil
	case !p.subscribed:
		return fmt.Errorf("the live channel of partition %d is not subscribed", p.index)
	case silence > 2*(o.ProbeEvery+o.ProbeWait)+o.CallTimeout:
		return fmt.Errorf("nothing came by the live channel of partition %d for %s, nor could it be tried", p.index, silence.Round(time.Second))
	}
	return nil
}

// channelSubscribed makes every feed look for what it missed.
func (p *partition) channelSubscribed() {
	p.lastHeard = time.Now()
	if !p.subscribed {
		p.subscribed = true
		close(p.whenSubscribed)
	}
	for _, f := range p.feeds {
		f.requestCatchUp()
	}
}

func (p *partition) channelLost() {
	if p.subscribed {
		p.subscribed = false
		p.whenSubscribed = make(chan struct{})
	}
}

// markHeard notes that the channel delivers.
func (p *partition) markHeard() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastHeard = time.Now()
}
