package graph

import (
	"context"
	"errors"

	"retwis/graph/loaders"
	"retwis/internal/cost"
	"retwis/internal/retwis"
)

// tagByName returns the hashtag with a name, or nil.
func (r *Resolver) tagByName(ctx context.Context, name string) (*retwis.Tag, error) {
	folded, err := foldedOnce(ctx, name)
	if folded == "" || err != nil {
		return nil, err
	}
	type key struct{ tag string }
	return loaders.Once(ctx, key{folded}, func() (*retwis.Tag, error) {
		tag, err := r.Tags.TagByName(ctx, folded)
		if errors.Is(err, retwis.ErrNotFound) {
			return nil, nil
		}
		return tag, err
	})
}

// foldedOnce returns the folded form of the name of a hashtag, empty if no hashtag has the name. It charges the operation for folding.
func foldedOnce(ctx context.Context, name string) (string, error) {
	type key struct{ name string }
	return loaders.Once(ctx, key{name}, func() (string, error) {
		if err := cost.Walk(ctx, len(name)); err != nil {
			return "", err
		}
		folded, _ := retwis.ParseTagName(name)
		return folded, nil
	})
}

// tagOf returns the hashtag of a timeline, nil if it does not exist. It uses no loader, because a subscription that starts has none.
func (r *Resolver) tagOf(ctx context.Context, timeline retwis.TimelineID) (*retwis.Tag, error) {
	tags, err := r.Tags.Tags(ctx, []retwis.TagID{timeline.Tag()})
	if err != nil {
		return nil, err
	}
	return tags[0], nil
}
