package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"retwis/internal/cost"
	"retwis/internal/postcache"
	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Posts manages posts.
type Posts struct {
	core
	accounts *Accounts
	tags     *Tags
	cache    *postcache.Cache
}

// CreatePost stores a post, adds it to the profile and home of its author, and queues its fan-out. When it returns, a
// replica has the post if there are replicas. A repeat with the same idempotency key returns the first post, or
// INVALID if the text or a post that it refers to differs. It returns NOT_FOUND if it answers or quotes a post that does not exist.
func (s *Posts) CreatePost(ctx context.Context, post retwis.NewPost) (retwis.PostEdge, error) {
	p := s.db.OfUser(post.Author)
	o := s.options
	digest := digestOf(post)
	mentions, err := s.resolveMentions(ctx, post.Text)
	if err != nil {
		return retwis.PostEdge{}, fmt.Errorf("create a post of %s: %w", post.Author, err)
	}
	refers, err := s.references(ctx, post)
	if err != nil {
		return retwis.PostEdge{}, fmt.Errorf("create a post of %s: %w", post.Author, err)
	}
	var tags []retwis.TagID
	if refers.missing == "" { // otherwise the post is refused, and its hashtags would remain
		if tags, err = s.tags.ClaimTags(ctx, retwis.IndexedTags(post.Text)); err != nil {
			return retwis.PostEdge{}, fmt.Errorf("create a post of %s: %w", post.Author, err)
		}
		cost.Owe(ctx, cost.PerHashtag*len(tags)) // they exist, even if the post is refused
	}
	reply, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.CreatePost,
		Keys: []string{
			p.User(post.Author).Account(), p.User(post.Author).Profile(), p.User(post.Author).Home(), p.Outbox(), p.Clock(),
			p.User(post.Author).Idempotency(post.IdempotencyKey), p.Online(), p.OnlineNodes(), p.Changes(),
			p.User(post.Author).TrimmedPosts(), p.User(post.Author).FollowerPartitions(),
		},
		Args: append([]any{
			post.Author.String(), post.Text, digest, post.Author.PostBucket(), o.ProfileCap, o.HomeCap,
			o.Slack, p.Prefix(rdb.PostKeys), int(o.IdempotencyTTL.Seconds()), o.OutboxLimit, s.db.Publish, p.Prefix(rdb.LiveChannels),
			joinIDs(mentions), rdb.TraceOf(ctx),
		}, append(refers.args(), joinIDs(tags), rdb.OriginOf(ctx))...),
	})
	if err != nil {
		return retwis.PostEdge{}, fmt.Errorf("create a post of %s: %w", post.Author, err)
	}
	fields, err := reply.StringSlice()
	if err != nil {
		return retwis.PostEdge{}, fmt.Errorf("create a post of %s: %w", post.Author, err)
	}
	switch fields[0] {
	case "ok":
	case "no_user":
		return retwis.PostEdge{}, retwis.ErrUnauthenticated
	case "conflict":
		return retwis.PostEdge{}, retwis.FieldError(retwis.CodeInvalid, "idempotencyKey",
			"the key was used with another text, or for another reply or quote: use a new key for a new post")
	case "unanswerable":
		return retwis.PostEdge{}, retwis.ErrNothingToAnswer
	case "unquotable":
		return retwis.PostEdge{}, retwis.ErrNothingToQuote
	case "full":
		return retwis.PostEdge{}, retwis.ErrOutboxFull
	default:
		return retwis.PostEdge{}, fmt.Errorf("create a post of %s: reply %q", post.Author, fields[0])
	}
	id, err := retwis.ParsePostID(fields[1])
	if err != nil {
		return retwis.PostEdge{}, fmt.Errorf("create a post of %s: %w", post.Author, err)
	}
	at, err := parsePosition(retwis.Home(post.Author), fields[2], fields[3])
	if err != nil {
		return retwis.PostEdge{}, fmt.Errorf("create a post of %s: %w", post.Author, err)
	}
	at.Element, at.Filter = retwis.NewElement(id, post.Author, refers.answered, 0), rdb.Number(fields[4])
	cost.Owe(ctx, cost.PerMention*len(mentions))
	s.chargeForDelivery(ctx, post.Author, fields[5], int(rdb.Number(fields[6])))
	return retwis.PostEdge{
		Cursor: at.Cursor(),
		Post: &retwis.Post{
			ID: id, AuthorID: post.Author, Text: post.Text, Mentions: mentions, Tags: tags, Thread: refers.thread, Answered: refers.answered,
			Quoted: refers.quoted, CreatedAt: id.CreatedAt(),
		},
	}, nil
}

// chargeForDelivery charges for the delivery of a new post or repost to the partitions that a script returned, and to the followers and lists there.
// Lists that it cannot count are free, because the post exists.
func (s *Posts) chargeForDelivery(ctx context.Context, author retwis.UserID, partitions string, followers int) {
	if partitions == "" || cost.Of(ctx) == nil {
		return
	}
	all := s.db.Partitions()
	pipe := s.db.Client.Pipeline()
	var counts []*redis.IntCmd
	for partition := range strings.FieldsSeq(partitions) {
		number, ok := strings.CutPrefix(partition, ListPartition)
		if i, err := strconv.Atoi(number); ok && err == nil && i < len(all) {
			counts = append(counts, pipe.ZCard(ctx, all[i].User(author).Listed()))
		}
	}
	_, _ = pipe.Exec(ctx) // those that fail count nothing
	lists := 0
	for _, count := range counts {
		lists += int(count.Val())
	}
	// Workers look into the partitions whose followers or lists are gone, too.
	ofPartitions, ofLists := cost.OfDelivery(len(strings.Fields(partitions)), lists)
	cost.Owe(ctx, ofPartitions)
	cost.OweLists(ctx, ofLists)
	cost.OweFollowers(ctx, min(followers, s.options.PullAbove))
}

// resolveMentions returns the users whom a text mentions, each once.
func (s *Posts) resolveMentions(ctx context.Context, body string) ([]retwis.UserID, error) {
	names := retwis.MentionedNames(body)
	if len(names) == 0 {
		return nil, nil
	}
	users, err := s.accounts.UsersByName(ctx, names)
	if err != nil {
		return nil, fmt.Errorf("resolve mentions: %w", err)
	}
	var found []retwis.UserID
	for _, user := range users {
		if user != nil {
			found = append(found, user.ID)
		}
	}
	return found, nil
}

// existingPost is a post that exists, at a position of a list that also names deleted ones.
type existingPost[P any] struct {
	at   P
	post *retwis.Post
}

// existingPosts returns count posts that exist, of those at the positions behind from, which read returns: fewer than it is asked for only
// at the end of the list. More reports whether others may follow. After [maxScan] positions it ends early, and returns the last one as stopped.
func existingPosts[P any](
	ctx context.Context, posts *Posts, count int, from *P, read func(from *P, count int) ([]P, error), idOf func(P) retwis.PostID,
) (found []existingPost[P], more bool, stopped *P, err error) {
	for scanned, ask := 0, count+1; ; ask = scanStep {
		positions, err := read(from, ask)
		if err != nil {
			return nil, false, nil, err
		}
		ids := make([]retwis.PostID, len(positions))
		for i, at := range positions {
			ids[i] = idOf(at)
		}
		existing, err := posts.Posts(ctx, ids)
		if err != nil {
			return nil, false, nil, err
		}
		for i, post := range existing {
			if post != nil {
				found = append(found, existingPost[P]{positions[i], post})
			}
		}
		scanned += len(positions)
		switch {
		case len(found) > count:
			return found[:count], true, nil, nil
		case len(positions) < ask:
			return found, false, nil, nil
		}
		from = &positions[len(positions)-1]
		if scanned >= maxScan {
			return found, true, from, nil
		}
	}
}

// texts returns ids or elements as Redis stores them.
func texts[T fmt.Stringer](ids []T) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = id.String()
	}
	return all
}

// textArgs is [texts] for the arguments of a command.
func textArgs[T fmt.Stringer](ids []T) []any {
	all := make([]any, len(ids))
	for i, id := range ids {
		all[i] = id.String()
	}
	return all
}

func joinIDs[T fmt.Stringer](ids []T) string { return strings.Join(texts(ids), " ") }

// DeletePost deletes a viewer's post. It removes the post from the profile at once. Other timelines no longer show it once
// the removal has reached their partition; those of the author's partition, and this process, hide it at once. A repeat has
// no effect. It returns [retwis.ErrPostNotFound], or [retwis.ErrNotOwner] for a post of another author.
func (s *Posts) DeletePost(ctx context.Context, viewer retwis.UserID, id retwis.PostID) error {
	holder, ok := s.db.OfPost(id)
	if !ok {
		return retwis.ErrPostNotFound
	}
	if p := s.db.OfUser(viewer); p != holder {
		// A post of another partition cannot be of the viewer.
		posts, err := s.Posts(ctx, []retwis.PostID{id})
		switch {
		case err != nil:
			return err
		case posts[0] == nil:
			return retwis.ErrPostNotFound
		default:
			return retwis.ErrNotOwner
		}
	}
	defer s.cache.Drop(id) // also after an error: the deletion may have been carried out
	reply, err := s.db.DoDurably(ctx, rdb.Call{
		Script: script.DeletePost,
		Keys: []string{
			holder.Post(id), holder.User(viewer).Profile(), holder.User(viewer).Account(), holder.Outbox(), holder.Changes(),
			holder.Online(), holder.OnlineNodes(),
		},
		Args: []any{viewer.String(), id.String(), s.options.Changes, s.db.Publish, holder.Prefix(rdb.LiveChannels), rdb.OriginOf(ctx)},
	})
	if err != nil {
		return fmt.Errorf("delete post %s: %w", id, err)
	}
	switch reply.Val() {
	case "ok":
		return nil
	case "missing":
		return retwis.ErrPostNotFound
	case "forbidden":
		return retwis.ErrNotOwner
	default:
		return fmt.Errorf("delete post %s: reply %q", id, reply.Val())
	}
}

// listed returns posts and reposts in the order of their ids, nil if one is missing or deleted. It takes post i from the cache if
// covered[i]: if the post is from a list whose partition receives its changes, and if the changes that the list was read
// with are applied.
func (s *Posts) listed(ctx context.Context, ids []retwis.PostID, covered []bool) ([]*retwis.Post, error) {
	posts := make([]*retwis.Post, len(ids))
	missing := s.cache.Find(ids, covered, posts)
	if len(missing) == len(ids) {
		return s.read(ctx, ids)
	}
	unknown := make([]retwis.PostID, len(missing))
	for i, at := range missing {
		unknown[i] = ids[at]
	}
	read, err := s.read(ctx, unknown)
	if err != nil {
		return nil, err
	}
	for i, at := range missing {
		posts[at] = read[i]
	}
	return posts, nil
}

// Posts returns posts in the order of their ids, nil if one is missing or deleted. It reads them from the database, and
// caches them.
func (s *Posts) Posts(ctx context.Context, ids []retwis.PostID) ([]*retwis.Post, error) {
	posts, err := s.read(ctx, ids)
	for i, post := range posts {
		if post != nil && post.Reposted != 0 {
			posts[i] = nil
		}
	}
	return posts, err
}

// read does the same for posts and reposts. It does not cache reposts.
func (s *Posts) read(ctx context.Context, ids []retwis.PostID) ([]*retwis.Post, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	reading := s.cache.BeginReading()
	pipe := s.db.Client.Pipeline()
	rows := make([]*redis.SliceCmd, len(ids))
	for i, id := range ids {
		if p, ok := s.db.OfPost(id); ok {
			rows[i] = pipe.HMGet(ctx, p.Post(id), "author", "text", "mentions", "thread", "quoted", "answered", "reposted", "deleted", "tags")
		}
	}
	_, _ = pipe.Exec(ctx) // every row holds its own error
	posts := make([]*retwis.Post, len(ids))
	results := make([]postcache.Result, 0, len(ids))
	for i, row := range rows {
		if row == nil {
			continue
		}
		fields, err := row.Result()
		if err != nil {
			return nil, fmt.Errorf("read posts: %w", err)
		}
		author, body, reposted := rdb.Text(fields[0]), rdb.Text(fields[1]), retwis.PostID(rdb.Number(fields[6]))
		if author == "" || reposted != 0 && fields[7] != nil {
			continue
		}
		if body == "" && reposted == 0 { // a tombstone
			results = append(results, postcache.Result{ID: ids[i]})
			continue
		}
		id, err := retwis.ParseUserID(author)
		if err != nil {
			return nil, fmt.Errorf("read post %s: %w", ids[i], err)
		}
		mentions, err := rdb.UserIDs(rdb.Text(fields[2]))
		if err != nil {
			return nil, fmt.Errorf("read post %s: %w", ids[i], err)
		}
		thread, err := rdb.PostIDs(rdb.Text(fields[3]))
		if err != nil {
			return nil, fmt.Errorf("read post %s: %w", ids[i], err)
		}
		tags, err := rdb.TagIDs(rdb.Text(fields[8]))
		if err != nil {
			return nil, fmt.Errorf("read post %s: %w", ids[i], err)
		}
		posts[i] = &retwis.Post{
			ID: ids[i], AuthorID: id, Text: body, Mentions: mentions, Tags: tags, Thread: thread, Answered: retwis.UserID(rdb.Number(fields[5])),
			Quoted: retwis.PostID(rdb.Number(fields[4])), Reposted: reposted, CreatedAt: ids[i].CreatedAt(),
		}
		if reposted != 0 {
			continue
		}
		results = append(results, postcache.Result{ID: ids[i], Post: posts[i]})
	}
	s.cache.Add(reading, results)
	return posts, nil
}
