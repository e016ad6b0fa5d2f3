package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

// field is where a partition keeps how far it has got with an entry.
func field(at outbox.Target) string {
	switch at.To {
	case outbox.TargetLists:
		return at.Entry + ":lists"
	case outbox.TargetActiveFollowers:
		return at.Entry + ":readers"
	case outbox.TargetMentions:
		return at.Entry + ":" + retwis.Mentions(at.User).String()
	case outbox.TargetPublic:
		return at.Entry + ":" + retwis.Public().String()
	case outbox.TargetTask:
		return at.Entry + ":task"
	default:
		return at.Entry
	}
}

// Note writes down that an entry was carried out at a place, where [Store.Deliver] did not.
func (s *Store) Note(ctx context.Context, outboxID int, at outbox.Target) error {
	progress := s.partitions[at.Partition].progress(outboxID)
	if err := s.client.HSet(ctx, progress, field(at), outbox.Done).Err(); err != nil {
		return fmt.Errorf("note entry %s in partition %d: %w", at.Entry, at.Partition, err)
	}
	return nil
}

// Confirm makes sure that what was carried out at some places of an outbox's entries stays,
// before the entries are trimmed: with wait, where there are replicas, until one of them has
// it; else the error is [retwis.ErrNotReplicated]. It returns the indexes of the places that
// know nothing of it any more, as after a failover to a replica that lacked it, or the crash
// of a server that had not written it down. Then it has to be done again. again says that the
// outbox holds entries below first, which had been trimmed: the outbox has to be read anew.
// After an error nothing is certain; try again.
func (s *Store) Confirm(ctx context.Context, outboxID int, first string, places []outbox.Target, wait bool) (lost []int, again bool, err error) {
	at := map[int][]int{outboxID: nil} // indexes of places by partition
	for i, place := range places {
		at[place.Partition] = append(at[place.Partition], i)
	}
	groups := map[*redis.Client][]int{} // partitions by their master; nil where there is one server
	for number := range at {
		var node *redis.Client
		if s.replicas != nil {
			if node, err = s.replicas.client.MasterForKey(ctx, s.partitions[number].written()); err != nil {
				return nil, false, fmt.Errorf("confirm outbox %d: find the master of partition %d: %w", outboxID, number, err)
			}
		}
		groups[node] = append(groups[node], number)
	}

	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	for node, numbers := range groups {
		group.Go(func() error {
			c := confirmation{store: s, outboxID: outboxID, first: first, places: places, at: at, wait: wait && len(places) > 0}
			if err := c.ask(ctx, node, numbers); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			lost, again = append(lost, c.lost...), again || c.again
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		if s.replicas != nil {
			s.replicas.client.ReloadState(ctx) // there may be another master by now
		}
		return nil, false, fmt.Errorf("confirm outbox %d: %w", outboxID, err)
	}
	slices.Sort(lost)
	return lost, again, nil
}

// confirmation is what one server is asked.
type confirmation struct {
	store    *Store
	outboxID int
	first    string
	places   []outbox.Target
	at       map[int][]int
	wait     bool

	lost  []int
	again bool
}

// ask asks about the places in some partitions, all of one master; nil is the only server.
func (c *confirmation) ask(ctx context.Context, node *redis.Client, numbers []int) error {
	s := c.store
	client, wait := s.client, false
	if node != nil {
		client = node
	}
	if node != nil && c.wait {
		master, n, err := s.replicas.of(ctx, s.partitions[numbers[0]].written())
		if err != nil {
			return err
		}
		wait = n > 0 || master != node
	}
	pipe := client.Pipeline()
	var cmds []redis.Cmder
	add := func(cmd redis.Cmder) { cmds = append(cmds, cmd) }
	type read struct {
		fields *redis.SliceCmd
		about  []int
	}
	var reads []read
	var low *redis.XMessageSliceCmd
	for _, number := range numbers {
		p := s.partitions[number]
		if number == c.outboxID {
			low = pipe.XRangeN(ctx, p.outbox(), "-", "("+c.first, 1)
			add(low)
		}
		const step = 500
		for about := range slices.Chunk(c.at[number], step) {
			fields := []string{"low"}
			for _, i := range about {
				fields = append(fields, field(c.places[i]))
			}
			r := read{pipe.HMGet(ctx, p.progress(c.outboxID), fields...), about}
			reads = append(reads, r)
			add(r.fields)
		}
	}
	var waited *redis.Cmd
	if wait {
		var set *redis.StatusCmd
		set, waited = s.waitForAll(ctx, pipe, s.partitions[numbers[0]].written())
		add(set)
		add(waited)
	}
	if node != nil {
		_ = s.observer.exec(ctx, pipe, cmds...) // every result holds its own error
	} else {
		_, _ = pipe.Exec(ctx) // likewise
	}
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil {
			return err
		}
	}
	if waited != nil {
		if n, err := waited.Int(); err != nil || n < 1 {
			return errors.Join(retwis.ErrNotReplicated, err)
		}
	}
	c.again = low != nil && len(low.Val()) > 0
	for _, r := range reads {
		c.compare(r.fields.Val(), r.about)
	}
	return nil
}

// compare notes the places whose entries are neither below the partition's mark nor done.
func (c *confirmation) compare(values []any, about []int) {
	low := text(values[0])
	for k, i := range about {
		if text(values[k+1]) != outbox.Done && (low == "" || outbox.Earlier(low, c.places[i].Entry)) {
			c.lost = append(c.lost, i)
		}
	}
}
