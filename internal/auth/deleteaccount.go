package auth

import (
	"context"
	"errors"
	"fmt"

	"retwis/internal/retwis"
)

// DeleteAccount permanently deletes the viewer's account. All sessions end at once, and the
// data of the account is deleted in the background. The error for a wrong password is
// WRONG_CREDENTIALS on the field password.
func (a *Accounts) DeleteAccount(ctx context.Context, who Identity, password string) error {
	viewer, err := who.viewer()
	if err != nil {
		return err
	}
	form, ok := retwis.PasswordForm(password)
	if !ok {
		return errWrongPassword()
	}
	for range replaceTries {
		stored, err := a.store.CredentialsOf(ctx, viewer)
		if errors.Is(err, retwis.ErrNotFound) {
			return retwis.ErrUnauthenticated
		}
		if err != nil {
			return fmt.Errorf("delete an account: %w", err)
		}
		right, err := a.hasher.matches(ctx, form, stored.PasswordHash)
		if err != nil {
			return fmt.Errorf("check the password of %s: %w", viewer, err)
		}
		if !right {
			return errWrongPassword()
		}
		err = a.store.DeleteAccount(ctx, viewer, stored.PasswordHash)
		if err == nil {
			return nil
		}
		if !errors.Is(err, retwis.ErrWrongCredentials) {
			return fmt.Errorf("delete an account: %w", err)
		}
	}
	return errWrongPassword()
}

func errWrongPassword() error {
	return retwis.FieldError(retwis.CodeWrongCredentials, "password", "wrong password")
}
