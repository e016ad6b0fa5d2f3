package graph

import (
	"context"
	"crypto/rand"
	"errors"

	"retwis/graph/loaders"
	"retwis/internal/retwis"
)

// newPost checks the input of a new post and returns all errors in it. Without an idempotency key of the client it makes
// one, so that a write that is repeated after a lost reply creates one post.
func newPost(author retwis.UserID, input CreatePostInput) (retwis.NewPost, error) {
	text, err := retwis.NormalizePostText(input.Text)
	key := rand.Text()
	if input.IdempotencyKey != nil {
		key = *input.IdempotencyKey
		err = errors.Join(err, retwis.CheckIdempotencyKey(key))
	}
	var answered retwis.PostID
	if input.InReplyToID != nil {
		var ok bool
		if answered, ok = parseGlobalID(*input.InReplyToID).(retwis.PostID); !ok {
			err = errors.Join(err, retwis.ErrNothingToAnswer)
		}
	}
	return retwis.NewPost{Author: author, Text: text, IdempotencyKey: key, InReplyTo: answered}, err
}

// mentions returns the existing users whom a post mentions.
func mentions(ctx context.Context, post *retwis.Post) ([]*retwis.User, error) {
	reads := make([]func() (*retwis.User, error), len(post.Mentions))
	for i, id := range post.Mentions {
		reads[i] = loaders.From(ctx).Authors().LoadThunk(ctx, id)
	}
	users := make([]*retwis.User, 0, len(reads))
	for _, read := range reads {
		user, err := read()
		if err != nil {
			return nil, err
		}
		if user != nil {
			users = append(users, user)
		}
	}
	return users, nil
}
