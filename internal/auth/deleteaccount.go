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
	for range replaceTries {
		stored, err := a.checkPassword(ctx, viewer, "password", password)
		if err != nil {
			return fmt.Errorf("delete an account: %w", err)
		}
		err = a.store.DeleteAccount(ctx, viewer, stored)
		if err == nil {
			return nil
		}
		if !errors.Is(err, retwis.ErrWrongCredentials) {
			return fmt.Errorf("delete an account: %w", err)
		}
	}
	return errWrongPassword("password")
}
