package live

import (
	"context"
	"slices"

	"retwis/internal/cost"
	"retwis/internal/retwis"
)

// filterBatch is the maximum number of filter epochs read by one call.
const filterBatch = 500

// viewers returns the viewers of the subscribers, each once.
func (f *feed) viewers() []retwis.UserID {
	var viewers []retwis.UserID
	for s := range f.subscribers.all() {
		if s.viewer != 0 {
			viewers = append(viewers, s.viewer)
		}
	}
	slices.Sort(viewers)
	return slices.Compact(viewers)
}

// readFilters returns the filter epochs of viewers.
func (h *Hub) readFilters(ctx context.Context, viewers []retwis.UserID) (map[retwis.UserID]int64, error) {
	epochs := make(map[retwis.UserID]int64, len(viewers))
	for some := range slices.Chunk(viewers, filterBatch) {
		ctx, cancel := h.callContext(ctx)
		read, err := h.source.FilterEpochs(ctx, some)
		cancel()
		if err != nil {
			return nil, err
		}
		for i, viewer := range some {
			epochs[viewer] = read[i]
		}
	}
	return epochs, nil
}

// resetFiltered resets the subscribers whose filter epoch has changed.
func (f *feed) resetFiltered(epochs map[retwis.UserID]int64) {
	if len(epochs) == 0 {
		return
	}
	at := f.position
	f.subscribers.visit(func(s *subscription) {
		if epoch, ok := epochs[s.viewer]; ok && epoch != s.filter {
			s.filter = epoch
			s.hub.counts.resets.Add(1)
			s.deliver(&retwis.Reset{Cursor: s.cursorAt(at), Reason: retwis.HistoryChanged}, 1)
		}
	})
}

// cursorAt returns the cursor of a position for the subscriber.
func (s *subscription) cursorAt(at retwis.TimelinePosition) retwis.Cursor {
	at.Filter = s.filter
	return at.Cursor()
}

// send sends an event at the feed's position to all subscribers. The first one that pays also pays for the message that the feed has received.
func (f *feed) send(e retwis.Event) {
	f.unsent = 0
	out := outgoing{event: e, at: f.position, events: 1 + cost.EventsPerFeed}
	if added, ok := e.(*retwis.PostAdded); ok && added.Edge.Repost != nil {
		out.events += cost.EventsPerRepost
	}
	f.subscribers.handOut(out)
}

// handOut passes an event to the subscribers: now to the first ones, and after the earlier visits to the others.
func (l *subscribers) handOut(out outgoing) {
	l.visitFirst(out.deliver)
	for _, t := range l.tails {
		later := out // a feed without a tail, as most are, allocates nothing
		later.others = nil
		t.visit(later.deliver, later.events)
	}
}

// outgoing is an event on the way to the subscribers. Those with the same filter epoch, usually all, share it.
type outgoing struct {
	event  retwis.Event
	at     retwis.TimelinePosition
	others map[int64]retwis.Event // those for other filter epochs than 0
	events int                    // for which the next subscriber that pays is charged
	counts bool                   // it is only for those that receive changed counts
}

func (o *outgoing) deliver(s *subscription) {
	if o.counts && !s.counts {
		return
	}
	e := o.event
	if s.filter != 0 {
		if o.others == nil {
			o.others = map[int64]retwis.Event{}
		}
		if e = o.others[s.filter]; e == nil {
			e = retwis.AtCursor(o.event, s.cursorAt(o.at))
			o.others[s.filter] = e
		}
	}
	if s.deliver(e, o.events) {
		o.events = 1
	}
}

// payUnsent charges for an entry that no subscriber receives. Its message costs as much as that of any other.
func (f *feed) payUnsent() {
	for s := range f.subscribers.all() {
		if s.pay(cost.EventsPerFeed) {
			return
		}
	}
}
