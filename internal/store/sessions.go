package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"retwis/internal/retwis"
)

// CreateSession opens a session of a user. Where the user has too many, the one unused
// for longest ends. Without such an account the error is [retwis.ErrNotFound].
func (s *Store) CreateSession(ctx context.Context, id retwis.UserID, key retwis.SessionKey) error {
	p := s.of(id)
	there, err := s.do(ctx, call{
		s.scripts.createSession,
		[]string{p.user(id), p.session(key.Hash), p.sessions(id)},
		[]any{id.String(), key.Hash, int(s.options.SessionTTL.Seconds()), s.options.SessionsPerUser, p.sessionPrefix()},
	}).Bool()
	if err != nil {
		return fmt.Errorf("create a session of %s: %w", id, err)
	}
	if !there {
		return retwis.ErrNotFound
	}
	return nil
}

// Session returns whose session it is, or [retwis.ErrUnauthenticated] where there is none.
// A session in use is renewed now and then.
func (s *Store) Session(ctx context.Context, key retwis.SessionKey) (retwis.UserID, error) {
	p := s.ofBucket(key.Bucket)
	user, err := s.do(ctx, call{
		s.scripts.findSession,
		[]string{p.session(key.Hash)},
		[]any{p.users(), p.sessionsPrefix(), key.Hash, int(s.options.SessionTTL.Seconds()), int(s.options.SessionRenewal.Seconds())},
	}).Text()
	if err != nil {
		return 0, fmt.Errorf("find a session: %w", err)
	}
	if user == "" {
		return 0, retwis.ErrUnauthenticated
	}
	return retwis.ParseUserID(user)
}

// EndSession closes a session and announces it. One that is gone stays gone.
func (s *Store) EndSession(ctx context.Context, key retwis.SessionKey) error {
	p := s.ofBucket(key.Bucket)
	err := s.do(ctx, call{
		s.scripts.endSession,
		[]string{p.session(key.Hash)},
		[]any{p.sessionsPrefix(), key.Bucket, key.Hash},
	}).Err()
	if err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	return nil
}

// EndSessions closes every session of a user and announces it.
func (s *Store) EndSessions(ctx context.Context, id retwis.UserID) error {
	p := s.of(id)
	err := s.do(ctx, call{
		s.scripts.endSessions,
		[]string{p.user(id), p.sessions(id)},
		[]any{id.String(), id.Bucket(), p.sessionPrefix()},
	}).Err()
	if err != nil {
		return fmt.Errorf("end the sessions of %s: %w", id, err)
	}
	return nil
}

// WatchSessions calls handle for every session that ends, on any node, until ctx is done.
// After each subscription, the first too, it calls handle with the zero value: sessions
// may have ended unheard before.
func (s *Store) WatchSessions(ctx context.Context, handle func(retwis.SessionEnd)) error {
	return s.listen(ctx, false, sessionsChannel, func(payload string, joined bool) {
		if joined {
			handle(retwis.SessionEnd{})
			return
		}
		end, err := parseSessionEnd(payload)
		if err != nil {
			s.log.WarnContext(ctx, "a message about sessions makes no sense", "err", err)
			return
		}
		handle(end)
	})
}

// parseSessionEnd reads "user bucket" or "user bucket hash".
func parseSessionEnd(payload string) (retwis.SessionEnd, error) {
	fields := strings.Fields(payload)
	if len(fields) != 2 && len(fields) != 3 {
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
	}
	return end, nil
}
