package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Sessions manages the sessions of users.
type Sessions struct{ core }

// CreateSession creates a session of a user. If the user has too many sessions, it ends the least recently used ones.
// It returns [retwis.ErrNotFound] if there is no such account.
func (s *Sessions) CreateSession(ctx context.Context, session retwis.NewSession) error {
	p := s.db.OfUser(session.User)
	exists, err := s.db.Do(ctx, rdb.Call{
		Script: script.CreateSession,
		Keys:   []string{p.User(session.User).Account(), p.Session(session.Key.Hash), p.User(session.User).Sessions()},
		Args: []any{
			session.User.String(), session.Key.Hash, int(s.options.SessionTTL.Seconds()), s.options.SessionsPerUser,
			p.Prefix(rdb.SessionKeys), session.UserAgent,
		},
	}).Bool()
	if err != nil {
		return fmt.Errorf("create a session of %s: %w", session.User, err)
	}
	if !exists {
		return retwis.ErrNotFound
	}
	return nil
}

// Session returns the owner of a session, or [retwis.ErrUnauthenticated] if there is no such session. It renews the TTL
// of a session in use from time to time. If a recent change of password has replaced the session, the error is also
// [retwis.ErrSessionReplaced].
func (s *Sessions) Session(ctx context.Context, key retwis.SessionKey) (retwis.SessionOwner, error) {
	return parseSession(s.db.Do(ctx, s.sessionCall(key)))
}

// SessionAlong returns a context whose first exchange with Redis also reads a session, if that is possible, and a function that
// returns what it found, as [Sessions.Session] does. If there was no such exchange, the function reads the session itself.
func (s *Sessions) SessionAlong(ctx context.Context, key retwis.SessionKey) (context.Context, func(context.Context) (retwis.SessionOwner, error)) {
	ctx, companion := rdb.WithCompanion(ctx, s.sessionCall(key))
	return ctx, func(ctx context.Context) (retwis.SessionOwner, error) {
		if result := companion.Settle(); result != nil && result.Err() == nil {
			return parseSession(result)
		}
		return s.Session(ctx, key)
	}
}

func (s *Sessions) sessionCall(key retwis.SessionKey) rdb.Call {
	p := s.db.OfBucket(key.Bucket)
	return rdb.Call{
		Script: script.FindSession,
		Keys:   []string{p.Session(key.Hash)},
		Args:   []any{p.Prefix(rdb.AccountKeys), p.Prefix(rdb.SessionsKeys), key.Hash, int(s.options.SessionTTL.Seconds()), int(s.options.SessionRenewal.Seconds())},
	}
}

func parseSession(result *redis.Cmd) (retwis.SessionOwner, error) {
	reply, err := result.StringSlice()
	switch {
	case err != nil:
		return retwis.SessionOwner{}, fmt.Errorf("find a session: %w", err)
	case len(reply) == 0:
		return retwis.SessionOwner{}, retwis.ErrUnauthenticated
	case len(reply) == 1:
		return retwis.SessionOwner{}, errors.Join(retwis.ErrUnauthenticated, retwis.ErrSessionReplaced)
	}
	user, err := retwis.ParseUserID(reply[0])
	if err != nil {
		return retwis.SessionOwner{}, fmt.Errorf("find a session: %w", err)
	}
	return retwis.SessionOwner{User: user, Generation: rdb.Number(reply[1]), FilterEpoch: rdb.Number(reply[2])}, nil
}

// Sessions returns the sessions of a user, most recently used first. The caller marks the current one.
func (s *Sessions) Sessions(ctx context.Context, id retwis.UserID) ([]retwis.Session, error) {
	rows, err := s.sessionRows(ctx, id)
	if err != nil {
		return nil, err
	}
	sessions := make([]retwis.Session, len(rows))
	for i, row := range rows {
		sessions[i] = retwis.Session{
			ID:         retwis.SessionIDOf(id, row.key),
			CreatedAt:  time.UnixMilli(rdb.Number(row.created)).UTC(),
			LastSeenAt: time.UnixMilli(rdb.Number(row.seen)).UTC(),
		}
		if row.agent != "" {
			sessions[i].UserAgent = &row.agent
		}
	}
	return sessions, nil
}

type sessionRow struct {
	key                  retwis.SessionKey
	created, seen, agent string
}

func (s *Sessions) sessionRows(ctx context.Context, id retwis.UserID) ([]sessionRow, error) {
	p := s.db.OfUser(id)
	reply, err := s.db.Do(ctx, rdb.Call{
		Script: script.ListSessions,
		Keys:   []string{p.User(id).Account(), p.User(id).Sessions()},
		Args:   []any{p.Prefix(rdb.SessionKeys)},
	}).StringSlice()
	if err != nil {
		return nil, fmt.Errorf("list the sessions of %s: %w", id, err)
	}
	rows := make([]sessionRow, 0, len(reply)/4)
	for row := range slices.Chunk(reply, 4) {
		key := retwis.SessionKey{Bucket: id.Bucket(), Hash: row[0]}
		rows = append(rows, sessionRow{key, row[1], row[2], row[3]})
	}
	return rows, nil
}

// RevokeSession ends the session with an id and announces it. A repeat has no effect.
func (s *Sessions) RevokeSession(ctx context.Context, id retwis.SessionID) error {
	rows, err := s.sessionRows(ctx, id.User)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if retwis.SessionIDOf(id.User, row.key) == id {
			return s.EndSession(ctx, row.key)
		}
	}
	return nil
}

// EndSession ends a session and announces it. A repeat has no effect.
func (s *Sessions) EndSession(ctx context.Context, key retwis.SessionKey) error {
	p := s.db.OfBucket(key.Bucket)
	err := s.durably(ctx, rdb.Call{
		Script: script.EndSession,
		Keys:   []string{p.Session(key.Hash)},
		Args:   []any{p.Prefix(rdb.SessionsKeys), key.Bucket, key.Hash},
	}).Err()
	if err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	return nil
}

// EndSessions ends every session of a user and announces it.
func (s *Sessions) EndSessions(ctx context.Context, id retwis.UserID) error {
	p := s.db.OfUser(id)
	err := s.durably(ctx, rdb.Call{
		Script: script.EndSessions,
		Keys:   []string{p.User(id).Account(), p.User(id).Sessions()},
		Args:   []any{id.String(), id.Bucket(), p.Prefix(rdb.SessionKeys)},
	}).Err()
	if err != nil {
		return fmt.Errorf("end the sessions of %s: %w", id, err)
	}
	return nil
}

// WatchSessions calls handle for every session that ends, in any process, until ctx is done. After each subscription,
// including the first, it calls handle with the zero value, because messages may have been lost before.
func (s *Sessions) WatchSessions(ctx context.Context, handle func(retwis.SessionEnd)) error {
	return s.db.Listen(ctx, false, rdb.SessionsChannel, func(payload string, joined bool) {
		if joined {
			handle(retwis.SessionEnd{})
			return
		}
		end, err := parseSessionEnd(payload)
		if err != nil {
			s.log.WarnContext(ctx, "ignoring a malformed message about sessions", "err", err)
			return
		}
		handle(end)
	})
}

// parseSessionEnd parses "user bucket hash", or "user bucket generation n", where n is the first session generation
// that has not ended.
func parseSessionEnd(payload string) (retwis.SessionEnd, error) {
	fields := strings.Fields(payload)
	if len(fields) != 3 && len(fields) != 4 {
		return retwis.SessionEnd{}, fmt.Errorf("%d fields", len(fields))
	}
	user, err := retwis.ParseUserID(fields[0])
	if err != nil {
		return retwis.SessionEnd{}, err
	}
	bucket, err := strconv.Atoi(fields[1])
	if err != nil {
		return retwis.SessionEnd{}, err
	}
	end := retwis.SessionEnd{User: user, Session: retwis.SessionKey{Bucket: bucket}}
	if len(fields) == 3 {
		end.Session.Hash = fields[2]
		return end, nil
	}
	end.Generation, err = strconv.ParseInt(fields[3], 10, 64)
	return end, err
}
