package auth_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"retwis/internal/auth"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/roundtrip"
	"retwis/internal/store"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// service has accounts on a real Redis, and records the announced ends of sessions.
type service struct {
	*testing.T
	*auth.Accounts
	store *store.Store

	mu   sync.Mutex
	ends []retwis.SessionEnd
}

func newService(t *testing.T, url string) *service {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	accounts, err := auth.NewAccounts(db.Accounts, db.Sessions, auth.Options{Hash: auth.HashParameters{MemoryKiB: 8, Passes: 1, Lanes: 1}})
	if err != nil {
		t.Fatal(err)
	}
	s := &service{T: t, Accounts: accounts, store: db}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = db.Sessions.WatchSessions(ctx, s.note) }()
	t.Cleanup(func() { cancel(); <-done })
	s.eventually("it listens", func() bool { return len(s.announced()) > 0 })
	return s
}

func (s *service) note(end retwis.SessionEnd) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends = append(s.ends, end)
}

// announced returns the announced ends. On a shared cluster, these include those of other tests.
func (s *service) announced() []retwis.SessionEnd {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ends)
}

// awaitEnd waits until the end of the session is announced.
func (s *service) awaitEnd(who auth.Identity) {
	s.Helper()
	s.eventually("the end is announced", func() bool {
		return slices.ContainsFunc(s.announced(), who.EndedBy)
	})
}

func (s *service) eventually(what string, holds func() bool) {
	s.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	s.Fatalf("waited in vain until %s", what)
}

const password = "correct horse"

// login logs a user in with a user agent. It registers a new user.
func (s *service) login(name, agent string) auth.Session {
	s.Helper()
	session, err := s.Register(s.Context(), name, password, nil, agent)
	if errors.Is(err, retwis.ErrNameTaken) {
		session, err = s.Login(s.Context(), name, password, agent)
	}
	if err != nil {
		s.Fatal(err)
	}
	return session
}

func (s *service) identify(session auth.Session) auth.Identity {
	s.Helper()
	who, err := s.Authenticate(s.Context(), session.Token)
	if err != nil {
		s.Fatal(err)
	}
	return who
}

func (s *service) wantEnded(session auth.Session) {
	s.Helper()
	if _, err := s.Authenticate(s.Context(), session.Token); !errors.Is(err, retwis.ErrUnauthenticated) {
		s.Errorf("the session gives %v", err)
	}
}

func (s *service) sessionsOf(who auth.Identity) []retwis.Session {
	s.Helper()
	sessions, err := s.Sessions(s.Context(), who)
	if err != nil {
		s.Fatal(err)
	}
	return sessions
}

func TestSessions_ListAndRevoke(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		s := newService(t, url)
		before := time.Now().Add(-time.Second)
		phone, laptop := s.login("ada_s", "Phone/1.0"), s.login("ada_s", "Laptop\r\n\x1b[31m  2.0 ")
		quiet, other := s.login("ada_s", ""), s.login("bob_s", "Other")
		who := s.identify(laptop)

		sessions := s.sessionsOf(who)
		if len(sessions) != 3 {
			s.Fatalf("there are %d sessions: %+v", len(sessions), sessions)
		}
		agents := map[retwis.SessionID]string{}
		for i, session := range sessions {
			agents[session.ID] = "nothing"
			if session.UserAgent != nil {
				agents[session.ID] = *session.UserAgent
			}
			if session.Current != (session.ID == who.SessionID()) {
				s.Errorf("session %s is current: %t", session.ID, session.Current)
			}
			if strings.Contains(session.ID.String(), who.Session.Hash) || session.CreatedAt.Before(before) ||
				session.LastSeenAt.Before(session.CreatedAt) || session.LastSeenAt.After(time.Now().Add(time.Second)) {
				s.Errorf("session %d is %+v", i, session)
			}
			if i > 0 && session.LastSeenAt.After(sessions[i-1].LastSeenAt) {
				s.Errorf("session %d was used after the one before it", i)
			}
		}
		for session, agent := range map[auth.Session]string{phone: "Phone/1.0", laptop: "Laptop [31m 2.0", quiet: "nothing"} {
			if got := agents[s.identify(session).SessionID()]; got != agent {
				s.Errorf("the client says %q, want %q", got, agent)
			}
		}

		phoneWho := s.identify(phone)
		if err := s.RevokeSession(s.Context(), s.identify(other), phoneWho.SessionID()); !errors.Is(err, retwis.ErrSessionNotFound) {
			s.Errorf("revoking another's session gives %v", err)
		}
		if err := s.RevokeSession(s.Context(), auth.Identity{}, phoneWho.SessionID()); !errors.Is(err, retwis.ErrUnauthenticated) {
			s.Errorf("revoking without a login gives %v", err)
		}
		s.identify(phone)
		for range 2 { // repeating it succeeds
			if err := s.RevokeSession(s.Context(), who, phoneWho.SessionID()); err != nil {
				s.Fatal(err)
			}
		}
		s.wantEnded(phone)
		s.awaitEnd(phoneWho)
		s.identify(laptop)
		if left := s.sessionsOf(who); len(left) != 2 {
			s.Errorf("%d sessions are left: %+v", len(left), left)
		}
	})
}

// The announcement of a password change does not end sessions that begin after it.
func TestChangePassword_EndsOnlyOlderSessions(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		s := newService(t, url)
		asking, elsewhere := s.login("eve_s", ""), s.login("eve_s", "")
		old, oldElsewhere := s.identify(asking), s.identify(elsewhere)
		fresh, err := s.ChangePassword(s.Context(), old, password, "battery staple", "Phone/1.0")
		if err != nil {
			s.Fatal(err)
		}
		who := s.identify(fresh)
		s.awaitEnd(old)
		s.awaitEnd(oldElsewhere)
		s.wantEnded(asking)
		s.wantEnded(elsewhere)
		for _, end := range s.announced() {
			if who.EndedBy(end) {
				s.Errorf("%+v ends the new session", end)
			}
		}
		if left := s.sessionsOf(who); len(left) != 1 || !left[0].Current {
			s.Errorf("the sessions are %+v", left)
		}

		// Only the client that changed the password has a new cookie.
		_, err = s.Authenticate(s.Context(), asking.Token)
		if !errors.Is(err, retwis.ErrSessionReplaced) {
			s.Errorf("the session that asked gives %v", err)
		}
		if _, err := s.Authenticate(s.Context(), elsewhere.Token); errors.Is(err, retwis.ErrSessionReplaced) {
			s.Errorf("another session gives %v", err)
		}

		if err := s.LogoutEverywhere(s.Context(), who); err != nil {
			s.Fatal(err)
		}
		s.awaitEnd(who)
		s.wantEnded(fresh)
		s.wantEnded(asking)
		if left := s.sessionsOf(who); len(left) != 0 {
			s.Errorf("after logging out everywhere there are %+v", left)
		}
	})
}

func TestPresume_HoldsUntilTheSessionChanges(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		for name, change := range map[string]func(*service, auth.Identity) error{
			"logout": func(s *service, who auth.Identity) error { return s.Logout(s.Context(), who) },
			"a filter change": func(s *service, who auth.Identity) error {
				return s.store.Follows.FollowShowing(s.Context(), who.User, s.identify(s.login("presumed_author", "")).User, false)
			},
		} {
			s := newService(t, url)
			session := s.login("presumed_"+name[:1], "")
			if _, _, ok := s.Presume(s.Context(), session.Token); ok {
				s.Error("the identity is known before the session was read")
			}
			who := s.identify(session)
			if ctx, presumed, ok := s.Presume(s.Context(), session.Token); !ok || presumed.Identity != who || !presumed.Holds(ctx) {
				s.Errorf("presumed %+v, want %+v", presumed.Identity, who)
			}
			ctx, presumed, _ := s.Presume(s.Context(), session.Token)
			if err := change(s, who); err != nil {
				s.Fatal(err)
			}
			if presumed.Holds(ctx) {
				s.Errorf("the identity holds after %s", name)
			}
		}
	})
}

// A session is read with the first exchange of an operation, also if that takes several scripts.
func TestPresume_TakesNoExchangeOfItsOwn(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		s := newService(t, url)
		session := s.login("along", "")
		who := s.identify(session)
		ctx, presumed, _ := s.Presume(s.Context(), session.Token)
		ctx, trips := roundtrip.WithCounter(ctx)
		if _, err := s.store.Timelines.Page(ctx, retwis.Home(who.User), retwis.Page{First: 20}); err != nil {
			s.Fatal(err)
		}
		before := trips.Load()
		if !presumed.Holds(ctx) {
			s.Error("the identity does not hold")
		}
		if n := trips.Load() - before; n != 0 {
			s.Errorf("reading the session took %d round trips", n)
		}

		ctx, presumed, _ = s.Presume(s.Context(), session.Token)
		if err := s.Logout(s.Context(), who); err != nil {
			s.Fatal(err)
		}
		if _, err := s.store.Timelines.Page(ctx, retwis.Home(who.User), retwis.Page{First: 20}); err != nil {
			s.Fatal(err)
		}
		if presumed.Holds(ctx) {
			s.Error("the identity holds although the session had ended when the page was read")
		}
	})
}
