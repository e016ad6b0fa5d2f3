package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"retwis/internal/cost"
	"retwis/internal/pubsub"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

const (
	checksPerRound = 8  // searches for feeds due for a check, per CheckEvery
	checkBatch     = 64 // feeds that are compared with one call
	checksAtOnce   = 4  // feeds of a partition that catch up after a comparison at once; the next ones follow after checkPause
	checkPause     = 20 * time.Millisecond
)

// checks are the regular comparisons of the feeds of a partition with their lists. Most find nothing, so one call compares many feeds.
// Those that may have missed an event then catch up.
type checks struct {
	at        time.Time // of the next search for feeds that are due
	running   bool      // some are being compared
	changed   []*feed   // those that have yet to catch up
	changedAt time.Time // when the next of them may catch up
	failures  int       // consecutive failures of comparisons

	resting map[ratelimit.Key]time.Time // until when the feeds of a network are not compared
}

// check is a feed with the state that is compared with its list.
type check struct {
	feed    *feed
	client  ratelimit.Client // of the feed
	due     time.Time        // its checkAt, which each catch-up changes
	watched pubsub.Watched
	viewers []retwis.UserID
}

// startChecks starts the next comparison of feeds that are due, or the catch-ups that the last one has found necessary, a few at a time: the events of
// a feed wait for its catch-up, and that for those before it.
func (p *partition) startChecks(ctx context.Context) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.checks.running || now.Before(p.checks.nextAt()) {
		return
	}
	if len(p.checks.changed) > 0 {
		p.startCatchUps(now)
		return
	}
	client, batch := p.dueForCheck(now)
	if len(batch) == 0 {
		return
	}
	p.checks.running = true
	p.hub.wg.Go(func() { p.check(ctx, client, batch) })
}

// nextAt returns when startChecks has something to do, unless a comparison is running.
func (c *checks) nextAt() time.Time {
	if len(c.changed) > 0 {
		return c.changedAt
	}
	return c.at
}

// startCatchUps lets the next of the changed feeds catch up.
func (p *partition) startCatchUps(now time.Time) {
	p.checks.changedAt = now.Add(checkPause)
	some := p.checks.changed[:min(checksAtOnce, len(p.checks.changed))]
	p.checks.changed = p.checks.changed[len(some):]
	for _, f := range some {
		if !f.busy {
			f.compareFilters, f.checking = true, true
			f.requestCatchUp()
		}
	}
}

// dueForCheck returns a batch of the feeds that are due, and the client whose share of Redis the comparison uses: [cost.ForSeveral] if the
// feeds have subscribers of several networks. It also sets the time of the next search: soon if the batch is full and more feeds are due,
// else with the next round, so that enough feeds are due by then for one call, or after the rest of a network with feeds that are due.
func (p *partition) dueForCheck(now time.Time) (ratelimit.Client, []check) {
	p.checks.at = now.Add(p.hub.options.CheckEvery / checksPerRound)
	maps.DeleteFunc(p.checks.resting, func(_ ratelimit.Key, until time.Time) bool { return !now.Before(until) })
	var client ratelimit.Client
	var batch []check
	for _, f := range p.feeds {
		if !f.positioned || f.busy || now.Before(f.checkAt) {
			continue
		}
		if len(batch) == checkBatch {
			p.checks.at = now.Add(checkPause)
			break
		}
		of := f.client()
		if until, rests := p.checks.resting[cost.NetworkOf(of)]; rests {
			if until.Before(p.checks.at) {
				p.checks.at = until
			}
			continue
		}
		if len(batch) == 0 {
			client = of
		} else if cost.NetworkOf(of) != cost.NetworkOf(client) {
			client = cost.ForSeveral()
		}
		batch = append(batch, check{f, of, f.checkAt, pubsub.Watched{At: f.position, Marker: f.marker}, f.viewers()})
	}
	return client, batch
}

// check compares feeds with their lists. Those that it does not reach stay due. After a failure each of them catches up, which retries until it
// succeeds: one list that cannot be read must not stop the checks of others.
func (p *partition) check(ctx context.Context, client ratelimit.Client, batch []check) {
	meter := p.hub.meter(client)
	compared, err := p.compare(cost.Long(cost.With(ctx, meter)), batch)
	var filters map[retwis.UserID]int64
	if err == nil {
		filters, err = p.hub.readFilters(cost.With(ctx, p.hub.meter(client)), viewersOf(batch)) // free: it is for all viewers
	}
	points := meter.Close().Work.Points()
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		p.hub.log.WarnContext(ctx, "live: comparing timelines failed, reading each of them", "timelines", len(batch), "err", err)
		compared.Verdicts = make([]pubsub.Verdict, len(batch))
	}
	n := len(compared.Verdicts)
	resting := p.hub.restAfterCheck(batch[:n], points)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.checks.rest(resting, now)
	if err != nil {
		p.checks.at = now.Add(backoff(p.checks.failures))
		p.checks.failures++
	} else {
		p.checks.failures = 0
	}
	for i, verdict := range compared.Verdicts {
		c, f := batch[i], batch[i].feed
		f.pay(cost.PerCheck+points*(i+1)/n-points*i/n, cost.RegularCheck)
		switch {
		case f.busy || f.dropped || f.checkAt != c.due: // a catch-up has made, or makes, a later comparison
		case verdict == pubsub.Same && f.position == c.watched.At:
			f.position.Change, f.changeAt = compared.Change, now
			f.resetFiltered(filters)
			f.scheduleCheck()
		default:
			f.behind = verdict == pubsub.Behind && f.position.Change == c.watched.At.Change
			p.checks.changed = append(p.checks.changed, f)
		}
	}
	if n < len(batch) {
		p.checks.at = now.Add(checkPause)
	}
	p.checks.running = false
	p.wake()
}

// restAfterCheck returns for how long the networks of compared feeds have to rest before the next comparison in the same partition: each of them for its
// part of the work.
func (h *Hub) restAfterCheck(compared []check, points int) map[ratelimit.Key]time.Duration {
	clients, feeds := map[ratelimit.Key]ratelimit.Client{}, map[ratelimit.Key]int{}
	for _, c := range compared {
		network := cost.NetworkOf(c.client)
		clients[network] = c.client
		feeds[network]++
	}
	partitions := len(h.snapshot()) // others compare its feeds meanwhile
	rests := map[ratelimit.Key]time.Duration{}
	for network, n := range feeds {
		meter := h.meter(clients[network])
		_ = meter.Add(cost.Work{Rows: points * n / len(compared) * cost.RowsPerPoint}) // nobody has to stop: it is done
		if rest := meter.Rest(); rest > 0 {
			rests[network] = time.Duration(partitions) * rest
		}
	}
	return rests
}

// rest makes networks rest from now on.
func (c *checks) rest(networks map[ratelimit.Key]time.Duration, now time.Time) {
	if c.resting == nil {
		c.resting = map[ratelimit.Key]time.Time{}
	}
	for network, rest := range networks {
		c.resting[network] = now.Add(rest)
	}
}

func (p *partition) compare(ctx context.Context, batch []check) (pubsub.Comparison, error) {
	watched := make([]pubsub.Watched, len(batch))
	for i, c := range batch {
		watched[i] = c.watched
	}
	ctx, cancel := p.hub.callContext(ctx)
	defer cancel()
	compared, err := p.hub.source.Compare(ctx, watched)
	if n := len(compared.Verdicts); err == nil && (n == 0 || n > len(batch)) {
		err = fmt.Errorf("requested %d comparisons, received %d", len(batch), n)
	}
	return compared, err
}

// viewersOf returns the viewers of feeds, each once.
func viewersOf(batch []check) []retwis.UserID {
	var viewers []retwis.UserID
	for _, c := range batch {
		viewers = append(viewers, c.viewers...)
	}
	slices.Sort(viewers)
	return slices.Compact(viewers)
}
