package bulk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
)

// RegisterAll creates accounts like [store.Accounts.Register]. It returns their ids in the order of the registrations, 0
// if another user holds the name. Pass at most a few hundred registrations per call.
func (s *Importer) RegisterAll(ctx context.Context, all []retwis.Registration) (ids []retwis.UserID, err error) {
	err = s.db.Durably(ctx, func() error {
		ids, err = s.registerAll(ctx, all)
		return err
	})
	return ids, err
}

func (s *Importer) registerAll(ctx context.Context, all []retwis.Registration) ([]retwis.UserID, error) {
	folded := make([]string, len(all))
	calls := make([]rdb.Call, len(all))
	for i, r := range all {
		folded[i] = retwis.FoldUsername(r.Username)
		bucket := rand.IntN(retwis.Buckets)
		p := s.db.OfBucket(bucket)
		calls[i] = s.accounts.CreateUserCall(p, bucket, r, folded[i])
	}
	ids := make([]retwis.UserID, len(all))
	for i, reply := range s.doAll(ctx, calls) {
		var err error
		if ids[i], err = rdb.UserID(reply.Text()); err != nil {
			return nil, fmt.Errorf("register accounts: create an account: %w", err)
		}
	}

	for i, id := range ids {
		calls[i] = s.accounts.ClaimNameCall(folded[i], id)
	}
	var named []retwis.UserID
	for i, reply := range s.doAll(ctx, calls) {
		holder, err := rdb.UserID(reply.Text())
		if err != nil {
			return nil, fmt.Errorf("register accounts: claim a name: %w", err)
		}
		if holder != ids[i] {
			s.accounts.DropPending(ctx, ids[i])
			ids[i] = 0
			continue
		}
		named = append(named, holder)
	}
	if err := s.activateAll(ctx, named); err != nil {
		return nil, fmt.Errorf("register accounts: %w", err)
	}
	return ids, nil
}

// Activate activates accounts whose names are claimed. A repeat has no effect.
func (s *Importer) Activate(ctx context.Context, ids []retwis.UserID) error {
	return s.db.Durably(ctx, func() error { return s.activateAll(ctx, ids) })
}

func (s *Importer) activateAll(ctx context.Context, ids []retwis.UserID) error {
	calls := make([]rdb.Call, len(ids))
	for i, id := range ids {
		calls[i] = s.accounts.ActivateCall(id)
	}
	for i, reply := range s.doAll(ctx, calls) {
		exists, err := reply.Bool()
		if err == nil && !exists {
			err = errors.New("the account no longer exists")
		}
		if err != nil {
			return fmt.Errorf("activate account %s: %w", ids[i], err)
		}
	}
	return nil
}

// Claims returns the accounts that hold names, in the order of the names. The user of a free name is 0.
func (s *Importer) Claims(ctx context.Context, usernames []string) ([]retwis.Claim, error) {
	pipe := s.db.Client.Pipeline()
	holders := make([]*redis.StringCmd, len(usernames))
	for i, username := range usernames {
		folded := retwis.FoldUsername(username)
		holders[i] = pipe.Get(ctx, s.db.OfName(folded).Name(folded))
	}
	_, _ = pipe.Exec(ctx) // every holder holds its own error
	claims := make([]retwis.Claim, len(usernames))
	var taken []int
	for i, holder := range holders {
		id, err := rdb.UserID(holder.Result())
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look up names: %w", err)
		}
		claims[i].User = id
		taken = append(taken, i)
	}
	if len(taken) == 0 {
		return claims, nil
	}
	pipe = s.db.Client.Pipeline()
	accounts := make([]*redis.SliceCmd, len(taken))
	for n, i := range taken {
		id := claims[i].User
		accounts[n] = pipe.HMGet(ctx, s.db.OfUser(id).User(id).Account(), "state", "password")
	}
	_, _ = pipe.Exec(ctx) // every account holds its own error
	for n, i := range taken {
		fields, err := accounts[n].Result()
		if err != nil {
			return nil, fmt.Errorf("look up the accounts of names: %w", err)
		}
		claims[i].Pending, claims[i].PasswordHash = fields[0] == "pending", rdb.Text(fields[1])
	}
	return claims, nil
}
