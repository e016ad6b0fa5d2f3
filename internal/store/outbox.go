package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"retwis/internal/outbox"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Outbox manages the outboxes of all partitions: their entries, and the deliveries of these.
type Outbox struct {
	core
	*Leases
	*DeadLetterQueue
	*Load
	follows  *Follows
	backlogs backlogCache
}

// Partitions returns the number of partitions, which is also the number of outboxes.
func (s *Outbox) Partitions() int { return len(s.db.Partitions()) }

// PartitionOf returns the number of the partition that a timeline lives in.
func (s *Outbox) PartitionOf(t retwis.TimelineID) int { return s.db.OfTimeline(t).Number }

// AuthorPartitions returns the partitions that the posts of authors go to, see [Follows.AuthorPartitions], and who is large.
func (s *Outbox) AuthorPartitions(ctx context.Context, authors []retwis.UserID) ([]outbox.AuthorPartitions, error) {
	all, err := s.follows.AuthorPartitions(ctx, authors)
	if err != nil {
		return nil, err
	}
	return all, s.markLarge(ctx, authors, all)
}

// ResumeOutbox prepares an outbox for a worker that takes it over. It raises the watermark in all partitions to the
// highest one of any partition and trims the entries up to there. To deliver one of them to a partition that got
// followers since would put its post on top of newer ones.
func (s *Outbox) ResumeOutbox(ctx context.Context, outboxID int) error {
	pipe := s.db.Client.Pipeline()
	results := make([]*redis.StringCmd, len(s.db.Partitions()))
	for i, p := range s.db.Partitions() {
		results[i] = pipe.HGet(ctx, p.Progress(outboxID), "watermark")
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	var watermark string
	everywhere := map[int]int{}
	for i, result := range results {
		everywhere[i] = math.MaxInt32 // nobody knows how many, nor how many entries there are
		value, err := result.Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return fmt.Errorf("resume outbox %d: %w", outboxID, err)
		}
		if watermark == "" || outbox.Earlier(watermark, value) {
			watermark = value
		}
	}
	if watermark == "" {
		return nil
	}
	if err := s.AdvanceWatermark(ctx, outboxID, watermark, everywhere, math.MaxInt32); err != nil {
		return err
	}
	return s.TrimOutbox(ctx, outboxID, watermark)
}

// ReadOutbox returns up to count entries of an outbox after an entry, oldest first; "0" reads from the start. If block
// is positive, it waits that long for the first entry.
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

// VerifyEntries verifies that the entries of an outbox up to one that was read are durable, as [rdb.DB.VerifyRecords] does.
// Process no entry before: a failover may lose it with its post, and its deliveries would remain. After
// [retwis.ErrNotReplicated], read the entries again.
func (s *Outbox) VerifyEntries(ctx context.Context, outboxID int, upTo string) error {
	held := func(ctx context.Context, pipe redis.Pipeliner) (redis.Cmder, func() bool) {
		cmd := pipe.XRangeN(ctx, s.db.Partition(outboxID).Outbox(), upTo, upTo, 1)
		return cmd, func() bool { return len(cmd.Val()) > 0 }
	}
	if err := s.db.VerifyRecords(ctx, map[int]rdb.Record{outboxID: held}); err != nil {
		return fmt.Errorf("verify entry %s of outbox %d: %w", upTo, outboxID, err)
	}
	return nil
}

// awaitEntries reads streams with a blocking command. The driver does not end a blocking read when its context is
// done, and would delay the shutdown of a worker. So awaitEntries returns, and leaves the read behind: it changes
// nothing, and ends after its timeout or when the store is closed.
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

// outboxEntry parses an entry. It sets Malformed on an entry that it cannot parse, which the worker moves to the
// dead-letter queue.
func outboxEntry(outboxID int, message redis.XMessage) outbox.Entry {
	e := outbox.Entry{Outbox: outboxID, ID: message.ID, Fields: map[string]string{}}
	for field, value := range message.Values {
		e.Fields[field] = rdb.Text(value)
	}
	e.Kind = outbox.Kind(e.Fields["kind"])
	e.Name = e.Fields["name"]
	e.Trace, e.Origin = e.Fields["trace"], e.Fields["origin"]
	e.Malformed = errors.Join(
		read(e.Fields, "author", retwis.ParseUserID, &e.Author),
		read(e.Fields, "user", retwis.ParseUserID, &e.User),
		read(e.Fields, "timeline", retwis.ParseTimelineID, &e.Timeline),
		read(e.Fields, "list", retwis.ParseListID, &e.List),
		read(e.Fields, "owner", retwis.ParseUserID, &e.Owner),
		read(e.Fields, "post", retwis.ParsePostID, &e.Post),
		read(e.Fields, "answered", retwis.ParseUserID, &e.Answered),
		read(e.Fields, "reply_to", retwis.ParsePostID, &e.ReplyTo),
		read(e.Fields, "reposted", retwis.ParsePostID, &e.Reposted),
		read(e.Fields, "quoted", retwis.ParsePostID, &e.Quoted),
		read(e.Fields, "mentions", rdb.UserIDs, &e.Mentions),
		read(e.Fields, "tags", rdb.TagIDs, &e.Tags),
		read(e.Fields, "score", parseScore, &e.Score),
		read(e.Fields, "step", parseScore, &e.Step),
	)
	return e
}

// read parses a field if it exists.
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

// PublicPartition returns the number of the partition of the public timeline.
func (s *Outbox) PublicPartition() int { return s.db.Public().Number }

// PartitionOfPost returns the number of a post's partition.
func (s *Outbox) PartitionOfPost(id retwis.PostID) int { return s.db.OfBucket(id.Bucket()).Number }

// PartitionOfUser returns the number of a user's partition.
func (s *Outbox) PartitionOfUser(id retwis.UserID) int { return s.db.OfUser(id).Number }

// The work of a call that advances a watermark, in pushes. It may also search the progress of all entries that are not trimmed, about a thousand at a
// time.
const (
	advanceWork  = 30
	mostSearched = 1000
)

// AdvanceWatermark advances the watermark of an outbox in partitions, for each of which it takes the number of targets that the entries up to
// there had. The outbox has a number of entries that are not trimmed. Call it after [Outbox.VerifyDurable] and before [Outbox.TrimOutbox].
func (s *Outbox) AdvanceWatermark(ctx context.Context, outboxID int, upTo string, targets map[int]int, entries int) error {
	calls := make([]rdb.Call, 0, len(targets))
	for number, finished := range targets {
		p := s.db.Partition(number)
		calls = append(calls, rdb.Call{
			Script: script.AdvanceWatermark,
			Keys:   []string{p.Progress(outboxID), p.MergeMarks(outboxID), p.OlderMergeMarks(outboxID)},
			Args:   []any{upTo, finished},
			Work:   advanceWork + min(entries, mostSearched),
		})
	}
	for _, reply := range s.db.DoInPieces(ctx, calls) {
		if err := reply.Err(); err != nil {
			return fmt.Errorf("advance the watermark of outbox %d to %s: %w", outboxID, upTo, err)
		}
	}
	return nil
}

// TrimOutbox removes the entries of an outbox up to an entry. Call [Outbox.AdvanceWatermark] first, for all partitions
// that they were delivered to.
func (s *Outbox) TrimOutbox(ctx context.Context, outboxID int, upTo string) error {
	if err := s.db.Client.XTrimMinID(ctx, s.db.Partition(outboxID).Outbox(), outbox.NextID(upTo)).Err(); err != nil {
		return fmt.Errorf("trim outbox %d: %w", outboxID, err)
	}
	return nil
}

// OutboxLength returns the number of entries in all outboxes.
func (s *Outbox) OutboxLength(ctx context.Context) (int, error) {
	pipe := s.db.Client.Pipeline()
	lengths := make([]*redis.IntCmd, len(s.db.Partitions()))
	for i, p := range s.db.Partitions() {
		lengths[i] = pipe.XLen(ctx, p.Outbox())
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, fmt.Errorf("read the length of the outboxes: %w", err)
	}
	total := 0
	for _, length := range lengths {
		total += int(length.Val())
	}
	return total, nil
}

// Backlog is the length of an outbox and the age of its oldest entry.
type Backlog struct {
	Oldest  time.Duration // age of the oldest entry, by the clock of Redis; 0 if there is none
	Entries int64
	Err     error // why the outbox could not be read; the figures are 0 then
}

// backlogTTL is how long backlogs are cached, because several health checks and scrapes read them.
const backlogTTL = time.Second

// backlogCache holds the last backlogs read.
type backlogCache struct {
	mu   sync.Mutex
	read time.Time
	all  []Backlog
}

// Backlogs returns the backlogs of all outboxes by partition, at most a second old. Delivered entries count until they
// are trimmed, which happens when all entries before them are delivered. An outbox that cannot be read has an error of
// its own.
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

// CheckBacklog returns an error if an outbox holds an entry older than a bound. It ignores outboxes that cannot be read:
// [Health.CheckWritable] reports those.
func (s *Outbox) CheckBacklog(ctx context.Context, oldest time.Duration) error {
	for number, b := range s.Backlogs(ctx) {
		if b.Oldest > oldest {
			return fmt.Errorf("the oldest of %d entries of outbox %d is %s old, more than %s: check that workers run and keep up",
				b.Entries, number, b.Oldest.Round(time.Millisecond), oldest)
		}
	}
	return nil
}
