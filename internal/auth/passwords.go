package auth

import (
	"context"
	"fmt"

	"retwis/internal/retwis"
)

// HashPassword returns a hash to store, for accounts that an operator imports.
func (a *Accounts) HashPassword(ctx context.Context, password string) (string, error) {
	form, err := retwis.NormalizePassword("password", password)
	if err != nil {
		return "", err
	}
	hash, err := a.hasher.hash(ctx, form)
	if err != nil {
		return "", fmt.Errorf("hash a password: %w", err)
	}
	return hash, nil
}

// HasPassword reports whether a stored hash is a hash of the password.
func (a *Accounts) HasPassword(ctx context.Context, stored, password string) (bool, error) {
	form, err := retwis.NormalizePassword("password", password)
	if err != nil {
		return false, err
	}
	same, err := a.hasher.matches(ctx, form, stored)
	if err != nil {
		return false, fmt.Errorf("compare a password: %w", err)
	}
	return same, nil
}
