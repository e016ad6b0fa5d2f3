package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"retwis/internal/outbox"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Outbox is the work of fan-out: the outboxes of all partitions, the leases of workers on them, deliveries, and
// the dead-letter queue.
type Outbox struct {
	core
	follows  *Follows
	backlogs backlogCache
}

// Partitions returns how many partitions, and so outboxes, the database has.
func (s *Outbox) Partitions() int { return len(s.db.Partitions()) }

// PartitionOf returns the number of the partition that a timeline lives in.
func (s *Outbox) PartitionOf(t retwis.TimelineID) int { return s.db.OfTimeline(t).Number }

// AuthorPartitions returns where the posts of authors go: see [Follows.Reach].
func (s *Outbox) AuthorPartitions(ctx context.Context, authors []retwis.UserID) ([]outbox.AuthorPartitions, error) {
	return s.follows.AuthorPartitions(ctx, authors)
}

// FreeLeases returns those of some outboxes that no worker holds the lease of. With an error, it leaves out the outboxes
// that it could not ask about.
func (s *Outbox) FreeLeases(ctx context.Context, outboxIDs []int) (free []int, err error) {
	calls := make([]rdb.Call, len(outboxIDs))
	for i, id := range outboxIDs {
		calls[i] = rdb.Call{Script: script.LeaseHolder, Keys: []string{s.db.Partition(id).Lease()}}
	}
	for i, reply := range s.db.DoAll(ctx, calls) {
		holder, e := reply.Text()
		switch {
		case e != nil:
			err = fmt.Errorf("read the lease of outbox %d: %w", outboxIDs[i], e)
		case holder == "":
			free = append(free, outboxIDs[i])
		}
	}
	return free, err
}

// AcquireLeases acquires or renews the leases of outboxes for a worker. A lease spreads the work; nothing goes wrong
// when two workers serve one outbox.
func (s *Outbox) AcquireLeases(ctx context.Context, outboxIDs []int, worker string, ttl time.Duration) []outbox.Lease {
	calls := make([]rdb.Call, len(outboxIDs))
	for i, id := range outboxIDs {
		calls[i] = rdb.Call{
			Script: script.AcquireLease, Keys: []string{s.db.Partition(id).Lease()}, Args: []any{worker, ttl.Milliseconds()},
		}
	}
	leases := make([]outbox.Lease, len(calls))
	for i, reply := range s.db.DoAll(ctx, calls) {
		held, err := reply.Bool()
		if err != nil {
			err = fmt.Errorf("acquire the lease of outbox %d: %w", outboxIDs[i], err)
		}
		leases[i] = outbox.Lease{Held: held, Err: err}
	}
	return leases
}

// ReleaseLease gives a lease up, if the worker holds it.
func (s *Outbox) ReleaseLease(ctx context.Context, outboxID int, worker string) error {
	err := s.db.Do(ctx, rdb.Call{Script: script.ReleaseLease, Keys: []string{s.db.Partition(outboxID).Lease()}, Args: []any{worker}}).Err()
	if err != nil {
		return fmt.Errorf("release the lease of outbox %d: %w", outboxID, err)
	}
	return nil
}

// RegisterWorker says that a worker lives, until ttl has passed, and returns how many do.
func (s *Outbox) RegisterWorker(ctx context.Context, worker string, ttl time.Duration) (int, error) {
	now := time.Now()
	pipe := s.db.Client.Pipeline()
	pipe.ZAdd(ctx, rdb.WorkersKey, redis.Z{Score: float64(now.Add(ttl).UnixMilli()), Member: worker})
	pipe.ZRemRangeByScore(ctx, rdb.WorkersKey, "-inf", strconv.FormatInt(now.UnixMilli(), 10))
	count := pipe.ZCard(ctx, rdb.WorkersKey)
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, fmt.Errorf("register a worker: %w", err)
	}
	return int(count.Val()), nil
}

// UnregisterWorker says that a worker ends.
func (s *Outbox) UnregisterWorker(ctx context.Context, worker string) error {
	if err := s.db.Client.ZRem(ctx, rdb.WorkersKey, worker).Err(); err != nil {
		return fmt.Errorf("unregister a worker: %w", err)
	}
	return nil
}

// ResumeOutbox brings the outbox of a worker that ended, however it did, into a state to go
// on from. Where any partition has learnt that everything up to an entry is carried out,
// all learn it, and those entries are trimmed: to carry one of them out in a partition
// that followers have entered since would put it on top of newer posts.
func (s *Outbox) ResumeOutbox(ctx context.Context, outboxID int) error {
	pipe := s.db.Client.Pipeline()
	lows := make([]*redis.StringCmd, len(s.db.Partitions()))
	for i, p := range s.db.Partitions() {
		lows[i] = pipe.HGet(ctx, p.Progress(outboxID), "watermark")
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	var low string
	everywhere := make([]int, len(s.db.Partitions()))
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
	if err := s.AdvanceWatermark(ctx, outboxID, low, everywhere); err != nil {
		return err
	}
	return s.TrimOutbox(ctx, outboxID, low)
}

// ReadOutbox returns up to count entries of an outbox after one, oldest first; "0" reads
// from the start. With block above 0 it waits that long for the first.
func (s *Outbox) ReadOutbox(ctx context.Context, outboxID int, after string, count int, block time.Duration) ([]outbox.Entry, error) {
	args := &redis.XReadArgs{Streams: []string{s.db.Partition(outboxID).Outbox(), after}, Count: int64(count), Block: -1}
	var streams []redis.XStream
	var err error
	if block > 0 {
		args.Block = block
		streams, err = s.awaitEntries(ctx, args)
	} else {
		streams, err = s.db.Client.XRead(ctx, args).Result()
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
func (s *Outbox) awaitEntries(ctx context.Context, args *redis.XReadArgs) ([]redis.XStream, error) {
	ctx, cancel := context.WithTimeout(ctx, args.Block+s.options.Timeout)
	defer cancel()
	reply := make(chan *redis.XStreamSliceCmd, 1)
	go func() { reply <- s.db.Blocking.XRead(ctx, args) }()
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
		e.Fields[field] = rdb.Text(value)
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
		read(e.Fields, "mentions", rdb.UserIDs, &e.Mentions),
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

// PublicPartition is the partition that holds the public timeline.
func (s *Outbox) PublicPartition() int { return s.db.Public().Number }

// PartitionOfUser is the number of a user's partition.
func (s *Outbox) PartitionOfUser(id retwis.UserID) int { return s.db.OfUser(id).Number }

// AdvanceWatermark notes in partitions that every entry of an outbox up to one is carried out, after
// [Store.Confirm]. Then the entries may be trimmed.
func (s *Outbox) AdvanceWatermark(ctx context.Context, outboxID int, upTo string, in []int) error {
	calls := make([]rdb.Call, len(in))
	for i, number := range in {
		p := s.db.Partition(number)
		calls[i] = rdb.Call{
			Script: script.AdvanceWatermark,
			Keys:   []string{p.Progress(outboxID), p.MergeMarks(outboxID), p.OlderMergeMarks(outboxID)},
			Args:   []any{upTo},
		}
	}
	for _, reply := range s.db.DoAll(ctx, calls) {
		if err := reply.Err(); err != nil {
			return fmt.Errorf("advance outbox %d to %s: %w", outboxID, upTo, err)
		}
	}
	return nil
}

// TrimOutbox removes the entries of an outbox up to one. The partitions they went to must
// have been told first, by [Store.Advance].
func (s *Outbox) TrimOutbox(ctx context.Context, outboxID int, upTo string) error {
	if err := s.db.Client.XTrimMinID(ctx, s.db.Partition(outboxID).Outbox(), outbox.NextID(upTo)).Err(); err != nil {
		return fmt.Errorf("trim outbox %d: %w", outboxID, err)
	}
	return nil
}

// OutboxLength returns how many entries wait in all outboxes.
func (s *Outbox) OutboxLength(ctx context.Context) (int, error) {
	pipe := s.db.Client.Pipeline()
	lengths := make([]*redis.IntCmd, len(s.db.Partitions()))
	for i, p := range s.db.Partitions() {
		lengths[i] = pipe.XLen(ctx, p.Outbox())
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

// Backlog is what an outbox holds.
type Backlog struct {
	Oldest  time.Duration // age of the oldest entry, by the clock of its Redis; 0 where there is none
	Entries int64
	Err     error // why the outbox could not be read; the figures are 0 then
}

// backlogTTL is how old an answer about the outboxes may be: many may ask.
const backlogTTL = time.Second

// backlogCache remembers the last answer.
type backlogCache struct {
	mu   sync.Mutex
	read time.Time
	all  []Backlog
}

// Backlogs returns what the outboxes hold, by partition, as it was a second ago at most.
// Entries that are carried out count until they are trimmed, which waits for those before
// them. An outbox that cannot be read has an error of its own.
func (s *Outbox) Backlogs(ctx context.Context) []Backlog {
	b := &s.backlogs
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.read.IsZero() && time.Since(b.read) < backlogTTL {
		return b.all
	}
	calls := make([]rdb.Call, len(s.db.Partitions()))
	for i, p := range s.db.Partitions() {
		calls[i] = rdb.Call{Script: script.Backlog, Keys: []string{p.Outbox()}}
	}
	all := make([]Backlog, len(calls))
	for i, reply := range s.db.DoAll(ctx, calls) {
		numbers, err := reply.Int64Slice()
		if err == nil && len(numbers) != 2 {
			err = fmt.Errorf("reply %v", numbers)
		}
		if err != nil {
			all[i].Err = fmt.Errorf("read the backlog of outbox %d: %w", i, err)
			continue
		}
		all[i] = Backlog{Oldest: time.Duration(numbers[0]) * time.Millisecond, Entries: numbers[1]}
	}
	b.all, b.read = all, time.Now()
	return all
}

// CheckBacklog returns an error when an outbox holds an entry that is older than a bound. It ignores outboxes that
// cannot be read: [Health.CheckWritable] reports those.
func (s *Outbox) CheckBacklog(ctx context.Context, oldest time.Duration) error {
	for number, b := range s.Backlogs(ctx) {
		if b.Oldest > oldest {
			return fmt.Errorf("the oldest of %d entries of outbox %d is %s old, and may be %s: see that workers run and keep up",
				b.Entries, number, b.Oldest.Round(time.Millisecond), oldest)
		}
	}
	return nil
}
