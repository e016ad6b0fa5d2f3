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
	members := make([]Member, to-from)
	names := make([]string, to-from)
	for i := range members {
		members[i] = s.population.Member(from + i)
		names[i] = members[i].Username
	}
	claims, err := s.store.Claims(ctx, names)
	if err != nil {
		return err
	}
	var free []int
	var pending []retwis.UserID // registrations that an interrupted run left unfinished
	for i, claim := range claims {
		if claim.User == 0 {
			free = append(free, from+i)
			continue
		}
		if err := s.matchAccount(ctx, from+i, claim); err != nil {
			return err
		}
		if claim.Pending && s.ids[from+i] != 0 {
			pending = append(pending, claim.User)
		}
	}
	if err := s.store.Activate(ctx, pending); err != nil {
		return err
	}
	if len(free) == 0 {
		return nil
	}

	registrations := make([]retwis.Registration, len(free))
	for n, i := range free {
		m := members[i-from]
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
	for n, id := range ids {
		s.ids[free[n]] = id
		if id == 0 { // another client claimed the name meanwhile
			s.counts.namesTaken.Add(1)
		} else {
			s.counts.registered.Add(1)
		}
	}
	return nil
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
