package graph

import (
	"context"
	"crypto/rand"
	"errors"

	"retwis/graph/loaders"
	"retwis/internal/cost"
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
	post := retwis.NewPost{Author: author, Text: text, IdempotencyKey: key}
	for _, reference := range []struct {
		id      *string
		into    *retwis.PostID
		missing error
	}{
		{input.InReplyToID, &post.InReplyTo, retwis.ErrNothingToAnswer},
		{input.QuotedPostID, &post.Quoted, retwis.ErrNothingToQuote},
	} {
		if reference.id == nil {
			continue
		}
		var ok bool
		if *reference.into, ok = parseGlobalID(*reference.id).(retwis.PostID); !ok {
			err = errors.Join(err, reference.missing)
		}
	}
	return post, err
}

// appendNamed appends the users whom a post mentions, and the other user whom it answers.
func appendNamed(named []retwis.UserID, post *retwis.Post) []retwis.UserID {
	named = append(named, post.Mentions...)
	if post.Answered != 0 {
		named = append(named, post.Answered)
	}
	return named
}

// mentionsPerRow is how many mentions of a post are looked up in the time that Redis takes to read a row.
const mentionsPerRow = 4

// mentions returns the existing users whom a post mentions.
func mentions(ctx context.Context, post *retwis.Post) ([]*retwis.User, error) {
	if err := cost.Walk(ctx, len(post.Mentions)/mentionsPerRow); err != nil {
		return nil, err
	}
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
