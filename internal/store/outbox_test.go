package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/redistest"
	"retwis/internal/store/rdb"
)

func TestOutbox_WaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := open(t, Options{URL: redistest.Server(t).URL()})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := s.Outbox.ReadOutbox(ctx, 0, "0", 1, time.Hour)
		done <- err
	}()
	eventually(t, func() bool {
		info, err := s.db.Client.Info(t.Context(), "clients").Result()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(info, "blocked_clients:1")
	})
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("it waits on")
	}
}

// Workers acquire leases while the clock of Redis is an hour ahead. When it is right again, these would last for an hour,
// also those of workers that are dead or have stopped serving.
func TestLeases_EndWhenTheClockGoesBack(t *testing.T) {
	t.Parallel()
	s := open(t, Options{URL: redistest.Server(t).URL()})
	ctx, ahead := t.Context(), time.Hour
	const served, ttl = 3, time.Minute
	acquire := func(worker string) bool {
		lease := s.Outbox.AcquireLeases(ctx, []int{served}, worker, ttl)[0]
		if lease.Err != nil {
			t.Fatal(lease.Err)
		}
		return lease.Held
	}
	if first, second := acquire("first"), acquire("second"); !first || second {
		t.Fatalf("acquired by the first worker: %v, by the second: %v", first, second)
	}
	if err := s.db.Client.PExpire(ctx, s.db.Partition(served).Lease(), ahead+ttl).Err(); err != nil {
		t.Fatal(err)
	}
	if free, err := s.Outbox.FreeLeases(ctx, []int{served}); err != nil || len(free) != 1 {
		t.Errorf("free leases: %v, %v", free, err)
	}
	if second, first := acquire("second"), acquire("first"); !second || first {
		t.Errorf("acquired by the second worker: %v, by the first: %v", second, first)
	}

	sweep := func(worker string) bool {
		held, err := s.Sweeps.AcquireSweep(ctx, worker, ttl, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	if first, second := sweep("first"), sweep("second"); !first || second {
		t.Fatalf("the first sweeps: %v, the second: %v", first, second)
	}
	since := time.Now().Add(ahead)
	if err := s.db.Client.HSet(ctx, rdb.SweepKey, "since", since.UnixMilli(), "until", since.Add(ttl).UnixMilli()).Err(); err != nil {
		t.Fatal(err)
	}
	if second, first := sweep("second"), sweep("first"); !second || first {
		t.Errorf("the second sweeps: %v, the first: %v", second, first)
	}
}

// openWithProgress opens a store in which entries of an outbox, with the ids 1-0 and so on, have been delivered to a partition. It also returns the key
// of their progress, and a function that advances the watermark there up to an entry, past some deliveries.
func openWithProgress(t *testing.T, entries int) (s *Store, progress string, advance func(upTo, targets int)) {
	t.Helper()
	s = open(t, Options{URL: redistest.Server(t).URL()})
	const outboxID, partition = 1, 2
	progress = s.db.Partition(partition).Progress(outboxID)
	var fields []any
	for n := 1; n <= entries; n++ {
		fields = append(fields, fmt.Sprintf("%d-0:h", n), "done")
	}
	if err := s.db.Client.HSet(t.Context(), progress, fields...).Err(); err != nil {
		t.Fatal(err)
	}
	return s, progress, func(upTo, targets int) {
		t.Helper()
		if err := s.Outbox.AdvanceWatermark(t.Context(), outboxID, fmt.Sprintf("%d-0", upTo), map[int]int{partition: targets}, entries); err != nil {
			t.Fatal(err)
		}
	}
}

// Attack: 20 000 finished entries waited behind steps of account deletions, and each advance of the watermark searched the progress of all: 30 to 246 ms in
// each partition, in rows that stopped everybody.
func TestAdvanceWatermark_SearchesInSteps(t *testing.T) {
	t.Parallel()
	const entries, step = 20_000, 500
	s, progress, advanceTo := openWithProgress(t, entries)
	if err := s.db.Client.HSet(t.Context(), progress, "ah1", "1-0", "ah2", fmt.Sprintf("%d-0", entries)).Err(); err != nil {
		t.Fatal(err)
	}
	left := s.db.Client.HLen(t.Context(), progress).Val()
	advance := func(upTo int) {
		t.Helper()
		advanceTo(upTo, step)
		before := left
		left = s.db.Client.HLen(t.Context(), progress).Val()
		if most := int64(5 * step); before-left > most {
			t.Errorf("one advance deleted %d fields, want at most %d", before-left, most)
		}
	}
	for upTo := step; upTo < entries; upTo += step {
		advance(upTo)
	}
	if left > entries/2 {
		t.Errorf("%d fields are left when all but one in forty are finished", left)
	}
	for upTo := entries; left > 1 && upTo < 2*entries; upTo++ {
		advance(upTo)
	}
	if left != 1 {
		t.Errorf("the progress has %d fields at the end, want the watermark", left)
	}
}

// Attack: the deletion of an account left the progress of thousands of entries unfinished, and each advance of the watermark searched all of it: 5 ms
// in each partition, several times a second.
func TestAdvanceWatermark_SearchesLittle(t *testing.T) {
	t.Parallel()
	const finished, unfinished = 300, 300
	s, progress, advanceTo := openWithProgress(t, finished+unfinished)
	advance := func(upTo, targets int) int {
		t.Helper()
		advanceTo(upTo, targets)
		left := 0
		for _, field := range s.db.Client.HKeys(t.Context(), progress).Val() {
			if strings.HasSuffix(field, ":h") {
				left++
			}
		}
		return left
	}
	for _, step := range []struct{ upTo, targets, left int }{
		{100, 100, 600}, // less than a quarter is finished
		{200, 100, 400},
		{250, 50, 400},
		{301, 51, 299},
		{600, 299, 0},
	} {
		if left := advance(step.upTo, step.targets); left != step.left {
			t.Errorf("after %d: the progress has %d fields, want %d", step.upTo, left, step.left)
		}
	}
	if n := s.db.Client.HLen(t.Context(), progress).Val(); n != 1 {
		t.Errorf("the progress has %d fields at the end, want the watermark", n)
	}
}

// longestPipeline counts the commands of the longest pipeline.
type longestPipeline struct{ commands atomic.Int64 }

func (l *longestPipeline) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (l *longestPipeline) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (l *longestPipeline) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		l.commands.Store(max(l.commands.Load(), int64(len(cmds)))) // the test has one pipeline at a time
		return next(ctx, cmds)
	}
}

// Attack: while accounts with thousands of posts were deleted, the searches of all partitions were one pipeline, which stopped everybody for 20 to 50 ms.
func TestAdvanceWatermark_SearchesOnePartitionAtATime(t *testing.T) {
	t.Parallel()
	s, _, _ := openWithProgress(t, 1)
	targets := map[int]int{}
	for i := range s.db.Partitions() {
		targets[i] = 1
	}
	longest := func(entries int) int64 {
		t.Helper()
		var l longestPipeline
		s.db.Client.AddHook(&l)
		if err := s.Outbox.AdvanceWatermark(t.Context(), 0, "1-0", targets, entries); err != nil {
			t.Fatal(err)
		}
		return l.commands.Load()
	}
	if n, want := longest(1), int64(len(targets)); n != want {
		t.Errorf("with one entry, the longest pipeline has %d commands, want %d", n, want)
	}
	if n := longest(1000); n > 1 {
		t.Errorf("with 1000 entries, a pipeline has %d searches, want 1", n)
	}
}
