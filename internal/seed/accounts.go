package seed

import (
	"context"
	"errors"
	"fmt"

	"retwis/internal/retwis"
)

// accounts registers the members, or finds the accounts that an earlier run registered.
func (s *Seeder) accounts(ctx context.Context) error {
	const batch = 200
	// All accounts share one hash: hashing the password per account would dominate the run.
	var err error
	if s.hash, err = s.passwords.HashPassword(ctx, Password); err != nil {
		return err
	}
	s.ours[s.hash] = true
	add, end := s.options.Progress("accounts", len(s.ids))
	defer end()
	err = s.batches(ctx, len(s.ids), batch, func(ctx context.Context, from, to int) error {
		err := s.register(ctx, from, to)
		if err == nil {
			add(to - from)
		}
		return err
	})
	if err == nil && len(s.existing(0, len(s.ids))) == 0 {
		return errors.New("all usernames are taken by other accounts: choose another --seed")
	}
	return err
}

// register finds or registers the accounts of the members from..to-1.
func (s *Seeder) register(ctx context.Context, from, to int) error {
	members := make([]int, to-from)
	for i := range members {
		members[i] = from + i
	}
	free, err := s.find(ctx, members)
	if err != nil || len(free) == 0 {
		return err
	}
	registrations := make([]retwis.Registration, len(free))
	for n, i := range free {
		m := s.population.Member(i)
		bio, err := retwis.NormalizeBio(m.Bio)
		if err != nil {
			return fmt.Errorf("normalise the bio of %s: %w", m.Username, err)
		}
		registrations[n] = retwis.Registration{
			Username: m.Username, DisplayName: m.DisplayName, Bio: bio, PasswordHash: s.hash,
			CreatedAt: s.options.Now.Add(-Span - s.population.Joined(i)),
		}
	}
	ids, err := s.store.RegisterAll(ctx, registrations)
	if err != nil {
		return err
	}
	var claimed []int
	for n, id := range ids {
		if id == 0 {
			claimed = append(claimed, free[n])
			continue
		}
		s.ids[free[n]] = id
		s.counts.registered.Add(1)
	}
	// Names that were claimed since find may be those of a run that was killed: Redis may still carry out its last commands.
	free, err = s.find(ctx, claimed)
	s.counts.namesTaken.Add(int64(len(free)))
	return err
}

// find finds the accounts of members that an earlier run registered, and completes unfinished registrations. It returns the members whose
// names are free.
func (s *Seeder) find(ctx context.Context, members []int) (free []int, err error) {
	if len(members) == 0 {
		return nil, nil
	}
	names := make([]string, len(members))
	for n, i := range members {
		names[n] = s.population.Member(i).Username
	}
	claims, err := s.store.Claims(ctx, names)
	if err != nil {
		return nil, err
	}
	var pending []retwis.UserID
	for n, claim := range claims {
		i := members[n]
		if claim.User == 0 {
			free = append(free, i)
			continue
		}
		if err := s.matchAccount(ctx, i, claim); err != nil {
			return nil, err
		}
		if claim.Pending && s.ids[i] != 0 {
			pending = append(pending, claim.User)
		}
	}
	return free, s.store.Activate(ctx, pending)
}

// matchAccount records the account of the i-th member if a run of the seeder registered it.
// Seeded accounts are recognised by their password.
func (s *Seeder) matchAccount(ctx context.Context, i int, claim retwis.Claim) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ours, known := s.ours[claim.PasswordHash]
	if !known && claim.PasswordHash != "" {
		var err error
		if ours, err = s.passwords.HasPassword(ctx, claim.PasswordHash, Password); err != nil {
			return err
		}
		s.ours[claim.PasswordHash] = ours
	}
	if !ours {
		s.counts.namesTaken.Add(1)
		return nil
	}
	s.ids[i] = claim.User
	s.counts.reused.Add(1)
	return nil
}

// isGone reports whether an operation failed because the account was deleted meanwhile.
func isGone(err error) bool {
	e, ok := errors.AsType[*retwis.Error](err)
	return ok && e.Code == retwis.CodeNotFound
}
