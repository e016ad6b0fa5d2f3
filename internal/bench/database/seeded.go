// Package database measures a database as large as that of a small community: its memory, and the tools of operators on it.
package database

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/auth"
	"retwis/internal/bench/measure"
	"retwis/internal/bench/world"
	"retwis/internal/check"
	"retwis/internal/retwis"
	"retwis/internal/seed"
	"retwis/internal/store/bulk"
	"retwis/internal/store/inspect"
)

// Seeded measures a database like that of retwis seed --users 10000 --avg-follows 50 --posts 20000 --star 2000: its memory in Redis
// without the people search, how long a check takes beside the seeding, and how much longer a home page takes during the check.
func Seeded(ctx context.Context, r *measure.Run) error {
	people := seed.Population{
		Seed: 1, People: r.Size(10_000, 60), Follows: r.Size(50, 5), Posts: r.Size(20_000, 100), Readers: r.Size(2_000, 10),
	}
	w, err := world.Start(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	empty, err := w.Memory(ctx)
	if err != nil {
		return err
	}
	seeding, err := seedAll(ctx, w, people)
	if err != nil {
		return err
	}
	if err := addMemory(ctx, r, w, people.Size(), empty); err != nil {
		return err
	}
	return addCheck(ctx, r, w, seeding)
}

// seedAll seeds a population, and returns how long that took.
func seedAll(ctx context.Context, w *world.World, people seed.Population) (time.Duration, error) {
	accounts, err := auth.NewAccounts(w.Accounts, w.Sessions, auth.Options{})
	if err != nil {
		return 0, err
	}
	_, stop := w.StartWorker(ctx)
	defer stop()
	start := time.Now()
	err = seed.New(people, bulk.New(w.Store), accounts, seed.Options{}).Run(ctx)
	return time.Since(start), err
}

// addMemory adds what the database takes per member, and what its largest parts take.
func addMemory(ctx context.Context, r *measure.Run, w *world.World, members int, empty int64) error {
	all, err := w.Memory(ctx)
	if err != nil {
		return err
	}
	perMember := func(bytes int64) float64 { return float64(bytes) / float64(members) }
	var parts []measure.Baseline
	var search int64
	for _, part := range []struct{ name, pattern string }{
		{"homes", "*:home:*"},
		{"follower sets", "*:fans:*"},
		{"follows", "*:following:*"},
		{"accounts", "*:user:*"},
		{"posts", "*:post:*"},
		{"people search", "*:words"},
	} {
		bytes, err := w.MemoryOf(ctx, part.pattern)
		if err != nil {
			return err
		}
		parts, search = append(parts, measure.Baseline{Name: part.name, Value: perMember(bytes)}), bytes // the last one is the search
	}
	r.Add(measure.Figure{
		// 650 MB for 120 001 members
		Name: "Redis memory per member of a seeded database", Unit: "bytes", Value: perMember(all - empty - search), Goal: measure.AtMost(5417), Beside: parts,
	})
	return nil
}

// addCheck adds how long a check takes, and a home page during a check.
func addCheck(ctx context.Context, r *measure.Run, w *world.World, seeding time.Duration) error {
	alone, err := checkTime(ctx, w)
	if err != nil {
		return err
	}
	r.Add(measure.Figure{
		Name: "check of a seeded database", Unit: "s", Value: alone.Seconds(),
		Beside: []measure.Baseline{{Name: "seeding it", Value: seeding.Seconds(), Goal: measure.AtMost(0.33)}},
	})
	quiet, err := pageTime(ctx, w, time.After(r.Duration(3*time.Second, 50*time.Millisecond)))
	if err != nil {
		return err
	}
	var during time.Duration
	checked := make(chan time.Time)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(checked)
		_, err := checkTime(ctx, w)
		return err
	})
	group.Go(func() (err error) {
		during, err = pageTime(ctx, w, checked)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	r.Add(measure.Figure{
		Name: "home page of a seeded database, during a check", Unit: "µs", Value: float64(during.Microseconds()),
		Beside: []measure.Baseline{{Name: "without a check", Value: float64(quiet.Microseconds()), Goal: measure.AtMost(1.2)}},
	})
	return nil
}

// checkTime returns how long a check takes. It fails if the check finds a problem.
func checkTime(ctx context.Context, w *world.World) (time.Duration, error) {
	report, err := check.Run(ctx, inspect.New(w.Store), check.Options{})
	if err == nil && report.Findings() > 0 {
		err = fmt.Errorf("the check of a seeded database found %d problems: %v", report.Findings(), report.Examples)
	}
	return report.Took, err
}

// pageTime reads home pages one after the other until something ends, and returns the mean time of one.
func pageTime(ctx context.Context, w *world.World, end <-chan time.Time) (time.Duration, error) {
	readers, err := w.Accounts.NewestUsers(ctx, retwis.Page{First: 50})
	if err != nil {
		return 0, err
	}
	start := time.Now()
	for pages := 0; ; pages++ {
		select {
		case <-end:
			return time.Since(start) / time.Duration(max(pages, 1)), nil
		default:
		}
		if _, err := w.Timelines.Page(ctx, retwis.Home(readers.Follows[pages%len(readers.Follows)].User.ID), retwis.Page{First: 20}); err != nil {
			return 0, err
		}
	}
}
