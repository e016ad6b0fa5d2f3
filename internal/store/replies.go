package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// ownReplies is the number of replies of the author of a post that come before all others.
const ownReplies = 100

// digestOf returns the digest by which a repeat of a post with the same idempotency key is recognised.
func digestOf(post retwis.NewPost) string {
	text := post.Text
	if post.InReplyTo != 0 || post.Quoted != 0 {
		text += "\x00" + post.InReplyTo.String()
	}
	if post.Quoted != 0 {
		text += "\x00" + post.Quoted.String()
	}
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:16])
}

// references is what a reply stores about its ancestors, and a quote about the post quoted. Any other post has the zero value.
type references struct {
	thread   []retwis.PostID
	answered retwis.UserID // author of the post answered, if another user
	quoted   retwis.PostID
	missing  string // 'unanswerable' or 'unquotable' if one of the posts does not exist, as create_post returns it
}

// references reads the posts that a new post answers and quotes.
func (s *Posts) references(ctx context.Context, post retwis.NewPost) (references, error) {
	r := references{quoted: post.Quoted}
	var ids []retwis.PostID
	for _, id := range []retwis.PostID{post.InReplyTo, post.Quoted} {
		if id != 0 {
			ids = append(ids, id)
		}
	}
	posts, err := s.Posts(ctx, ids)
	if err != nil {
		return r, fmt.Errorf("read the posts to answer and to quote: %w", err)
	}
	if post.Quoted != 0 && posts[len(posts)-1] == nil {
		r.missing = "unquotable"
	}
	if post.InReplyTo == 0 {
		return r, nil
	}
	answered := posts[0]
	if answered == nil {
		r.missing = "unanswerable"
		return r, nil
	}
	r.thread = retwis.NextInThread(answered.Thread, answered.ID)
	if answered.AuthorID != post.Author {
		r.answered = answered.AuthorID
	}
	return r, nil
}

// args returns the arguments of create_post for the references.
func (r references) args() []any {
	answered, quoted := "", ""
	if r.answered != 0 {
		answered = r.answered.String()
	}
	if r.quoted != 0 {
		quoted = r.quoted.String()
	}
	return []any{joinIDs(r.thread), answered, quoted, r.missing}
}

// ReferenceArgs returns the arguments of the scripts that add a post to the replies or quotes of another one, or remove it. Those
// that come first are at most [ownReplies].
func ReferenceArgs(o Options, kind retwis.ReferenceKind, id retwis.PostID, remove, first bool) []any {
	by := "0"
	switch {
	case remove:
		by = ""
	case first:
		by = "1"
	}
	return []any{id.String(), by, o.ReplyCap, ownReplies, string(kind) + "_trimmed"}
}

// Exists reports whether a post exists and was not deleted.
func (s *Outbox) Exists(ctx context.Context, id retwis.PostID) (bool, error) {
	p, ok := s.db.OfPost(id)
	if !ok {
		return false, nil
	}
	fields, err := s.db.Client.HMGet(ctx, p.Post(id), "author", "deleted").Result()
	if err != nil {
		return false, fmt.Errorf("read post %s: %w", id, err)
	}
	return fields[0] != nil && fields[1] == nil, nil
}

// ReplyCounts returns the number of replies of posts, in their order, up to [Options.ReplyCap]. Posts may have been deleted.
func (s *Posts) ReplyCounts(ctx context.Context, ids []retwis.PostID) ([]int, error) {
	return s.referenceCounts(ctx, retwis.ReplyReference, ids)
}

// QuoteCounts does the same for quotes.
func (s *Posts) QuoteCounts(ctx context.Context, ids []retwis.PostID) ([]int, error) {
	return s.referenceCounts(ctx, retwis.QuoteReference, ids)
}

// RepostCounts does the same for reposts.
func (s *Posts) RepostCounts(ctx context.Context, ids []retwis.PostID) ([]int, error) {
	return s.referenceCounts(ctx, retwis.RepostReference, ids)
}

func (s *Posts) referenceCounts(ctx context.Context, kind retwis.ReferenceKind, ids []retwis.PostID) ([]int, error) {
	pipe := s.db.Client.Pipeline()
	reads := make([]*redis.IntCmd, len(ids))
	for i, id := range ids {
		if p, ok := s.db.OfPost(id); ok {
			reads[i] = pipe.ZCard(ctx, p.References(kind, id))
		}
	}
	_, _ = pipe.Exec(ctx) // every read holds its own error
	counts := make([]int, len(ids))
	for i, read := range reads {
		if read == nil {
			continue
		}
		count, err := read.Result()
		if err != nil {
			return nil, fmt.Errorf("count the %s of post %s: %w", kind, ids[i], err)
		}
		counts[i] = int(count)
	}
	return counts, nil
}

// Thread returns the conversation around a post, nil if there was no such post, and if it was deleted and has no replies.
func (s *Posts) Thread(ctx context.Context, id retwis.PostID) (*retwis.Thread, error) {
	p, ok := s.db.OfPost(id)
	if !ok {
		return nil, nil
	}
	pipe := s.db.Client.Pipeline()
	row := pipe.HMGet(ctx, p.Post(id), "author", "deleted", "thread", "reposted")
	count := pipe.ZCard(ctx, p.References(retwis.ReplyReference, id))
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("read the thread of post %s: %w", id, err)
	}
	fields := row.Val()
	if fields[0] == nil || fields[3] != nil || fields[1] != nil && count.Val() == 0 {
		return nil, nil
	}
	above, err := rdb.PostIDs(rdb.Text(fields[2]))
	if err != nil {
		return nil, fmt.Errorf("read the thread of post %s: %w", id, err)
	}
	return &retwis.Thread{PostID: id, Above: above}, nil
}

// ReferencePage returns a page of the replies to a post, or of its quotes. The post may have been deleted. Replies of the author of
// the post come first, at most [ownReplies] of them. It skips deleted replies and quotes and refills the page.
func (s *Posts) ReferencePage(ctx context.Context, of retwis.References, page retwis.Page) (retwis.PostPage, error) {
	forward, count, cursor := page.Direction()
	var at *retwis.ReferencePosition
	if cursor != "" {
		from, err := cursor.ReferencePosition(of)
		if err != nil {
			return retwis.PostPage{}, err
		}
		at = &from
	}
	inside := at != nil
	found, more, stopped, err := existingPosts(ctx, s, count, at, func(at *retwis.ReferencePosition, count int) ([]retwis.ReferencePosition, error) {
		return s.readReferences(ctx, of, at, !forward, count)
	}, func(at retwis.ReferencePosition) retwis.PostID { return at.Post })
	if err != nil {
		return retwis.PostPage{}, fmt.Errorf("read the %s of post %s: %w", of.Kind, of.To, err)
	}
	var result retwis.PostPage
	for _, f := range found {
		result.Edges = append(result.Edges, retwis.PostEdge{Cursor: f.at.Cursor(), Post: f.post})
	}
	if stopped != nil {
		s.metrics.earlyEnds.WithLabelValues(string(of.Kind)).Inc()
		result.ScannedTo = stopped.Cursor()
	}
	if result.HasNextPage, result.HasPreviousPage = more, inside; !forward {
		slices.Reverse(result.Edges)
		result.HasNextPage, result.HasPreviousPage = inside, more
	}
	return result, nil
}

// readReferences returns the next replies or quotes of a post in a direction, from a position or an end. They are fewer than count
// only at the other end.
func (s *Posts) readReferences(
	ctx context.Context, of retwis.References, at *retwis.ReferencePosition, backward bool, count int,
) ([]retwis.ReferencePosition, error) {
	p, ok := s.db.OfPost(of.To)
	if !ok {
		return nil, nil
	}
	order, direction, from, group := "oldest", "0", "", "0"
	if backward {
		direction = "1"
	}
	if of.Newest {
		order = "newest"
	}
	if at != nil {
		from = at.Post.String()
		if at.First {
			group = "1"
		}
	}
	fields, err := s.db.Do(ctx, rdb.Call{
		Script: script.ReadReplies, Keys: []string{p.References(of.Kind, of.To)}, Args: []any{order, direction, count, from, group},
	}).StringSlice()
	if err != nil {
		return nil, err
	}
	found := make([]retwis.ReferencePosition, len(fields)/2)
	for i := range found {
		found[i] = retwis.ReferencePosition{Of: of, First: fields[2*i+1] == "1"}
		if found[i].Post, err = retwis.ParsePostID(fields[2*i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}
