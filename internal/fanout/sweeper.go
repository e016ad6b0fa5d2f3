package fanout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"retwis/internal/sleep"
)

// SweepStore is the database that a sweeper operates on.
type SweepStore interface {
	AcquireSweep(ctx context.Context, worker string, lease, every time.Duration) (bool, error)
	EvictIdle(ctx context.Context, pause func(ctx context.Context, looked, removed int) error) error
	ReleaseSweep(ctx context.Context, worker string, whole bool) error
}

// SweeperOptions configure a [Sweeper]. Zero values select the defaults.
type SweeperOptions struct {
	Name       string        // unique among sweepers; random by default
	Every      time.Duration // time from the end of a sweep to the next one; 24 h by default
	CheckEvery time.Duration // interval of checking whether a sweep is due; 10 min by default
	Lease      time.Duration // time after which another sweeper replaces a failed one; 1 min by default
	Pause      time.Duration // pause after each step of a sweep; 20 ms by default
	Log        *slog.Logger

	Metrics prometheus.Registerer // registry of the sweeper's metrics; nil registers none
}

func (o SweeperOptions) withDefaults() SweeperOptions {
	if o.Name == "" {
		o.Name = fmt.Sprintf("%016x", rand.Uint64())
	}
	o.Every = cmp.Or(o.Every, 24*time.Hour)
	o.CheckEvery = cmp.Or(o.CheckEvery, 10*time.Minute)
	o.Lease = cmp.Or(o.Lease, time.Minute)
	o.Pause = cmp.Or(o.Pause, 20*time.Millisecond)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Sweeper evicts idle timelines once a day, and drops hashtags that no post uses. The next read rebuilds an evicted home or list. Only
// one sweeper per database works at a time.
type Sweeper struct {
	store   SweepStore
	options SweeperOptions
	counts  struct{ sweeps, scanned, evicted atomic.Int64 }
}

// NewSweeper returns a sweeper. [Sweeper.Run] starts it.
func NewSweeper(store SweepStore, options SweeperOptions) *Sweeper {
	s := &Sweeper{store: store, options: options.withDefaults()}
	s.register(options.Metrics)
	return s
}

// SweepStats are counts since the creation of the sweeper.
type SweepStats struct {
	Sweeps  int64 // completed sweeps
	Scanned int64 // timelines inspected
	Evicted int64 // timelines evicted, those of dropped hashtags included
}

// Stats returns the current counts.
func (s *Sweeper) Stats() SweepStats {
	return SweepStats{
		Sweeps:  s.counts.sweeps.Load(),
		Scanned: s.counts.scanned.Load(),
		Evicted: s.counts.evicted.Load(),
	}
}

// Run sweeps when a sweep is due, until ctx is done. After an interrupted sweep, the next
// sweeper starts a new one.
func (s *Sweeper) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
			s.options.Log.WarnContext(ctx, "fanout: sweeping idle timelines failed, retrying later", "err", err)
		}
		_ = sleep.For(ctx, s.options.CheckEvery)
	}
	return nil
}

// errLeaseLost ends a sweep that another sweeper has taken over.
var errLeaseLost = errors.New("another sweeper holds the lease")

// sweep sweeps once, if a sweep is due.
func (s *Sweeper) sweep(ctx context.Context) error {
	turn, err := s.store.AcquireSweep(ctx, s.options.Name, s.options.Lease, s.options.Every)
	if !turn || err != nil {
		return err
	}
	started, renewed := time.Now(), time.Now()
	var scanned, evicted int64
	err = s.store.EvictIdle(ctx, func(ctx context.Context, inspected, removed int) error {
		scanned, evicted = scanned+int64(inspected), evicted+int64(removed)
		s.counts.scanned.Add(int64(inspected))
		s.counts.evicted.Add(int64(removed))
		if time.Since(renewed) > s.options.Lease/4 {
			turn, err := s.store.AcquireSweep(ctx, s.options.Name, s.options.Lease, s.options.Every)
			if err != nil {
				return err
			}
			if !turn {
				return errLeaseLost
			}
			renewed = time.Now()
		}
		return sleep.For(ctx, s.options.Pause)
	})
	complete := err == nil
	if complete {
		s.counts.sweeps.Add(1)
		s.options.Log.InfoContext(ctx, "fanout: swept idle timelines",
			"inspected", scanned, "evicted", evicted, "took", time.Since(started).Round(time.Millisecond))
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	return errors.Join(err, s.store.ReleaseSweep(ending, s.options.Name, complete))
}
