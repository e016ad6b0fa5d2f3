package fanout

import (
	"time"

	"go.opentelemetry.io/otel/trace"

	"retwis/internal/retwis"
)

// workItem is an entry in memory.
type workItem struct {
	retwis.OutboxEntry
	targets   []*target // of entries that are delivered; nil until the reach is known
	next      int       // the target to carry on next
	running   bool      // as a task
	done      bool
	refusals  int // how often
	failures  int // in a row
	rechecks  int // that found it not to be done yet
	notBefore time.Time
	progress  repairProgress
	span      trace.Span // nil where its maker was not recorded
}

// inRounds reports whether an entry is carried out by rounds of calls, and not by a task.
func (w *workItem) inRounds() bool {
	return w.Malformed != nil || w.Kind == retwis.OutboxPost || w.Kind == retwis.OutboxDelete
}

// target is one of the places an entry goes to.
type target struct {
	partition int
	to        retwis.Audience
	user      retwis.UserID // whose mentions
	position  string
	expected  int  // followers there, roughly
	done      bool // and the place says so
}

// single reports whether the target is one timeline.
func (t *target) single() bool { return t.to == retwis.ToPublic || t.to == retwis.ToMentioned }

func (t *target) forEntry(entry string) retwis.Place {
	return retwis.Place{Entry: entry, Partition: t.partition, To: t.to, User: t.user}
}
