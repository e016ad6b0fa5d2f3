package live

import "sync/atomic"

// Stats say what a [Hub] has done since it was made.
type Stats struct {
	Subscribers int64 // open now
	Feeds       int64 // timelines with a subscriber now
	Delivered   int64 // live events handed to subscribers
	Replays     int64 // subscriptions that resumed from a cursor
	Resets      int64 // resets told to subscribers
	CutOffs     int64 // subscribers that were too slow
	CatchUps    int64 // reads of what a feed missed, or might have missed
	Deaf        int64 // connections that were replaced because they delivered nothing
	Overflows   int64 // times that messages came faster than they could be handled
}

type counters struct {
	subscribers, feeds, delivered, replays, resets, cutOffs, catchUps, deaf, overflows atomic.Int64
}

// Stats returns what the hub has done so far.
func (h *Hub) Stats() Stats {
	c := &h.counts
	return Stats{
		Subscribers: c.subscribers.Load(),
		Feeds:       c.feeds.Load(),
		Delivered:   c.delivered.Load(),
		Replays:     c.replays.Load(),
		Resets:      c.resets.Load(),
		CutOffs:     c.cutOffs.Load(),
		CatchUps:    c.catchUps.Load(),
		Deaf:        c.deaf.Load(),
		Overflows:   c.overflows.Load(),
	}
}
