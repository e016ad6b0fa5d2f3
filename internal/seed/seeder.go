package seed

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

// Password is the password of all seeded accounts.
const Password = "password"

// Store is the database that a [Seeder] loads data into.
type Store interface {
	Claims(ctx context.Context, usernames []string) ([]retwis.Claim, error)
	RegisterAll(ctx context.Context, all []retwis.Registration) ([]retwis.UserID, error)
	Activate(ctx context.Context, ids []retwis.UserID) error
	ImportPosts(ctx context.Context, imports []retwis.PostImport) (int, error)
	ImportPublicTimeline(ctx context.Context, authors []retwis.UserID) error
	FollowAll(ctx context.Context, all []retwis.Followings) (int, error)
	UnbuiltHomes(ctx context.Context, users []retwis.UserID) ([]retwis.UserID, error)
	Rebuild(ctx context.Context, id retwis.TimelineID) error
	OutboxLength(ctx context.Context) (int, error)
}

// Passwords hashes and verifies passwords.
type Passwords interface {
	HashPassword(ctx context.Context, password string) (string, error)
	HasPassword(ctx context.Context, stored, password string) (bool, error)
}

// Options of [New]. Zero values select the defaults.
type Options struct {
	Parallel int       // concurrent batches; 4 by default
	Now      time.Time // creation time of the newest posts; by default the time of New

	// Progress is called at the start of each step with the amount of work. The seeder calls
	// add after each part of the step with the amount done, and end once at the end.
	Progress func(name string, total int) (add func(int), end func())
}

// Seeder loads a population into a database. Loading is idempotent: repeated, interrupted
// and killed runs together create everything once.
type Seeder struct {
	population Population
	store      Store
	passwords  Passwords
	options    Options

	ids  []retwis.UserID // of the members; 0 if another account has the name
	hash string          // password hash of new accounts

	mu   sync.Mutex      // also held during verification: most accounts share one hash
	ours map[string]bool // verified hashes: whether they are hashes of Password

	counts struct{ registered, reused, namesTaken, follows, posts atomic.Int64 }
}

// New returns a seeder. [Seeder.Run] does the work.
func New(population Population, store Store, passwords Passwords, options Options) *Seeder {
	if options.Parallel == 0 {
		options.Parallel = 4
	}
	if options.Now.IsZero() {
		options.Now = time.Now()
	}
	if options.Progress == nil {
		options.Progress = func(string, int) (func(int), func()) { return func(int) {}, func() {} }
	}
	return &Seeder{
		population: population,
		store:      store,
		passwords:  passwords,
		options:    options,
		ids:        make([]retwis.UserID, population.Size()),
		ours:       map[string]bool{},
	}
}

// Run creates the missing parts of the population and returns when all outbox entries are
// delivered. A fan-out worker must run concurrently. When ctx ends, Run first completes the
// batches in progress.
func (s *Seeder) Run(ctx context.Context) error {
	if len(s.ids) == 0 {
		return nil
	}
	// Posts precede follows, and homes are last. Each home is then built once with all its
	// posts, instead of receiving a push per post and a back-fill per follow.
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"accounts", s.accounts},
		{"posts", s.posts},
		{"follows", s.follows},
		{"home timelines", s.homes},
		{"deliveries", s.drain},
	} {
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("seed %s: %w", step.name, err)
		}
	}
	return nil
}

// Result counts what a seeder created.
type Result struct {
	Accounts   int // registered accounts
	Reused     int // accounts that an earlier run registered
	NamesTaken int // members skipped because another account has the name
	Follows    int
	Posts      int
}

// Result returns the counts so far.
func (s *Seeder) Result() Result {
	return Result{
		Accounts:   int(s.counts.registered.Load()),
		Reused:     int(s.counts.reused.Load()),
		NamesTaken: int(s.counts.namesTaken.Load()),
		Follows:    int(s.counts.follows.Load()),
		Posts:      int(s.counts.posts.Load()),
	}
}

// MostPopular returns up to n existing members, the most popular first.
func (s *Seeder) MostPopular(n int) []Member {
	var members []Member
	for i := 0; i < len(s.ids) && len(members) < n; i++ {
		if s.ids[i] != 0 {
			members = append(members, s.population.Member(i))
		}
	}
	return members
}

// batches splits the range 0..total-1 into batches and processes several concurrently. A
// batch in progress completes even when ctx ends: an interrupted batch would leave
// unfinished registrations and edges for the worker to repair.
func (s *Seeder) batches(ctx context.Context, total, size int, do func(ctx context.Context, from, to int) error) error {
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(s.options.Parallel)
	for from := 0; from < total && running.Err() == nil; from += size {
		group.Go(func() error {
			if err := running.Err(); err != nil {
				return err
			}
			return do(context.WithoutCancel(ctx), from, min(from+size, total))
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// homes builds the missing home timelines.
func (s *Seeder) homes(ctx context.Context) error {
	const batch = 100
	add, end := s.options.Progress("homes", len(s.ids))
	defer end()
	return s.batches(ctx, len(s.ids), batch, func(ctx context.Context, from, to int) error {
		unbuilt, err := s.store.UnbuiltHomes(ctx, s.existing(from, to))
		if err != nil {
			return err
		}
		add(to - from - len(unbuilt))
		for _, id := range unbuilt {
			if err := s.store.Rebuild(ctx, retwis.Home(id)); err != nil && !isGone(err) {
				return err
			}
			add(1)
		}
		return nil
	})
}

// existing returns the ids of the members from..to-1 that have an account.
func (s *Seeder) existing(from, to int) []retwis.UserID {
	var ids []retwis.UserID
	for _, id := range s.ids[from:to] {
		if id != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// drain waits until the outboxes are empty.
func (s *Seeder) drain(ctx context.Context) error {
	total, err := s.store.OutboxLength(ctx)
	if err != nil || total == 0 {
		return err
	}
	add, end := s.options.Progress("deliveries", total)
	defer end()
	for left := total; left > 0; {
		if err := sleep.For(ctx, 20*time.Millisecond); err != nil {
			return err
		}
		now, err := s.store.OutboxLength(ctx)
		if err != nil {
			return err
		}
		add(left - now)
		left = now
	}
	return nil
}
