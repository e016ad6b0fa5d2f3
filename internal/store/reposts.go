package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Repost makes a user repost a post, and returns the element of the repost. The repost of a repost is a repost of the original. A
// user has at most one repost of a post, so a repeated call returns the first one. It returns [retwis.ErrPostNotFound] if there is
// no such post.
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
			u.Account(), u.Profile(), u.Home(), p.Outbox(), p.Clock(), u.Reposted(), p.Online(), p.OnlineNodes(), u.TrimmedPosts(), u.Following(),
			u.HiddenReposters(), u.FollowerPartitions(),
		},
		Args: []any{
			user.String(), original.String(), user.PostBucket(), o.ProfileCap, o.HomeCap, o.Slack, p.Prefix(rdb.PostKeys),
			o.OutboxLimit, s.db.Publish, p.Prefix(rdb.LiveChannels), rdb.TraceOf(ctx), rdb.OriginOf(ctx),
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
		return retwis.Element{}, retwis.ErrOutboxFull
	default:
		return retwis.Element{}, fmt.Errorf("repost post %s: reply %q", original, fields[0])
	}
	id, err := retwis.ParsePostID(fields[1])
	if err != nil {
		return retwis.Element{}, fmt.Errorf("repost post %s: %w", original, err)
	}
	s.chargeForDelivery(ctx, user, fields[2], int(rdb.Number(fields[3])))
	s.metrics.reposts.WithLabelValues(script.Repost.Base()).Inc()
	return retwis.NewElement(id, user, 0, original), nil
}

// UndoRepost removes a user's repost of a post, which may have been deleted. It removes the
// repost from the profile at once, and from other timelines as [Posts.DeletePost] does. Without a repost it has no effect.
func (s *Posts) UndoRepost(ctx context.Context, user retwis.UserID, post retwis.PostID) error {
	p := s.db.OfUser(user)
	u := p.User(user)
	_, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.UndoRepost,
		Keys:   []string{u.Reposted(), u.Profile(), u.Account(), p.Outbox(), p.Changes(), p.Online(), p.OnlineNodes()},
		Args: []any{
			user.String(), post.String(), s.options.Changes, s.db.Publish, p.Prefix(rdb.LiveChannels), p.Prefix(rdb.PostKeys), rdb.OriginOf(ctx),
		},
	})
	if err != nil {
		return fmt.Errorf("undo the repost of post %s: %w", post, err)
	}
	s.metrics.reposts.WithLabelValues(script.UndoRepost.Base()).Inc()
	return nil
}

// Reposted reports for each post whether a user has reposted it.
func (s *Posts) Reposted(ctx context.Context, user retwis.UserID, ids []retwis.PostID) ([]bool, error) {
	reposted, err := s.lookUp(ctx, script.LookUpValues, s.db.OfUser(user).User(user).Reposted(), ids)
	if err != nil {
		return nil, fmt.Errorf("look up the reposts of %s: %w", user, err)
	}
	return reposted, nil
}

// original returns the id itself if it is that of a post, or the original if it is that of a repost. It returns
// [retwis.ErrPostNotFound] if there is no such post.
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

// maxReposters is the number of reposts up to which the deletion of a post is announced to the timelines of each repost. Beyond it, the
// deletion is announced to all watched timelines.
const maxReposters = 30

// Reposters returns for each post the users who have reposted it, of the [maxReposters] newest reposts. Some may have undone it.
func (s *Outbox) Reposters(ctx context.Context, posts []retwis.PostID) ([]outbox.Reposters, error) {
	all := make([]outbox.Reposters, len(posts))
	reads := make([]*redis.StringSliceCmd, len(posts))
	pipe := s.db.Client.Pipeline()
	for i, post := range posts {
		if p, ok := s.db.OfPost(post); ok {
			reads[i] = pipe.ZRevRange(ctx, p.References(retwis.RepostReference, post), 0, maxReposters)
		}
	}
	if pipe.Len() > 0 {
		_, _ = pipe.Exec(ctx) // every read holds its own error
	}
	for i, read := range reads {
		if read == nil {
			continue
		}
		ids, err := rdb.PostIDs(strings.Join(read.Val(), " "))
		if err = cmp.Or(read.Err(), err); err == nil {
			all[i].Many = len(ids) > maxReposters
			all[i].Users, err = s.authorsOf(ctx, ids)
		}
		if err != nil {
			return nil, fmt.Errorf("read who reposted post %s: %w", posts[i], err)
		}
	}
	return all, nil
}

// authorsOf returns the authors of posts or reposts, without repetition.
func (s *Outbox) authorsOf(ctx context.Context, ids []retwis.PostID) ([]retwis.UserID, error) {
	pipe := s.db.Client.Pipeline()
	var reads []*redis.StringCmd
	for _, id := range ids {
		if p, ok := s.db.OfPost(id); ok {
			reads = append(reads, pipe.HGet(ctx, p.Post(id), "author"))
		}
	}
	if len(reads) == 0 {
		return nil, nil
	}
	_, _ = pipe.Exec(ctx) // every read holds its own error
	var authors []retwis.UserID
	for _, read := range reads {
		author, err := read.Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		id, parseErr := retwis.ParseUserID(author)
		if err = cmp.Or(err, parseErr); err != nil {
			return nil, err
		}
		authors = append(authors, id)
	}
	slices.Sort(authors)
	return slices.Compact(authors), nil
}
