package fanout

import (
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

// workItem is an outbox entry in memory, with the state of its processing.
type workItem struct {
	outbox.Entry
	actor      retwis.Actor // who caused it
	targets    []*target    // delivery targets; nil until the follower partitions are known
	next       int          // index of the target that the next round begins with
	turn       place        // at the last [turns.first]
	running    bool         // a task processes the entry
	done       bool         // the entry is completed or in the dead-letter queue
	rejections int          // how often scripts have rejected the entry since a call succeeded
	failures   int          // since a call succeeded
	rechecks   int          // consecutive attempts that found the entry not ready
	notBefore  time.Time    // time of the next attempt
	readAt     time.Time    // when it was read from the outbox
	silent     bool         // a deletion that is not announced: see announceFor
	further    int          // as how many more entries it counts since it was completed, because of its targets
	progress   repairProgress
	span       trace.Span // nil if the entry's creation was not traced
}

// inRounds reports whether rounds process the entry. A task processes it otherwise.
func (w *workItem) inRounds() bool {
	return w.Malformed != nil || w.Kind == outbox.KindPost || w.isDeletion()
}

// isDeletion reports whether the entry announces that a post was deleted.
func (w *workItem) isDeletion() bool { return w.Kind == outbox.KindDelete }

// target is one delivery target of an entry.
type target struct {
	partition int
	to        outbox.TargetKind
	user      retwis.UserID     // as in [outbox.Delivery]
	timeline  retwis.TimelineID // as in [outbox.Delivery]
	progress  string            // progress that the target last reported
	expected  int               // estimated number of followers
	done      bool              // the target reported completion
	late      bool              // the target has a later post of the author: a repair has to merge the post there
}

// single reports whether the target is a single timeline, or the references to a post.
func (t *target) single() bool {
	return t.to == outbox.TargetTimeline || t.ofReferences()
}

// ofReferences reports whether the target is the references to a post: its replies, quotes or reposts.
func (t *target) ofReferences() bool {
	return t.to == outbox.TargetReplies || t.to == outbox.TargetQuotes || t.to == outbox.TargetReposts
}

// chunk returns how many timelines the next call for an entry to a target may serve if their number is not known, else 0 for the
// default. After a call that broke off, the next one has to serve at least as many.
func (w *workItem) chunk(t *target) int {
	switch t.to {
	case outbox.TargetLists, outbox.TargetReposterLists, outbox.TargetWatched, outbox.TargetPulled:
	default:
		return 0
	}
	switch {
	case strings.HasSuffix(t.progress, outbox.Interrupted):
		return 0
	case t.progress == "":
		return firstChunk
	default:
		return nextChunk
	}
}

// work returns the expected work of the next call to a target, in pushes, if it searches some lists for each timeline.
func (w *workItem) work(t *target, searches float64) int {
	if w.silent {
		return callCost
	}
	if chunk := w.chunk(t); chunk > 0 {
		return callCost + chunk*listWork
	}
	return callCost + min(t.expected, 500) + searchWork*int(min(float64(t.expected)*searches, mostSearches))
}

// waits reports whether a target must be served later. The reposts of the post must hold a repost before a timeline receives it. A later
// deletion of the post then finds the repost there, and is announced to these timelines. After an earlier deletion, they do not show the post.
func (w *workItem) waits(t *target) bool {
	return w.Reposted != 0 && w.Kind == outbox.KindPost && t != w.targets[0] && !w.targets[0].done
}

func (t *target) forEntry(entry string) outbox.Target {
	return outbox.Target{Entry: entry, Partition: t.partition, To: t.to, User: t.user, Timeline: t.timeline}
}
