package graph

import (
	"context"
	"crypto/rand"
	"errors"

	"retwis/graph/loaders"
	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// sessionPayload answers a mutation that begins a session, and hands the session's
// token to a transport that has cookies.
func sessionPayload(ctx context.Context, session auth.Session, err error) (*SessionPayload, error) {
	if err != nil {
		mendable, err := userErrors(err)
		return &SessionPayload{UserErrors: mendable}, err
	}
	auth.SetSessionCookie(ctx, session.Token)
	return &SessionPayload{Token: &session.Token, User: session.User}, nil
}

// logoutPayload answers a mutation that ends the viewer's session.
func logoutPayload(ctx context.Context, end func(context.Context, auth.Identity) error) (*LogoutPayload, error) {
	if _, err := auth.Viewer(ctx); err != nil {
		return nil, err
	}
	if err := end(ctx, auth.IdentityOf(ctx)); err != nil {
		mendable, err := userErrors(err)
		return &LogoutPayload{UserErrors: mendable}, err
	}
	auth.SetSessionCookie(ctx, "")
	return &LogoutPayload{}, nil
}

// deleteAccount ends the viewer's account, and with it the session that asks.
func (r *Resolver) deleteAccount(ctx context.Context, password string) (*DeleteAccountPayload, error) {
	viewer, err := auth.Viewer(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.Accounts.DeleteAccount(ctx, auth.IdentityOf(ctx), password); err != nil {
		mendable, err := userErrors(err)
		return &DeleteAccountPayload{UserErrors: mendable}, err
	}
	auth.SetSessionCookie(ctx, "")
	id := globalUserID(viewer)
	return &DeleteAccountPayload{DeletedUserID: &id}, nil
}

// newPost checks a post that is to be made, and reports everything wrong with it at
// once. It makes a key where the client gave none, so that a write repeated because its
// reply was lost makes one post.
func newPost(author retwis.UserID, input CreatePostInput) (retwis.NewPost, error) {
	text, err := retwis.NormalizePostText(input.Text)
	key := rand.Text()
	if input.IdempotencyKey != nil {
		key = *input.IdempotencyKey
		err = errors.Join(err, retwis.CheckIdempotencyKey(key))
	}
	return retwis.NewPost{Author: author, Text: text, IdempotencyKey: key}, err
}

// changeFollow makes the viewer follow or unfollow a user.
func changeFollow(
	ctx context.Context, userID string, change func(ctx context.Context, reader, author retwis.UserID) error,
) (*FollowPayload, error) {
	viewer, err := auth.Viewer(ctx)
	if err != nil {
		return nil, err
	}
	user, err := changeFollowOf(ctx, viewer, userID, change)
	if err != nil {
		mendable, err := userErrors(err)
		return &FollowPayload{UserErrors: mendable}, err
	}
	return &FollowPayload{User: user, Viewer: &retwis.Viewer{ID: viewer}}, nil
}

// changeFollowOf returns the followed or unfollowed user as it is after the change.
func changeFollowOf(
	ctx context.Context, viewer retwis.UserID, userID string,
	change func(ctx context.Context, reader, author retwis.UserID) error,
) (*retwis.User, error) {
	author, ok := parseGlobalID(userID).(retwis.UserID)
	if !ok {
		return nil, retwis.ErrUserNotFound
	}
	if err := change(ctx, viewer, author); err != nil {
		return nil, err
	}
	user, err := loaders.From(ctx).Users.Load(ctx, author)
	if err == nil && user == nil {
		err = retwis.ErrUserNotFound
	}
	return user, err
}
