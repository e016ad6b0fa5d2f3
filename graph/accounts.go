package graph

import (
	"context"

	"retwis/internal/auth"
)

// sessionPayload returns the payload of a mutation that starts a session. A transport with cookies gets the token too.
func sessionPayload(ctx context.Context, session auth.Session, err error) (*SessionPayload, error) {
	if err != nil {
		shown, err := userErrors(err)
		return &SessionPayload{UserErrors: shown}, err
	}
	auth.RequestOf(ctx).SetSessionCookie(session.Token)
	return &SessionPayload{Token: &session.Token, User: session.User}, nil
}

// logout ends sessions of the viewer, among them the current one.
func logout(ctx context.Context, end func(context.Context, auth.Identity) error) (*LogoutPayload, error) {
	if _, err := auth.Viewer(ctx); err != nil {
		return nil, err
	}
	if err := end(ctx, auth.IdentityOf(ctx)); err != nil {
		shown, err := userErrors(err)
		return &LogoutPayload{UserErrors: shown}, err
	}
	auth.RequestOf(ctx).SetSessionCookie("")
	return &LogoutPayload{}, nil
}

// deleteAccount deletes the viewer's account, and with it the current session.
func (r *Resolver) deleteAccount(ctx context.Context, password string) (*DeleteAccountPayload, error) {
	viewer, err := auth.Viewer(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.Accounts.DeleteAccount(ctx, auth.IdentityOf(ctx), password); err != nil {
		shown, err := userErrors(err)
		return &DeleteAccountPayload{UserErrors: shown}, err
	}
	auth.RequestOf(ctx).SetSessionCookie("")
	id := globalUserID(viewer)
	return &DeleteAccountPayload{DeletedUserID: &id}, nil
}
