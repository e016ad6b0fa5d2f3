package store

import (
	"context"
	"fmt"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Repost makes a user repost a post, and returns the element of the repost. A repost of a repost is one of its original. A user
// has at most one repost of a post, so a repeat returns the first one. It returns [retwis.ErrPostNotFound] if there is no
// such post.
func (s *Posts) Repost(ctx context.Context, user retwis.UserID, post retwis.PostID) (retwis.Element, error) {
	original, err := s.original(ctx, post)
	if err != nil {
		return retwis.Element{}, fmt.Errorf("repost post %s: %w", post, err)
	}
	p, o := s.db.OfUser(user), s.options
	u := p.User(user)
	reply, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.Repost,
		Keys: []string{
			u.Account(), u.Profile(), u.Home(), p.Outbox(), p.Clock(), u.Reposts(), p.Online(), p.OnlineNodes(), u.TrimmedPosts(),
		},
		Args: []any{
			user.String(), original.String(), user.PostBucket(), o.ProfileCap, o.HomeCap, o.Slack, p.Prefix(rdb.PostKeys),
			o.OutboxLimit, s.db.Publish, p.Prefix(rdb.LiveChannels), rdb.TraceOf(ctx),
		},
	})
	if err != nil {
		return retwis.Element{}, fmt.Errorf("repost post %s: %w", original, err)
	}
	fields, err := reply.StringSlice()
	if err != nil {
		return retwis.Element{}, fmt.Errorf("repost post %s: %w", original, err)
	}
	switch fields[0] {
	case "ok":
	case "no_user":
		return retwis.Element{}, retwis.ErrUnauthenticated
	case "full":
		return retwis.Element{}, outboxFull()
	default:
		return retwis.Element{}, fmt.Errorf("repost post %s: reply %q", original, fields[0])
	}
	id, err := retwis.ParsePostID(fields[1])
	if err != nil {
		return retwis.Element{}, fmt.Errorf("repost post %s: %w", original, err)
	}
	return retwis.NewElement(id, user, 0, original), nil
}

// UndoRepost removes a user's repost of a post, which may have been deleted. It removes the
// repost from the profile at once, and from other timelines as [Posts.DeletePost] does. Without a repost it has no effect.
func (s *Posts) UndoRepost(ctx context.Context, user retwis.UserID, post retwis.PostID) error {
	p := s.db.OfUser(user)
	u := p.User(user)
	_, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.UndoRepost,
		Keys:   []string{u.Reposts(), u.Profile(), u.Account(), p.Outbox(), p.Changes(), p.Online(), p.OnlineNodes()},
		Args: []any{
			user.String(), post.String(), s.options.Changes, s.db.Publish, p.Prefix(rdb.LiveChannels), p.Prefix(rdb.PostKeys),
		},
	})
	if err != nil {
		return fmt.Errorf("undo the repost of post %s: %w", post, err)
	}
	return nil
}

// original returns the post that a repost of a post or repost shows, which exists. Otherwise it returns [retwis.ErrPostNotFound].
func (s *Posts) original(ctx context.Context, id retwis.PostID) (retwis.PostID, error) {
	found, err := s.read(ctx, []retwis.PostID{id})
	if err == nil && found[0] != nil && found[0].Reposted != 0 {
		id = found[0].Reposted
		found, err = s.read(ctx, []retwis.PostID{id})
	}
	switch {
	case err != nil:
		return 0, err
	case found[0] == nil || found[0].Reposted != 0:
		return 0, retwis.ErrPostNotFound
	default:
		return id, nil
	}
}
