package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Accounts manages users: their names, profiles and passwords.
type Accounts struct {
	core
	authors authorCache
}

// Register creates an account. If several clients register a name concurrently, in upper or lower case, one succeeds
// and the others get [retwis.ErrNameTaken]. The worker finishes an interrupted registration, or deletes its account if
// another user got the name.
func (s *Accounts) Register(ctx context.Context, r retwis.Registration) (*retwis.User, error) {
	folded := retwis.FoldUsername(r.Username)
	bucket := rand.IntN(retwis.Buckets)
	p := s.db.OfBucket(bucket)
	reply, err := s.db.DoDurably(ctx, s.CreateUserCall(p, bucket, r, folded))
	if reply == nil {
		return nil, fmt.Errorf("register: create the account: %w", err)
	}
	id, parseErr := rdb.UserID(reply.Text())
	if err != nil || parseErr != nil {
		if parseErr == nil { // the account exists, but no replica has it
			s.DropPending(ctx, id)
		}
		return nil, fmt.Errorf("register: create the account: %w", errors.Join(err, parseErr))
	}

	holder, err := s.ClaimName(ctx, folded, id)
	if err != nil {
		return nil, fmt.Errorf("register: claim the name: %w", err)
	}
	if holder != id {
		s.DropPending(ctx, id)
		return nil, retwis.ErrNameTaken
	}
	if err := activated(id, s.db.Do(ctx, s.ActivateCall(id))); err != nil {
		return nil, fmt.Errorf("register: %w", err)
	}
	users, err := s.Users(ctx, []retwis.UserID{id})
	if err != nil {
		return nil, fmt.Errorf("register: %w", err)
	}
	if users[0] == nil {
		return nil, fmt.Errorf("register: account %s no longer exists", id)
	}
	return users[0], nil
}

// CreateUserCall returns the call that creates a pending account in a partition.
func (s *Accounts) CreateUserCall(p rdb.Partition, bucket int, r retwis.Registration, folded string) rdb.Call {
	created := ""
	if !r.CreatedAt.IsZero() {
		created = strconv.FormatInt(r.CreatedAt.UnixMilli(), 10)
	}
	return rdb.Call{
		Script: script.CreateUser,
		Keys:   []string{p.NextUser(), p.Outbox()},
		Args:   []any{bucket, p.Prefix(rdb.AccountKeys), r.Username, folded, r.DisplayName, r.PasswordHash, r.Bio, created, searchWords(r.DisplayName)},
	}
}

// ClaimName claims a folded username for an account and returns the account that holds it. A repeat has no effect.
func (s *Accounts) ClaimName(ctx context.Context, folded string, id retwis.UserID) (retwis.UserID, error) {
	reply, err := s.db.DoDurably(ctx, s.ClaimNameCall(folded, id))
	if err != nil {
		return 0, err
	}
	return rdb.UserID(reply.Text())
}

// ClaimNameCall returns the call of [Accounts.ClaimName].
func (s *Accounts) ClaimNameCall(folded string, id retwis.UserID) rdb.Call {
	p := s.db.OfName(folded)
	return rdb.Call{Script: script.ClaimName, Keys: []string{p.Name(folded), p.Names()}, Args: []any{id.String(), folded}}
}

// ActivateCall returns the call that activates an account whose name is claimed. A repeat has no effect.
func (s *Accounts) ActivateCall(id retwis.UserID) rdb.Call {
	p := s.db.OfUser(id)
	return rdb.Call{
		Script: script.ActivateUser,
		Keys:   []string{p.User(id).Account(), p.User(id).Home(), p.NewestUsers(), p.SearchWords()},
		Args:   []any{id.String(), s.options.NewestUsers},
	}
}

// activated returns why an account was not activated, given the reply.
func activated(id retwis.UserID, reply *redis.Cmd) error {
	exists, err := reply.Bool()
	if err != nil {
		return fmt.Errorf("activate account %s: %w", id, err)
	}
	if !exists {
		return fmt.Errorf("activate account %s: it no longer exists", id)
	}
	return nil
}

// DropPending deletes a pending account whose name belongs to another account. If the call fails, the worker
// deletes it later.
func (s *Accounts) DropPending(ctx context.Context, id retwis.UserID) {
	if err := s.db.Do(ctx, rdb.Call{Script: script.DeletePendingUser, Keys: []string{s.db.OfUser(id).User(id).Account()}}).Err(); err != nil {
		s.log.WarnContext(ctx, "deleting a pending account failed, the worker will retry", "user", id, "err", err)
	}
}

// UserByName returns a user by name, in any case, or [retwis.ErrNotFound]. It does not find users whose account is
// being deleted.
func (s *Accounts) UserByName(ctx context.Context, username string) (*retwis.User, error) {
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

// UsersByName returns users by folded name, in the order of the names, nil for names
// without a user.
func (s *Accounts) UsersByName(ctx context.Context, names []string) ([]*retwis.User, error) {
	ids, err := s.idsByName(ctx, names)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(slices.Clone(ids), func(id retwis.UserID) bool { return id == 0 })
	users, err := s.Users(ctx, found)
	if err != nil {
		return nil, err
	}
	inOrder := make([]*retwis.User, len(names))
	for i, id := range ids {
		if id == 0 {
			continue
		}
		if user := users[0]; user != nil && !user.BeingDeleted {
			inOrder[i] = user
		}
		users = users[1:]
	}
	return inOrder, nil
}

// idsByName returns the users who hold folded names, 0 for names that nobody holds.
func (s *Accounts) idsByName(ctx context.Context, names []string) ([]retwis.UserID, error) {
	pipe := s.db.Client.Pipeline()
	claims := make([]*redis.StringCmd, len(names))
	for i, name := range names {
		claims[i] = pipe.Get(ctx, s.db.OfName(name).Name(name))
	}
	_, _ = pipe.Exec(ctx) // every claim holds its own error
	ids := make([]retwis.UserID, len(names))
	for i, claim := range claims {
		id, err := rdb.UserID(claim.Result())
		if err != nil && !errors.Is(err, redis.Nil) {
			return nil, fmt.Errorf("look up usernames: %w", err)
		}
		ids[i] = id
	}
	return ids, nil
}

func (s *Accounts) idByName(ctx context.Context, username string) (retwis.UserID, error) {
	folded := retwis.FoldUsername(username)
	id, err := s.db.Client.Get(ctx, s.db.OfName(folded).Name(folded)).Result()
	if errors.Is(err, redis.Nil) {
		return 0, retwis.ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("find a user by name: %w", err)
	}
	return retwis.ParseUserID(id)
}

// Users returns users in the order of their ids, nil if there is none. It also returns users whose account is being
// deleted, until the account expires.
func (s *Accounts) Users(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	pipe := s.db.Client.Pipeline()
	rows := make([]*redis.SliceCmd, len(ids))
	for i, id := range ids {
		rows[i] = pipe.HMGet(ctx, s.db.OfUser(id).User(id).Account(),
			"state", "name", "display", "bio", "created", "posts", "followers", "following")
	}
	_, _ = pipe.Exec(ctx) // every row holds its own error
	users := make([]*retwis.User, len(ids))
	for i, row := range rows {
		fields, err := row.Result()
		if err != nil {
			return nil, fmt.Errorf("read users: %w", err)
		}
		state := rdb.Text(fields[0])
		if state == "" || state == "pending" {
			continue
		}
		users[i] = &retwis.User{
			ID:             ids[i],
			Username:       rdb.Text(fields[1]),
			DisplayName:    rdb.Text(fields[2]),
			Bio:            rdb.Text(fields[3]),
			CreatedAt:      time.UnixMilli(rdb.Number(fields[4])).UTC(),
			PostCount:      int(rdb.Number(fields[5])),
			FollowerCount:  int(rdb.Number(fields[6])),
			FollowingCount: int(rdb.Number(fields[7])),
			BeingDeleted:   state != "active",
		}
	}
	return users, nil
}

// UpdateProfile changes a profile and returns the updated user.
func (s *Accounts) UpdateProfile(ctx context.Context, id retwis.UserID, change retwis.ProfileChange) (*retwis.User, error) {
	fields := []any{id.String()}
	if change.DisplayName != nil {
		fields = append(fields, "display", *change.DisplayName, "words", searchWords(*change.DisplayName))
	}
	if change.Bio != nil {
		fields = append(fields, "bio", *change.Bio)
	}
	p := s.db.OfUser(id)
	exists, err := s.durably(ctx, rdb.Call{Script: script.UpdateProfile, Keys: []string{p.User(id).Account(), p.SearchWords()}, Args: fields}).Bool()
	if err != nil {
		return nil, fmt.Errorf("update the profile of %s: %w", id, err)
	}
	if !exists {
		return nil, retwis.ErrNotFound
	}
	s.authors.invalidate(id) // other processes receive a message
	users, err := s.Users(ctx, []retwis.UserID{id})
	if err != nil {
		return nil, err
	}
	if users[0] == nil {
		return nil, retwis.ErrNotFound
	}
	return users[0], nil
}

// Credentials returns the credentials of the user with a name, or [retwis.ErrNotFound].
func (s *Accounts) Credentials(ctx context.Context, username string) (retwis.Credentials, error) {
	id, err := s.idByName(ctx, username)
	if err != nil {
		return retwis.Credentials{}, err
	}
	return s.CredentialsOf(ctx, id)
}

// CredentialsOf returns the credentials of a user, or [retwis.ErrNotFound].
func (s *Accounts) CredentialsOf(ctx context.Context, id retwis.UserID) (retwis.Credentials, error) {
	fields, err := s.db.Client.HMGet(ctx, s.db.OfUser(id).User(id).Account(), "state", "password").Result()
	if err != nil {
		return retwis.Credentials{}, fmt.Errorf("read the credentials of %s: %w", id, err)
	}
	if fields[0] != "active" {
		return retwis.Credentials{}, retwis.ErrNotFound
	}
	return retwis.Credentials{User: id, PasswordHash: rdb.Text(fields[1])}, nil
}

// SetPasswordHash replaces a hash by another one of the same password. Sessions stay valid. If the stored hash is no
// longer the old one, it returns [retwis.ErrWrongCredentials] and changes nothing.
func (s *Accounts) SetPasswordHash(ctx context.Context, id retwis.UserID, oldHash, newHash string) error {
	stored, err := s.db.Do(ctx, rdb.Call{Script: script.RehashPassword, Keys: []string{s.db.OfUser(id).User(id).Account()}, Args: []any{oldHash, newHash}}).Bool()
	if err != nil {
		return fmt.Errorf("store a password hash of %s: %w", id, err)
	}
	if !stored {
		return retwis.ErrWrongCredentials
	}
	return nil
}

// replacedSessionTTL is the lifetime of the mark of a replaced session. It is longer than any request takes.
const replacedSessionTTL = 10 * time.Minute

// ChangePassword replaces the verified hash and ends every session of the user. It marks the calling session as
// replaced for a while. If the stored hash is no longer the verified one, it returns [retwis.ErrWrongCredentials]
// and changes nothing.
func (s *Accounts) ChangePassword(ctx context.Context, id retwis.UserID, calling retwis.SessionKey, oldHash, newHash string) error {
	p := s.db.OfUser(id)
	changed, err := s.durably(ctx, rdb.Call{
		Script: script.ChangePassword,
		Keys:   []string{p.User(id).Account(), p.User(id).Sessions()},
		Args: []any{
			id.String(), id.Bucket(), p.Prefix(rdb.SessionKeys), oldHash, newHash,
			calling.Hash, int(replacedSessionTTL.Seconds()),
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
