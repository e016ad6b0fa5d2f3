package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/auth"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// seedPassword is everybody's.
const seedPassword = "password"

// seeder carries a population into a database.
type seeder struct {
	population population
	db         *store.Store
	accounts   *auth.Accounts
	parallel   int
	progress   *progress

	ids []retwis.UserID // of the members; 0 where somebody else has the name

	mu     sync.Mutex      // held while a hash is looked into: mostly all accounts have the same one
	ours   map[string]bool // hashes of the password
	stored string          // the one that new accounts get

	made, reused, foreign, follows, posts atomic.Int64
}

// run makes everything and waits until it is delivered.
func (s *seeder) run(ctx context.Context) error {
	s.ids = make([]retwis.UserID, s.population.size())
	if len(s.ids) == 0 {
		return nil
	}
	if err := s.firstAccount(ctx); err != nil {
		return fmt.Errorf("seed the first account: %w", err)
	}
	for _, step := range []struct {
		name  string
		count int // of calls
		total int // of what they make
		do    func(context.Context, int) (int, error)
	}{
		{"accounts", len(s.ids), len(s.ids), s.account},
		{"follows", len(s.ids), s.population.totalFollows(), s.followAll},
		{"posts", s.population.posts, s.population.posts, s.post},
	} {
		if err := s.each(ctx, step.name, step.count, step.total, step.do); err != nil {
			return fmt.Errorf("seed %s: %w", step.name, err)
		}
	}
	return s.drain(ctx)
}

// each calls do for every number below count, several at once. What has begun is carried
// out when ctx ends: an operation cut in the middle leaves work for others.
func (s *seeder) each(ctx context.Context, name string, count, total int, do func(context.Context, int) (int, error)) error {
	if total == 0 {
		return nil
	}
	p := s.progress.begin(name, total)
	defer p.end()
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(s.parallel)
	for i := range count {
		if running.Err() != nil {
			break
		}
		group.Go(func() error {
			if err := running.Err(); err != nil {
				return err
			}
			n, err := do(running, i)
			p.add(n)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// firstAccount makes one account as a person would, and takes its password hash for all
// others: to hash the password for each would be most of the work.
func (s *seeder) firstAccount(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	s.ours = map[string]bool{}
	for i := range s.ids {
		m := s.population.member(i)
		session, err := s.accounts.Register(ctx, m.username, seedPassword, &m.displayName)
		switch {
		case errors.Is(err, retwis.ErrNameTaken):
			found, err := s.existing(ctx, m)
			if err != nil {
				return err
			}
			if found.User == 0 {
				continue
			}
			s.stored = found.PasswordHash
			return nil // the account itself is found again with the others
		case err != nil:
			return err
		}
		s.ids[i] = session.User.ID
		s.made.Add(1)
		credentials, err := s.db.CredentialsOf(ctx, session.User.ID)
		if err != nil {
			return err
		}
		s.stored = credentials.PasswordHash
		s.ours[s.stored] = true
		return errors.Join(s.introduce(ctx, session.User.ID, m), s.end(ctx, session))
	}
	return errors.New("every name belongs to somebody else: choose another --seed")
}

// account makes the account of a member, or finds it.
func (s *seeder) account(ctx context.Context, i int) (int, error) {
	ctx = context.WithoutCancel(ctx)
	if s.ids[i] != 0 {
		return 1, nil
	}
	m := s.population.member(i)
	user, err := s.db.Register(ctx, retwis.Registration{
		Username: m.username, DisplayName: m.displayName, PasswordHash: s.stored,
	})
	if errors.Is(err, retwis.ErrNameTaken) {
		found, err := s.existing(ctx, m)
		if err != nil {
			return 0, err
		}
		if found.User == 0 {
			s.foreign.Add(1)
			return 1, nil
		}
		s.ids[i] = found.User
		s.reused.Add(1)
		return 1, nil
	}
	if err != nil {
		return 0, err
	}
	s.ids[i] = user.ID
	s.made.Add(1)
	return 1, s.introduce(ctx, user.ID, m)
}

// introduce gives a new account its bio.
func (s *seeder) introduce(ctx context.Context, id retwis.UserID, m member) error {
	bio, err := retwis.NormalizeBio(m.bio)
	if err != nil {
		return err
	}
	_, err = s.db.UpdateProfile(ctx, id, retwis.ProfileChange{Bio: &bio})
	return err
}

// existing returns the account that has a member's name, or none when it is somebody
// else's: those that were seeded have the password.
func (s *seeder) existing(ctx context.Context, m member) (retwis.Credentials, error) {
	credentials, err := s.registered(ctx, m.username)
	if err != nil {
		return retwis.Credentials{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ours[credentials.PasswordHash] {
		return credentials, nil
	}
	session, err := s.accounts.Login(ctx, m.username, seedPassword)
	if errors.Is(err, retwis.ErrWrongCredentials) {
		return retwis.Credentials{}, nil
	}
	if err != nil {
		return retwis.Credentials{}, err
	}
	s.ours[credentials.PasswordHash] = true
	return credentials, s.end(ctx, session)
}

// registered returns the account of a name that is taken. Where its registration broke
// off, it is there as soon as the worker has finished that.
func (s *seeder) registered(ctx context.Context, username string) (retwis.Credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		credentials, err := s.db.Credentials(ctx, username)
		if !errors.Is(err, retwis.ErrNotFound) {
			return credentials, err
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return retwis.Credentials{}, fmt.Errorf("the registration of %s is not finished: %w", username, err)
		}
	}
}

// end closes a session that served to check a password.
func (s *seeder) end(ctx context.Context, session auth.Session) error {
	key, err := auth.ParseToken(session.Token)
	if err != nil {
		return err
	}
	return s.db.EndSession(ctx, key)
}

// followAll makes a member follow everybody it is to follow.
func (s *seeder) followAll(ctx context.Context, i int) (int, error) {
	reader := s.ids[i]
	done := 0
	for _, j := range s.population.following(i) {
		if ctx.Err() != nil {
			return done, ctx.Err()
		}
		done++
		author := s.ids[j]
		if reader == 0 || author == 0 {
			continue
		}
		if err := s.db.Follow(context.WithoutCancel(ctx), reader, author); err != nil {
			return done, err
		}
		s.follows.Add(1)
	}
	return done, nil
}

// post makes one post. A worker that cannot keep up is waited for.
func (s *seeder) post(ctx context.Context, i int) (int, error) {
	j, text := s.population.post(i)
	author := s.ids[j]
	if author == 0 {
		return 1, nil
	}
	text, err := retwis.NormalizePostText(text)
	if err != nil {
		return 0, err
	}
	post := retwis.NewPost{
		Author:         author,
		Text:           text,
		IdempotencyKey: fmt.Sprintf("seed-%d-%d", s.population.seed, i),
	}
	for {
		_, err := s.db.CreatePost(context.WithoutCancel(ctx), post)
		busy, ok := errors.AsType[*retwis.Error](err)
		if !ok || busy.Code != retwis.CodeRateLimited {
			if err == nil {
				s.posts.Add(1)
			}
			return 1, err
		}
		if err := sleep(ctx, time.Second); err != nil {
			return 0, err
		}
	}
}

// drain waits until everything is delivered.
func (s *seeder) drain(ctx context.Context) error {
	total, err := s.db.OutboxLength(ctx)
	if err != nil {
		return err
	}
	if total == 0 {
		return nil
	}
	p := s.progress.begin("deliveries", total)
	defer p.end()
	for left := total; left > 0; {
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
		now, err := s.db.OutboxLength(ctx)
		if err != nil {
			return err
		}
		p.add(left - now)
		left = now
	}
	return nil
}

// result says what was made.
func (s *seeder) result() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d new accounts", s.made.Load())
	if n := s.reused.Load(); n > 0 {
		fmt.Fprintf(&b, ", %d that were there used again", n)
	}
	if n := s.foreign.Load(); n > 0 {
		fmt.Fprintf(&b, ", %d names that somebody else has left out", n)
	}
	fmt.Fprintf(&b, "; %d follows; %d posts; everything is delivered", s.follows.Load(), s.posts.Load())
	return b.String()
}

// someName is the name of one account, or empty where there is none.
func (s *seeder) someName() string {
	for i, id := range s.ids {
		if id != 0 {
			return s.population.member(i).username
		}
	}
	return ""
}

// sleep waits, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
