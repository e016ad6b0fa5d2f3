package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
)

// Register makes an account. Of several that register a name at once, in whatever case,
// one succeeds and the others get [retwis.ErrNameTaken]. A registration that breaks off
// half-way is finished, or removed where the name went to somebody else, by the worker.
func (s *Store) Register(ctx context.Context, r retwis.Registration) (*retwis.User, error) {
	folded := retwis.FoldUsername(r.Username)
	bucket := rand.IntN(retwis.Buckets)
	p := s.ofBucket(bucket)
	reply, err := s.doDurably(ctx, s.createUserCall(p, bucket, r, folded))
	if reply == nil {
		return nil, fmt.Errorf("register: create the account: %w", err)
	}
	id, parseErr := userID(reply.Text())
	if err != nil || parseErr != nil {
		if parseErr == nil { // it was written, but not to a replica
			s.dropPending(ctx, id)
		}
		return nil, fmt.Errorf("register: create the account: %w", errors.Join(err, parseErr))
	}

	holder, err := s.claimName(ctx, folded, id)
	if err != nil {
		return nil, fmt.Errorf("register: claim the name: %w", err)
	}
	if holder != id {
		s.dropPending(ctx, id)
		return nil, retwis.ErrNameTaken
	}
	if err := s.activate(ctx, id); err != nil {
		return nil, fmt.Errorf("register: %w", err)
	}
	users, err := s.Users(ctx, []retwis.UserID{id})
	if err != nil {
		return nil, fmt.Errorf("register: %w", err)
	}
	if users[0] == nil {
		return nil, fmt.Errorf("register: account %s vanished", id)
	}
	return users[0], nil
}

func (s *Store) createUserCall(p partition, bucket int, r retwis.Registration, folded string) call {
	created := ""
	if !r.CreatedAt.IsZero() {
		created = strconv.FormatInt(r.CreatedAt.UnixMilli(), 10)
	}
	return call{
		s.scripts.createUser,
		[]string{p.nextUser(), p.outbox()},
		[]any{bucket, p.users(), r.Username, folded, r.DisplayName, r.PasswordHash, r.Bio, created},
	}
}

func (s *Store) claimName(ctx context.Context, folded string, id retwis.UserID) (retwis.UserID, error) {
	reply, err := s.doDurably(ctx, s.claimNameCall(folded, id))
	if err != nil {
		return 0, err
	}
	return userID(reply.Text())
}

func (s *Store) claimNameCall(folded string, id retwis.UserID) call {
	p := s.ofName(folded)
	return call{s.scripts.claimName, []string{p.name(folded), p.names()}, []any{id.String(), folded}}
}

// activate ends a registration whose name is claimed. It may be repeated.
func (s *Store) activate(ctx context.Context, id retwis.UserID) error {
	there, err := s.do(ctx, s.activateCall(id)).Bool()
	if err != nil {
		return fmt.Errorf("activate account %s: %w", id, err)
	}
	if !there {
		return fmt.Errorf("activate account %s: it is gone", id)
	}
	return nil
}

func (s *Store) activateCall(id retwis.UserID) call {
	p := s.of(id)
	return call{
		s.scripts.activateUser,
		[]string{p.user(id), p.home(id), p.newestUsers()},
		[]any{id.String(), s.options.NewestUsers},
	}
}

// dropPending removes an account that lost its name to another. Where that fails the
// worker does it later.
func (s *Store) dropPending(ctx context.Context, id retwis.UserID) {
	if err := s.do(ctx, call{s.scripts.dropPending, []string{s.of(id).user(id)}, nil}).Err(); err != nil {
		s.log.WarnContext(ctx, "removing an unfinished account failed: the worker will do it", "user", id, "err", err)
	}
}

// SettleRegistration finishes a registration that broke off, or removes it when the name
// went to somebody else. It reports false while the registration may still be under way.
func (s *Store) SettleRegistration(ctx context.Context, id retwis.UserID, folded string) (bool, error) {
	state, err := s.client.HMGet(ctx, s.of(id).user(id), "state", "created").Result()
	if err != nil {
		return false, fmt.Errorf("settle the registration of %s: %w", id, err)
	}
	if state[0] != "pending" {
		return true, nil
	}
	created, _ := state[1].(string)
	millis, err := strconv.ParseInt(created, 10, 64)
	if err != nil {
		return false, fmt.Errorf("settle the registration of %s: created %q: %w", id, created, err)
	}
	if time.Since(time.UnixMilli(millis)) < s.options.PendingGrace {
		return false, nil
	}
	holder, err := s.claimName(ctx, folded, id)
	if err != nil {
		return false, fmt.Errorf("settle the registration of %s: %w", id, err)
	}
	if holder == id {
		return true, s.activate(ctx, id)
	}
	if err := s.do(ctx, call{s.scripts.dropPending, []string{s.of(id).user(id)}, nil}).Err(); err != nil {
		return false, fmt.Errorf("settle the registration of %s: %w", id, err)
	}
	return true, nil
}

// UserByName finds a user by name without regard to case, or gives [retwis.ErrNotFound].
// Who is leaving is not found by name any more.
func (s *Store) UserByName(ctx context.Context, username string) (*retwis.User, error) {
	id, err := s.idByName(ctx, username)
	if err != nil {
		return nil, err
	}
	users, err := s.Users(ctx, []retwis.UserID{id})
	if err != nil {
		return nil, err
	}
	if users[0] == nil || users[0].BeingDeleted {
		return nil, retwis.ErrNotFound
	}
	return users[0], nil
}

func (s *Store) idByName(ctx context.Context, username string) (retwis.UserID, error) {
	folded := retwis.FoldUsername(username)
	id, err := s.client.Get(ctx, s.ofName(folded).name(folded)).Result()
	if errors.Is(err, redis.Nil) {
		return 0, retwis.ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("find the user of a name: %w", err)
	}
	return retwis.ParseUserID(id)
}

// Users returns users by id, in the order asked for, nil where there is none. Who is
// leaving is among them until nobody can be reading a post of theirs any more.
func (s *Store) Users(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	pipe := s.client.Pipeline()
	rows := make([]*redis.SliceCmd, len(ids))
	for i, id := range ids {
		rows[i] = pipe.HMGet(ctx, s.of(id).user(id),
			"state", "name", "display", "bio", "created", "posts", "followers", "following")
	}
	_, _ = pipe.Exec(ctx) // every row holds its own error
	users := make([]*retwis.User, len(ids))
	for i, row := range rows {
		fields, err := row.Result()
		if err != nil {
			return nil, fmt.Errorf("read users: %w", err)
		}
		state := text(fields[0])
		if state == "" || state == "pending" {
			continue
		}
		users[i] = &retwis.User{
			ID:             ids[i],
			Username:       text(fields[1]),
			DisplayName:    text(fields[2]),
			Bio:            text(fields[3]),
			CreatedAt:      time.UnixMilli(number(fields[4])).UTC(),
			PostCount:      int(number(fields[5])),
			FollowerCount:  int(number(fields[6])),
			FollowingCount: int(number(fields[7])),
			BeingDeleted:   state != "active",
		}
	}
	return users, nil
}

// UpdateProfile changes a profile and returns the user as it is then.
func (s *Store) UpdateProfile(ctx context.Context, id retwis.UserID, change retwis.ProfileChange) (*retwis.User, error) {
	fields := []any{id.String()}
	if change.DisplayName != nil {
		fields = append(fields, "display", *change.DisplayName)
	}
	if change.Bio != nil {
		fields = append(fields, "bio", *change.Bio)
	}
	there, err := s.do(ctx, call{s.scripts.updateProfile, []string{s.of(id).user(id)}, fields}).Bool()
	if err != nil {
		return nil, fmt.Errorf("update the profile of %s: %w", id, err)
	}
	if !there {
		return nil, retwis.ErrNotFound
	}
	s.authors.forget(id) // others hear of it
	users, err := s.Users(ctx, []retwis.UserID{id})
	if err != nil {
		return nil, err
	}
	if users[0] == nil {
		return nil, retwis.ErrNotFound
	}
	return users[0], nil
}

// Credentials returns what a login under a name is checked against, or
// [retwis.ErrNotFound].
func (s *Store) Credentials(ctx context.Context, username string) (retwis.Credentials, error) {
	id, err := s.idByName(ctx, username)
	if err != nil {
		return retwis.Credentials{}, err
	}
	return s.CredentialsOf(ctx, id)
}

// CredentialsOf returns what a user's password is checked against, or
// [retwis.ErrNotFound].
func (s *Store) CredentialsOf(ctx context.Context, id retwis.UserID) (retwis.Credentials, error) {
	fields, err := s.client.HMGet(ctx, s.of(id).user(id), "state", "password").Result()
	if err != nil {
		return retwis.Credentials{}, fmt.Errorf("read the credentials of %s: %w", id, err)
	}
	if fields[0] != "active" {
		return retwis.Credentials{}, retwis.ErrNotFound
	}
	return retwis.Credentials{User: id, PasswordHash: text(fields[1])}, nil
}

// SetPasswordHash replaces a hash by another one of the same password: sessions stay. When
// the stored hash is no longer the old one, nothing changes and the error is
// [retwis.ErrWrongCredentials].
func (s *Store) SetPasswordHash(ctx context.Context, id retwis.UserID, oldHash, newHash string) error {
	stored, err := s.do(ctx, call{s.scripts.rehashPassword, []string{s.of(id).user(id)}, []any{oldHash, newHash}}).Bool()
	if err != nil {
		return fmt.Errorf("store a password hash of %s: %w", id, err)
	}
	if !stored {
		return retwis.ErrWrongCredentials
	}
	return nil
}

// replacedFor is how long a session that was replaced is told from one that never was:
// longer than any request can be under way.
const replacedFor = 10 * time.Minute

// ChangePassword replaces the hash that was checked by another, and ends every session of
// the user; that one which asks is known as replaced for a while. When the stored hash is no longer the checked one, nothing changes and the
// error is [retwis.ErrWrongCredentials].
func (s *Store) ChangePassword(ctx context.Context, id retwis.UserID, asking retwis.SessionKey, oldHash, newHash string) error {
	p := s.of(id)
	changed, err := s.do(ctx, call{
		s.scripts.changePassword,
		[]string{p.user(id), p.sessions(id)},
		[]any{
			id.String(), id.Bucket(), p.sessionPrefix(), oldHash, newHash,
			asking.Hash, int(replacedFor.Seconds()),
		},
	}).Bool()
	if err != nil {
		return fmt.Errorf("change the password of %s: %w", id, err)
	}
	if !changed {
		return retwis.ErrWrongCredentials
	}
	return nil
}

func userID(s string, err error) (retwis.UserID, error) {
	if err != nil {
		return 0, err
	}
	return retwis.ParseUserID(s)
}

// text and number read a field that HMGET returned; a missing one is empty.
func text(field any) string {
	s, _ := field.(string)
	return s
}

func number(field any) int64 {
	n, _ := strconv.ParseInt(text(field), 10, 64)
	return n
}
