package fanout

import (
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

// SweepStore is what the sweeper needs of the database.
type SweepStore interface {
	SweepTurn(ctx context.Context, worker string, lease, every time.Duration) (bool, error)
	SweepIdle(ctx context.Context, pause func(ctx context.Context, looked, removed int) error) error
	EndSweep(ctx context.Context, worker string, whole bool) error
}

// SweeperOptions tune a sweeper. Zero values take the defaults.
type SweeperOptions struct {
	Name       string        // unique among sweepers; a random one by default
	Every      time.Duration // between the end of a sweep and the next one, a day
	CheckEvery time.Duration // how often to look whether a sweep is due, 10 min
	Lease      time.Duration // how long the turn of a sweeper that died waits for another one, 1 min
	Pause      time.Duration // after each step of a sweep, 20 ms
	Log        *slog.Logger

	Metrics prometheus.Registerer // where to register those of the sweeper; nil nowhere
}

func (o SweeperOptions) withDefaults() SweeperOptions {
	last := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	if o.Name == "" {
		o.Name = fmt.Sprintf("%016x", rand.Uint64())
	}
	last(&o.Every, 24*time.Hour)
	last(&o.CheckEvery, 10*time.Minute)
	last(&o.Lease, time.Minute)
	last(&o.Pause, 20*time.Millisecond)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Sweeper gives up the timelines that nobody reads, once a day. Of all sweepers on one
// database one works at a time.
type Sweeper struct {
	store   SweepStore
	options SweeperOptions
	counts  struct{ sweeps, scanned, evicted atomic.Int64 }
}

// NewSweeper returns a sweeper that does nothing until it is run.
func NewSweeper(store SweepStore, options SweeperOptions) *Sweeper {
	s := &Sweeper{store: store, options: options.withDefaults()}
	s.register(options.Metrics)
	return s
}

// SweepStats are counts since the sweeper was made.
type SweepStats struct {
	Sweeps  int64 // that were ended
	Scanned int64 // timelines looked at
	Evicted int64 // of these, given up
}

// Stats returns what the sweeper has done so far.
func (s *Sweeper) Stats() SweepStats {
	return SweepStats{
		Sweeps:  s.counts.sweeps.Load(),
		Scanned: s.counts.scanned.Load(),
		Evicted: s.counts.evicted.Load(),
	}
}

// Run sweeps whenever it is time to, until ctx is done. A sweep that is cut short is begun
// anew by whoever looks next.
func (s *Sweeper) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
			s.options.Log.WarnContext(ctx, "a sweep of idle timelines failed: it is begun again later", "err", err)
		}
		_ = sleep.For(ctx, s.options.CheckEvery)
	}
	return nil
}

// errLeaseLost ends a sweep that another sweeper goes on with.
var errLeaseLost = errors.New("another sweeper has the turn")

// sweep makes one sweep, if it is due.
func (s *Sweeper) sweep(ctx context.Context) error {
	turn, err := s.store.SweepTurn(ctx, s.options.Name, s.options.Lease, s.options.Every)
	if !turn || err != nil {
		return err
	}
	started, renewed := time.Now(), time.Now()
	var all, gone int64
	err = s.store.SweepIdle(ctx, func(ctx context.Context, looked, removed int) error {
		all, gone = all+int64(looked), gone+int64(removed)
		s.counts.scanned.Add(int64(looked))
		s.counts.evicted.Add(int64(removed))
		if time.Since(renewed) > s.options.Lease/4 {
			turn, err := s.store.SweepTurn(ctx, s.options.Name, s.options.Lease, s.options.Every)
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
	whole := err == nil
	if whole {
		s.counts.sweeps.Add(1)
		s.options.Log.InfoContext(ctx, "idle timelines were swept",
			"looked", all, "removed", gone, "took", time.Since(started).Round(time.Millisecond))
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	return errors.Join(err, s.store.EndSweep(ending, s.options.Name, whole))
}
