package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

func (w *fakeBackend) session(u *retwis.User) auth.Session {
	return auth.Session{Token: "token of " + u.Username, User: u}
}

func (w *fakeBackend) Register(_ context.Context, username, password string, displayName *string, _ string) (auth.Session, error) {
	err := w.begin("Register", username)
	defer w.mu.Unlock()
	if err != nil {
		return auth.Session{}, err
	}
	if len(password) < 8 {
		err = retwis.FieldError(retwis.CodeTooShort, "password", "too short")
	}
	for _, u := range w.users {
		if u.Username == username {
			err = errors.Join(retwis.ErrNameTaken, err)
		}
	}
	if err != nil {
		return auth.Session{}, fmt.Errorf("register: %w", err)
	}
	u := w.addUser(username)
	if displayName != nil {
		u.DisplayName = *displayName
	}
	return w.session(u), nil
}

func (w *fakeBackend) Login(_ context.Context, username, password, _ string) (auth.Session, error) {
	err := w.begin("Login", username)
	defer w.mu.Unlock()
	if err != nil {
		return auth.Session{}, err
	}
	for _, u := range w.users {
		if u.Username == username && w.secrets[u.ID] == password {
			return w.session(u), nil
		}
	}
	return auth.Session{}, retwis.ErrWrongCredentials
}

func (w *fakeBackend) Logout(_ context.Context, who auth.Identity) error {
	defer w.mu.Unlock()
	return w.begin("Logout", who.User)
}

func (w *fakeBackend) LogoutEverywhere(_ context.Context, who auth.Identity) error {
	defer w.mu.Unlock()
	return w.begin("EndAll", who.User)
}

func (w *fakeBackend) Sessions(_ context.Context, who auth.Identity) ([]retwis.Session, error) {
	err := w.begin("Sessions", who.User)
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var found []retwis.Session
	for _, session := range w.sessions {
		if session.ID.User == who.User {
			session.Current = session.ID == who.SessionID()
			found = append(found, session)
		}
	}
	return found, nil
}

func (w *fakeBackend) RevokeSession(_ context.Context, who auth.Identity, id retwis.SessionID) error {
	err := w.begin("RevokeSession", id)
	defer w.mu.Unlock()
	if err == nil && id.User != who.User {
		err = retwis.ErrSessionNotFound
	}
	if err != nil {
		return err
	}
	w.sessions = slices.DeleteFunc(w.sessions, func(s retwis.Session) bool { return s.ID == id })
	return nil
}

func (w *fakeBackend) ChangePassword(_ context.Context, who auth.Identity, current, changed, _ string) (auth.Session, error) {
	err := w.begin("ChangePassword", who.User)
	defer w.mu.Unlock()
	if err != nil {
		return auth.Session{}, err
	}
	if w.secrets[who.User] != current {
		return auth.Session{}, retwis.FieldError(retwis.CodeWrongCredentials, "currentPassword", "wrong")
	}
	w.secrets[who.User] = changed
	return w.session(w.user(who.User)), nil
}

func (w *fakeBackend) DeleteAccount(_ context.Context, who auth.Identity, password string) error {
	err := w.begin("DeleteAccount", who.User)
	defer w.mu.Unlock()
	if err != nil {
		return err
	}
	if w.secrets[who.User] != password {
		return retwis.FieldError(retwis.CodeWrongCredentials, "password", "wrong")
	}
	for _, u := range w.users {
		if u.ID == who.User {
			u.BeingDeleted = true
		}
	}
	return nil
}

func (w *fakeBackend) UpdateProfile(_ context.Context, who auth.Identity, change retwis.ProfileChange) (*retwis.User, error) {
	err := w.begin("UpdateProfile", who.User)
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	for _, u := range w.users {
		if u.ID == who.User {
			if change.DisplayName != nil {
				if *change.DisplayName == "" {
					return nil, retwis.FieldError(retwis.CodeBlank, "displayName", "blank")
				}
				u.DisplayName = *change.DisplayName
			}
			if change.Bio != nil {
				u.Bio = *change.Bio
			}
		}
	}
	return w.user(who.User), nil
}
