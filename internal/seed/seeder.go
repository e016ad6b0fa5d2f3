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

// Password is everybody's.
const Password = "password"

// Store is what seeding needs of a database.
type Store interface {
	Claims(ctx context.Context, usernames []string) ([]retwis.Claim, error)
	RegisterAll(ctx context.Context, all []retwis.Registration) ([]retwis.UserID, error)
	EndRegistrations(ctx context.Context, ids []retwis.UserID) error
	ImportPosts(ctx context.Context, imports []retwis.PostImport) (int, error)
	ImportPublic(ctx context.Context, authors []retwis.UserID) error
	FollowAll(ctx context.Context, all []retwis.Followings) (int, error)
	Unbuilt(ctx context.Context, users []retwis.UserID) ([]retwis.UserID, error)
	Rebuild(ctx context.Context, id retwis.TimelineID) error
	OutboxLength(ctx context.Context) (int, error)
}

// Passwords makes and recognises hashes.
type Passwords interface {
	HashPassword(ctx context.Context, password string) (string, error)
	HasPassword(ctx context.Context, stored, password string) (bool, error)
}

// Options of [New]. Zero values take the defaults.
type Options struct {
	Parallel int       // batches under way at once, 4
	Now      time.Time // when the youngest posts are made, by default when seeding begins

	// Progress is called when a part of the work begins, with how much there is to do. The
	// first function returned is called with each bit done, the other one at the end.
	Progress func(name string, total int) (add func(int), end func())
}

// Seeder carries a population into a database. What it makes is made once, however often it
// runs, breaks off, or is killed.
type Seeder struct {
	population Population
	store      Store
	passwords  Passwords
	options    Options

	ids  []retwis.UserID // of the members; 0 where somebody else has the name
	hash string          // that new accounts get

	mu   sync.Mutex      // held while a hash is looked into: mostly all accounts have the same one
	ours map[string]bool // whether a hash is that of the password

	counts struct{ made, reused, namesTaken, follows, posts atomic.Int64 }
}

// New returns a seeder that has done nothing yet.
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

// Run makes what is lacking of the population. It takes a worker beside it, and returns when
// everything is delivered. When ctx ends it finishes the batches under way.
func (s *Seeder) Run(ctx context.Context) error {
	if len(s.ids) == 0 {
		return nil
	}
	// Posts come before follows, and homes last: so each home is gathered once, with all that
	// belongs there, instead of being pushed to by every post and filled by every follow.
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

// Result is what a run has made.
type Result struct {
	Accounts   int // new ones
	Reused     int // that an earlier run made
	NamesTaken int // names left out, since somebody else has them
	Follows    int
	Posts      int
}

// Result returns what has been made so far.
func (s *Seeder) Result() Result {
	return Result{
		Accounts:   int(s.counts.made.Load()),
		Reused:     int(s.counts.reused.Load()),
		NamesTaken: int(s.counts.namesTaken.Load()),
		Follows:    int(s.counts.follows.Load()),
		Posts:      int(s.counts.posts.Load()),
	}
}

// MostPopular returns the names of up to n members that there are, the best known first.
func (s *Seeder) MostPopular(n int) []string {
	var names []string
	for i := 0; i < len(s.ids) && len(names) < n; i++ {
		if s.ids[i] != 0 {
			names = append(names, s.population.Member(i).Username)
		}
	}
	return names
}

// batches cuts the numbers below total into batches and carries them out, several at once.
// What has begun is carried out also when ctx ends: a batch cut in the middle leaves work
// for others.
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

// homes builds the homes that are not built.
func (s *Seeder) homes(ctx context.Context) error {
	const batch = 100
	add, end := s.options.Progress("homes", len(s.ids))
	defer end()
	return s.batches(ctx, len(s.ids), batch, func(ctx context.Context, from, to int) error {
		unbuilt, err := s.store.Unbuilt(ctx, s.existing(from, to))
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

// existing are the ids of the members that existing are among some.
func (s *Seeder) existing(from, to int) []retwis.UserID {
	var ids []retwis.UserID
	for _, id := range s.ids[from:to] {
		if id != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// drain waits until everything is delivered.
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
