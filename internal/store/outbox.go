package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

// AcquireLease takes or keeps the lease of an outbox for a worker, and reports whether
// the worker holds it now. A lease spreads the work; nothing goes wrong when two workers
// serve one outbox.
func (s *Store) AcquireLease(ctx context.Context, outboxID int, worker string, ttl time.Duration) (bool, error) {
	held, err := s.do(ctx, call{
		s.scripts.renewLease, []string{s.partitions[outboxID].lease()}, []any{worker, ttl.Milliseconds()},
	}).Bool()
	if err != nil {
		return false, fmt.Errorf("lease of outbox %d: %w", outboxID, err)
	}
	return held, nil
}

// ReleaseLease gives a lease up, if the worker holds it.
func (s *Store) ReleaseLease(ctx context.Context, outboxID int, worker string) error {
	err := s.do(ctx, call{s.scripts.releaseLease, []string{s.partitions[outboxID].lease()}, []any{worker}}).Err()
	if err != nil {
		return fmt.Errorf("release the lease of outbox %d: %w", outboxID, err)
	}
	return nil
}

// RegisterWorker says that a worker lives, until ttl has passed, and returns how many do.
func (s *Store) RegisterWorker(ctx context.Context, worker string, ttl time.Duration) (int, error) {
	now := time.Now()
	pipe := s.client.Pipeline()
	pipe.ZAdd(ctx, workersKey, redis.Z{Score: float64(now.Add(ttl).UnixMilli()), Member: worker})
	pipe.ZRemRangeByScore(ctx, workersKey, "-inf", strconv.FormatInt(now.UnixMilli(), 10))
	count := pipe.ZCard(ctx, workersKey)
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, fmt.Errorf("register a worker: %w", err)
	}
	return int(count.Val()), nil
}

// UnregisterWorker says that a worker ends.
func (s *Store) UnregisterWorker(ctx context.Context, worker string) error {
	if err := s.client.ZRem(ctx, workersKey, worker).Err(); err != nil {
		return fmt.Errorf("unregister a worker: %w", err)
	}
	return nil
}

// ResumeOutbox brings the outbox of a worker that ended, however it did, into a state to go
// on from. Where any partition has learnt that everything up to an entry is carried out,
// all learn it, and those entries are trimmed: to carry one of them out in a partition
// that followers have entered since would put it on top of newer posts.
func (s *Store) ResumeOutbox(ctx context.Context, outboxID int) error {
	pipe := s.client.Pipeline()
	lows := make([]*redis.StringCmd, len(s.partitions))
	for i, p := range s.partitions {
		lows[i] = pipe.HGet(ctx, p.progress(outboxID), "low")
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	var low string
	everywhere := make([]int, len(s.partitions))
	for i, result := range lows {
		everywhere[i] = i
		value, err := result.Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return fmt.Errorf("resume outbox %d: %w", outboxID, err)
		}
		if low == "" || outbox.Earlier(low, value) {
			low = value
		}
	}
	if low == "" {
		return nil
	}
	if err := s.Advance(ctx, outboxID, low, everywhere); err != nil {
		return err
	}
	return s.TrimOutbox(ctx, outboxID, low)
}

// ReadOutbox returns up to count entries of an outbox after one, oldest first; "0" reads
// from the start. With block above 0 it waits that long for the first.
func (s *Store) ReadOutbox(ctx context.Context, outboxID int, after string, count int, block time.Duration) ([]outbox.Entry, error) {
	args := &redis.XReadArgs{Streams: []string{s.partitions[outboxID].outbox(), after}, Count: int64(count), Block: -1}
	var streams []redis.XStream
	var err error
	if block > 0 {
		args.Block = block
		streams, err = s.awaitEntries(ctx, args)
	} else {
		streams, err = s.client.XRead(ctx, args).Result()
	}
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read outbox %d: %w", outboxID, err)
	}
	var entries []outbox.Entry
	for _, stream := range streams {
		for _, message := range stream.Messages {
			entries = append(entries, outboxEntry(outboxID, message))
		}
	}
	return entries, nil
}

// awaitEntries reads streams, and waits. The driver's reads do not end with their context, and
// a worker that stops would be kept by the last one of each outbox; so that is left behind. It
// changes nothing, and ends when its time is up or the store is closed.
func (s *Store) awaitEntries(ctx context.Context, args *redis.XReadArgs) ([]redis.XStream, error) {
	ctx, cancel := context.WithTimeout(ctx, args.Block+s.options.Timeout)
	defer cancel()
	reply := make(chan *redis.XStreamSliceCmd, 1)
	go func() { reply <- s.blocking.XRead(ctx, args) }()
	select {
	case read := <-reply:
		return read.Result()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// outboxEntry reads an entry. One that makes no sense keeps its id and gets an error: the
// worker buries it.
func outboxEntry(outboxID int, message redis.XMessage) outbox.Entry {
	e := outbox.Entry{Outbox: outboxID, ID: message.ID, Fields: map[string]string{}}
	for field, value := range message.Values {
		e.Fields[field] = text(value)
	}
	e.Kind = outbox.Kind(e.Fields["kind"])
	e.Name = e.Fields["name"]
	e.Trace = e.Fields["trace"]
	e.Malformed = errors.Join(
		read(e.Fields, "author", retwis.ParseUserID, &e.Author),
		read(e.Fields, "user", retwis.ParseUserID, &e.User),
		read(e.Fields, "timeline", retwis.ParseTimelineID, &e.Timeline),
		read(e.Fields, "list", retwis.ParseListID, &e.List),
		read(e.Fields, "post", retwis.ParsePostID, &e.Post),
		read(e.Fields, "mentions", parseUserIDs, &e.Mentions),
		read(e.Fields, "score", parseScore, &e.Score),
		read(e.Fields, "step", parseScore, &e.Step),
	)
	return e
}

// read parses a field, where there is one.
func read[T any](fields map[string]string, name string, parse func(string) (T, error), into *T) error {
	value, ok := fields[name]
	if !ok {
		return nil
	}
	parsed, err := parse(value)
	if err != nil {
		return fmt.Errorf("field %s: %w", name, err)
	}
	*into = parsed
	return nil
}

func parseScore(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }

// parseUserIDs reads ids separated by spaces.
func parseUserIDs(s string) ([]retwis.UserID, error) {
	var ids []retwis.UserID
	for field := range strings.FieldsSeq(s) {
		id, err := retwis.ParseUserID(field)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// PublicPartition is the partition that holds the public timeline.
func (s *Store) PublicPartition() int { return s.public().number }

// Deliver carries outbox entries on, each by one call in one partition, in one pipeline a
// node. A call does something only from the position it names, so a repeat is harmless.
// An error that the script itself answered is marked with [outbox.ErrRejected].
func (s *Store) Deliver(ctx context.Context, deliveries []outbox.Delivery) []outbox.Result {
	calls := make([]call, len(deliveries))
	for i, d := range deliveries {
		calls[i] = s.deliveryCall(d)
	}
	results := make([]outbox.Result, len(deliveries))
	for i, reply := range s.doAll(ctx, calls) {
		answer, err := reply.Slice()
		if err == nil && len(answer) != 2 {
			err = fmt.Errorf("reply %v", answer)
		}
		if err != nil {
			results[i].Err = entryError(fmt.Errorf("deliver entry %s to partition %d: %w", deliveries[i].Entry.ID, deliveries[i].Partition, err))
			continue
		}
		pushed, _ := answer[1].(int64)
		results[i].Progress, results[i].Pushed = text(answer[0]), int(pushed)
	}
	return results
}

func (s *Store) deliveryCall(d outbox.Delivery) call {
	if d.Entry.Kind == outbox.KindDelete {
		return s.removeCall(d)
	}
	o, e, p := s.options, d.Entry, s.partitions[d.Partition]
	if d.To == outbox.TargetMentions || d.To == outbox.TargetPublic {
		id := retwis.Public()
		if d.To == outbox.TargetMentions {
			id = retwis.Mentions(d.User)
		}
		keys := []string{p.progress(e.Outbox), p.entries(id), p.online(), p.onlineNodes()}
		if d.To == outbox.TargetMentions {
			keys = append(keys, p.user(d.User))
		}
		return call{
			s.scripts.pushOne,
			keys,
			[]any{e.ID, e.Post.String(), o.HomeCap, o.Slack, s.publish, p.livePrefix(), field(d.Target()), id.String()},
		}
	}
	if d.To == outbox.TargetActiveFollowers {
		return call{
			s.scripts.pull,
			[]string{p.progress(e.Outbox), p.pulled(e.Author), p.large(), p.online(), p.onlineNodes()},
			[]any{
				e.ID, d.Progress, e.Post.String(), e.Author.String(), o.CheckedChunk, o.HomeCap, o.Slack, s.publish,
				p.livePrefix(), field(d.Target()), p.tag + ":",
			},
		}
	}
	to := s.audience(p, d)
	return call{
		s.scripts.push,
		[]string{p.progress(e.Outbox), to.key, p.online(), p.onlineNodes(), p.merged(), p.pulled(e.Author), p.large()},
		[]any{
			e.ID, d.Progress, e.Post.String(), o.Chunk, o.CheckedChunk, o.HomeCap, o.Slack,
			o.SuspectAge.Milliseconds(), s.publish, p.livePrefix(), field(d.Target()), to.kind, to.before, to.after,
			e.Author.String(), p.tag + ":",
		},
	}
}

// removeCall tells of a deletion. The call for the followers is made in every partition
// that the post may have come to, and tells single timelines besides.
func (s *Store) removeCall(d outbox.Delivery) call {
	o, e, p := s.options, d.Entry, s.partitions[d.Partition]
	to := s.audience(p, d)
	removals := o.Removals
	if p == s.of(e.Author) || d.To == outbox.TargetLists {
		removals = 0
	}
	c := call{
		s.scripts.remove,
		[]string{p.progress(e.Outbox), to.key, p.online(), p.onlineNodes(), p.removals()},
		[]any{e.ID, d.Progress, e.Post.String(), e.Author.String(), o.Chunk, removals, s.publish, p.livePrefix(), field(d.Target()), to.kind},
	}
	if d.To == outbox.TargetLists {
		return c
	}
	if p == s.public() {
		c.args = append(c.args, retwis.Public().String())
	}
	for _, user := range e.Mentions {
		if p == s.of(user) {
			c.args = append(c.args, retwis.Mentions(user).String())
		}
	}
	return c
}

// audience is where push and remove find the timelines of a partition.
type audience struct {
	key           string
	kind          string // what their names begin with
	before, after string // of their ids, in keys
}

func (s *Store) audience(p partition, d outbox.Delivery) audience {
	if d.To == outbox.TargetLists {
		return audience{p.listed(d.Entry.Author), string(retwis.ListTimeline), p.listPrefix(), listPostsSuffix}
	}
	return audience{p.followers(d.Entry.Author), string(retwis.HomeTimeline), p.homes(), ""}
}

// PartitionOfUser is the number of a user's partition.
func (s *Store) PartitionOfUser(id retwis.UserID) int { return s.of(id).number }

// entryError marks what a script itself answered.
func entryError(err error) error {
	if answered(err) {
		return fmt.Errorf("%w: %w", outbox.ErrRejected, err)
	}
	return err
}

// Advance notes in partitions that every entry of an outbox up to one is carried out, after
// [Store.Confirm]. Then the entries may be trimmed.
func (s *Store) Advance(ctx context.Context, outboxID int, upTo string, in []int) error {
	calls := make([]call, len(in))
	for i, number := range in {
		calls[i] = call{s.scripts.advance, []string{s.partitions[number].progress(outboxID)}, []any{upTo}}
	}
	for _, reply := range s.doAll(ctx, calls) {
		if err := reply.Err(); err != nil {
			return fmt.Errorf("advance outbox %d to %s: %w", outboxID, upTo, err)
		}
	}
	return nil
}

// TrimOutbox removes the entries of an outbox up to one. The partitions they went to must
// have been told first, by [Store.Advance].
func (s *Store) TrimOutbox(ctx context.Context, outboxID int, upTo string) error {
	if err := s.client.XTrimMinID(ctx, s.partitions[outboxID].outbox(), outbox.NextID(upTo)).Err(); err != nil {
		return fmt.Errorf("trim outbox %d: %w", outboxID, err)
	}
	return nil
}

// OutboxLength returns how many entries wait in all outboxes.
func (s *Store) OutboxLength(ctx context.Context) (int, error) {
	pipe := s.client.Pipeline()
	lengths := make([]*redis.IntCmd, len(s.partitions))
	for i, p := range s.partitions {
		lengths[i] = pipe.XLen(ctx, p.outbox())
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, fmt.Errorf("length of the outboxes: %w", err)
	}
	total := 0
	for _, length := range lengths {
		total += int(length.Val())
	}
	return total, nil
}
