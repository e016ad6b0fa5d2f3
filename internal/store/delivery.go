package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Deliver carries out deliveries, each by one script call, in short pipelines. A call acts only if the
// stored progress is the expected one, so a repeat has no effect. An error reply of a script wraps
// [outbox.ErrRejected].
func (s *Outbox) Deliver(ctx context.Context, deliveries []outbox.Delivery) []outbox.Result {
	calls := make([]rdb.Call, len(deliveries))
	for i, d := range deliveries {
		calls[i] = s.deliveryCall(d)
		calls[i].Work = d.Work
	}
	results := make([]outbox.Result, len(deliveries))
	for i, reply := range s.db.DoInPieces(ctx, calls) {
		answer, err := reply.Slice()
		if err == nil && (len(answer) < 2 || len(answer) > 4) {
			err = fmt.Errorf("reply %v", answer)
		}
		if err != nil {
			results[i].Err = entryError(fmt.Errorf("deliver entry %s to partition %d: %w", deliveries[i].Entry.ID, deliveries[i].Partition, err))
			continue
		}
		n, _ := answer[1].(int64)
		results[i].Progress = rdb.Text(answer[0])
		if deliveries[i].Entry.Kind == outbox.KindDelete {
			results[i].Announced = int(n)
		} else {
			results[i].Pushed = int(n)
		}
		switch len(answer) {
		case 3:
			visited, _ := answer[2].(int64)
			results[i].Visited = int(visited)
		case 4:
			served, _ := answer[2].(int64)
			searched, _ := answer[3].(int64)
			results[i].Served, results[i].Searched = int(served), int(searched)
		}
	}
	return results
}

func (s *Outbox) deliveryCall(d outbox.Delivery) rdb.Call {
	switch {
	case d.To == outbox.TargetReplies:
		return s.referenceCall(d, retwis.ReplyReference, d.Entry.ReplyTo, d.Entry.Answered == 0)
	case d.To == outbox.TargetQuotes:
		return s.referenceCall(d, retwis.QuoteReference, d.Entry.Quoted, false)
	case d.To == outbox.TargetReposts:
		return s.referenceCall(d, retwis.RepostReference, d.Entry.Reposted, false)
	case d.To == outbox.TargetLikers:
		return s.likersCall(d)
	case d.Entry.Kind == outbox.KindDelete:
		return s.removeCall(d)
	}
	o, e, p := s.options, d.Entry, s.db.Partition(d.Partition)
	if d.To == outbox.TargetTimeline {
		id := d.Timeline
		keys := []string{p.Progress(e.Outbox), p.Timeline(id).Entries(), p.Online(), p.OnlineNodes()}
		if id != retwis.Public() {
			keys = append(keys, p.Timeline(id).Owner())
		}
		search := e.Kind == outbox.KindRepair
		return rdb.Call{
			Script: script.PushToTimeline,
			Keys:   keys,
			Args:   []any{e.ID, e.Element().String(), o.HomeCap, o.Slack, s.db.Publish, p.Prefix(rdb.LiveChannels), field(d.Target()), id.String(), search},
		}
	}
	if d.To == outbox.TargetPulled {
		return rdb.Call{
			Script: script.DeliverPulled,
			Keys:   []string{p.Progress(e.Outbox), p.User(e.Author).Pulled(), p.LargeAuthors(), p.Online(), p.OnlineNodes()},
			Args: []any{
				e.ID, d.Progress, e.Element().String(), e.Author.String(), chunkOf(d, o.CheckedChunk), o.HomeCap, o.Slack, s.db.Publish,
				p.Prefix(rdb.LiveChannels), field(d.Target()), p.Tag + ":", len(s.db.Partitions()),
			},
		}
	}
	to := s.recipients(p, d)
	return rdb.Call{
		Script: script.Push,
		Keys: []string{
			p.Progress(e.Outbox), to.key, p.Online(), p.OnlineNodes(), p.MergeMarks(e.Outbox), p.OlderMergeMarks(e.Outbox),
			p.User(e.Author).Pulled(), p.LargeAuthors(), p.Clock(),
		},
		Args: []any{
			e.ID, d.Progress, e.Element().String(), chunkOf(d, o.Chunk), o.CheckedChunk, o.HomeCap, o.Slack, s.db.Publish,
			p.Prefix(rdb.LiveChannels), field(d.Target()), to.kind, to.prefix, to.suffix, to.epoch, e.Author.String(), p.Tag + ":", len(s.db.Partitions()),
		},
	}
}

// chunkOf returns how many timelines a delivery may serve, of which the options allow some.
func chunkOf(d outbox.Delivery, allowed int) int {
	if d.Chunk == 0 {
		return allowed
	}
	return min(d.Chunk, allowed)
}

// referenceCall returns the call that adds a reply, quote or repost to those of the post that it refers to, or removes a deleted one.
func (s *Outbox) referenceCall(d outbox.Delivery, kind retwis.ReferenceKind, to retwis.PostID, first bool) rdb.Call {
	e, p := d.Entry, s.db.Partition(d.Partition)
	return rdb.Call{
		Script: script.UpdateReferences,
		Keys:   []string{p.Progress(e.Outbox), p.References(kind, to), p.Post(to)},
		Args:   append([]any{e.ID, field(d.Target())}, ReferenceArgs(s.options, kind, e.Post, e.Kind == outbox.KindDelete, first)...),
	}
}

// likersCall returns the call that announces a deletion to the worker that removes the likes of the post in a partition.
func (s *Outbox) likersCall(d outbox.Delivery) rdb.Call {
	e, p := d.Entry, s.db.Partition(d.Partition)
	return rdb.Call{
		Script: script.MarkLikes, Keys: []string{p.Progress(e.Outbox), p.ChangedLikes()}, Args: []any{e.ID, field(d.Target()), e.Post.String()},
	}
}

// removalChunk is how many timelines one call tells of a deletion: each takes up to 7 µs in Redis.
const removalChunk = 100

// removeCall returns the call that announces a deletion. The call for the followers runs in every partition that
// the post may have been delivered to, and also announces the deletion to single timelines.
func (s *Outbox) removeCall(d outbox.Delivery) rdb.Call {
	o, e, p := s.options, d.Entry, s.db.Partition(d.Partition)
	to := s.recipients(p, d)
	keep, chunk := 0, chunkOf(d, min(o.Chunk, removalChunk))
	if d.Silent {
		chunk = 0
	}
	if d.To == outbox.TargetFollowers && p != s.db.OfUser(e.Author) {
		keep = o.Changes
	}
	c := rdb.Call{
		Script: script.AnnounceRemoval,
		Keys:   []string{p.Progress(e.Outbox), to.key, p.Online(), p.OnlineNodes(), p.Changes()},
		Args: []any{
			e.ID, d.Progress, e.Post.String(), e.Author.String(), chunk, keep, s.db.Publish, p.Prefix(rdb.LiveChannels),
			field(d.Target()), to.kind,
		},
	}
	for _, id := range s.furtherTimelines(p, d) {
		c.Args = append(c.Args, id.String())
	}
	return c
}

// furtherTimelines returns the single timelines of a partition to which a delivery also announces a deletion.
func (s *Outbox) furtherTimelines(p rdb.Partition, d outbox.Delivery) []retwis.TimelineID {
	var further []retwis.TimelineID
	switch {
	case d.To == outbox.TargetReposterHomes && p == s.db.OfUser(d.User):
		further = []retwis.TimelineID{retwis.Home(d.User), retwis.Profile(d.User), retwis.ProfileWithReplies(d.User)}
	case d.To == outbox.TargetFollowers:
		for _, id := range d.Entry.Timelines() {
			if p == s.db.OfTimeline(id) {
				further = append(further, id)
			}
		}
	}
	return further
}

// recipients identifies the timelines of a partition that receive the posts of an author, and their keys.
type recipients struct {
	key            string // the set of their owners
	kind           string // prefix of their names; empty if the set holds the names
	prefix, suffix string // of the keys of their lists
	epoch          string // prefix of the keys that hold their epochs
}

func (s *Outbox) recipients(p rdb.Partition, d outbox.Delivery) recipients {
	author := d.Entry.Author
	switch d.To {
	case outbox.TargetWatched:
		return recipients{key: p.Online()}
	case outbox.TargetReposterHomes, outbox.TargetReposterLists:
		author = d.User
	}
	if d.To == outbox.TargetLists || d.To == outbox.TargetReposterLists {
		return recipients{p.User(author).Listed(), string(retwis.ListTimeline), p.Prefix(rdb.ListKeys), rdb.ListPostsSuffix, p.Prefix(rdb.ListKeys)}
	}
	return recipients{p.User(author).Followers(), string(retwis.HomeTimeline), p.Prefix(rdb.HomeKeys), "", p.Prefix(rdb.AccountKeys)}
}

// field returns the field of [rdb.Partition.Progress] that holds the progress of an entry at a target.
func field(at outbox.Target) string {
	switch at.To {
	case outbox.TargetLists:
		return at.Entry + ":lists"
	case outbox.TargetPulled:
		return at.Entry + ":readers"
	case outbox.TargetTimeline:
		return at.Entry + ":" + at.Timeline.String()
	case outbox.TargetReplies:
		return at.Entry + ":replies"
	case outbox.TargetQuotes:
		return at.Entry + ":quotes"
	case outbox.TargetReposts:
		return at.Entry + ":reposts"
	case outbox.TargetReposterHomes:
		return at.Entry + ":" + retwis.Home(at.User).String()
	case outbox.TargetReposterLists:
		return at.Entry + ":" + retwis.Home(at.User).String() + ":lists"
	case outbox.TargetWatched:
		return at.Entry + ":watched"
	case outbox.TargetLikers:
		return at.Entry + ":likers"
	case outbox.TargetTask:
		return at.Entry + ":task"
	default:
		return at.Entry
	}
}

// MarkDone stores that an entry is done at a target that [Outbox.Deliver] does not handle.
func (s *Outbox) MarkDone(ctx context.Context, outboxID int, at outbox.Target) error {
	progress := s.db.Partition(at.Partition).Progress(outboxID)
	if err := s.db.Client.HSet(ctx, progress, field(at), outbox.Done).Err(); err != nil {
		return fmt.Errorf("mark entry %s as done in partition %d: %w", at.Entry, at.Partition, err)
	}
	return nil
}

// VerifyDurable verifies that deliveries of an outbox's entries are durable, before the entries are trimmed. It waits for
// one replica of each replicated master, or returns [retwis.ErrNotReplicated]. It no longer waits for the replicas of a
// master if none has confirmed a write for [rdb.TrimTimeout].
//
// It returns the indexes of the targets that have lost the delivery, for example in a failover to a replica
// without it, or in a crash of a server before it wrote to disk. Deliver to them again. If again is true, the
// outbox holds entries below first, which were trimmed before: read the outbox again. After an error, retry.
func (s *Outbox) VerifyDurable(ctx context.Context, outboxID int, first string, targets []outbox.Target) (lost []int, again bool, err error) {
	at := map[int][]int{outboxID: nil} // indexes of targets by partition
	for i, target := range targets {
		at[target.Partition] = append(at[target.Partition], i)
	}
	groups, err := s.db.ByMaster(ctx, maps.Keys(at))
	if err != nil {
		return nil, false, fmt.Errorf("verify outbox %d: %w", outboxID, err)
	}

	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	for master, numbers := range groups {
		group.Go(func() error {
			c := durabilityCheck{db: s.db, outboxID: outboxID, first: first, targets: targets, at: at, wait: len(targets) > 0}
			if err := c.run(ctx, master, numbers); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			lost, again = append(lost, c.lost...), again || c.again
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		s.db.ReloadMasters(ctx) // a failover may have happened
		return nil, false, fmt.Errorf("verify outbox %d: %w", outboxID, err)
	}
	slices.Sort(lost)
	return lost, again, nil
}

// durabilityCheck verifies the targets at one master.
type durabilityCheck struct {
	db       *rdb.DB
	outboxID int
	first    string
	targets  []outbox.Target
	at       map[int][]int
	wait     bool

	lost  []int
	again bool
}

// run verifies the targets in some partitions, all of one master.
func (c *durabilityCheck) run(ctx context.Context, master rdb.Master, numbers []int) error {
	wait := false
	if c.wait {
		var err error
		if wait, err = master.HasReplicas(ctx, c.db.Partition(numbers[0])); err != nil {
			return err
		}
	}
	pipe := master.Pipeline()
	var cmds []redis.Cmder
	add := func(cmd redis.Cmder) { cmds = append(cmds, cmd) }
	type read struct {
		fields *redis.SliceCmd
		about  []int
	}
	var reads []read
	var trimmed *redis.XMessageSliceCmd
	for _, number := range numbers {
		p := c.db.Partition(number)
		if number == c.outboxID {
			trimmed = pipe.XRangeN(ctx, p.Outbox(), "-", "("+c.first, 1)
			add(trimmed)
		}
		const step = 500
		for about := range slices.Chunk(c.at[number], step) {
			fields := []string{"watermark"}
			for _, i := range about {
				fields = append(fields, field(c.targets[i]))
			}
			r := read{pipe.HMGet(ctx, p.Progress(c.outboxID), fields...), about}
			reads = append(reads, r)
			add(r.fields)
		}
	}
	var waited *redis.Cmd
	if wait {
		var set *redis.StatusCmd
		set, waited = master.AwaitReplica(ctx, pipe, c.db.Partition(numbers[0]))
		add(set)
		add(waited)
	}
	master.Exec(ctx, pipe, cmds...)
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil {
			return err
		}
	}
	if waited != nil {
		if err := master.Confirmed(waited, rdb.TrimTimeout); err != nil {
			return err
		}
	}
	c.again = trimmed != nil && len(trimmed.Val()) > 0
	for _, r := range reads {
		c.compare(r.fields.Val(), r.about)
	}
	return nil
}

// compare records the targets whose entries are neither done nor at or below the watermark.
func (c *durabilityCheck) compare(values []any, about []int) {
	watermark := rdb.Text(values[0])
	for k, i := range about {
		if rdb.Text(values[k+1]) != outbox.Done && (watermark == "" || outbox.Earlier(watermark, c.targets[i].Entry)) {
			c.lost = append(c.lost, i)
		}
	}
}
