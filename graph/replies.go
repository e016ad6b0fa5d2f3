package graph

import (
	"context"

	"retwis/graph/limits"
	"retwis/graph/loaders"
	"retwis/internal/retwis"
)

// PostReference is a post that another one refers to: an ancestor of a reply, or a quoted post. The post is nil if it cannot
// be shown.
type PostReference struct {
	PostID      retwis.PostID
	Post        *retwis.Post
	Unavailable *retwis.UnavailableReason
}

// referenceTo returns a reference to a post, which is nil if it was deleted.
func referenceTo(id retwis.PostID, post *retwis.Post) *PostReference {
	reference := &PostReference{PostID: id, Post: post}
	if post == nil {
		deleted := retwis.PostDeleted
		reference.Unavailable = &deleted
	}
	return reference
}

// quotedPost returns the post that a post quotes. It returns nil if the post quotes none.
func quotedPost(ctx context.Context, post *retwis.Post) (*PostReference, error) {
	if post.Quoted == 0 {
		return nil, nil
	}
	quoted, err := loaders.From(ctx).Posts.Load(ctx, post.Quoted)
	if err != nil {
		return nil, err
	}
	return referenceTo(post.Quoted, quoted), nil
}

// ReferenceConnection is a page of the replies to a post, or of its quotes.
type ReferenceConnection struct {
	Edges    []retwis.PostEdge
	PageInfo PageInfo
}

// postAnswered returns the post that a reply answers. It returns nil if that post was deleted, or if the post is not a reply.
func postAnswered(ctx context.Context, post *retwis.Post) (*retwis.Post, error) {
	if post.InReplyTo() == 0 {
		return nil, nil
	}
	return loaders.From(ctx).Posts.Load(ctx, post.InReplyTo())
}

// optionalPostID returns the global id of a post, nil for 0.
func optionalPostID(post retwis.PostID) *string {
	if post == 0 {
		return nil
	}
	id := globalPostID(post)
	return &id
}

// userAnswered returns the author of the post that a reply answers. It returns nil if the account was deleted, or if the post
// is not a reply.
func userAnswered(ctx context.Context, post *retwis.Post) (*retwis.User, error) {
	if post.InReplyToUser() == 0 {
		return nil, nil
	}
	return loaders.From(ctx).Authors().Load(ctx, post.InReplyToUser())
}

// ancestors returns the nearest posts above a reply, the root first.
func ancestors(ctx context.Context, thread []retwis.PostID, last *int) ([]*PostReference, error) {
	count := limits.MaxAncestors
	if last != nil {
		count = *last
	}
	if count < 1 || count > limits.MaxAncestors {
		return nil, badInput("`last` is %d: it must be from 1 to %d", count, limits.MaxAncestors)
	}
	thread = thread[max(0, len(thread)-count):]
	reads := make([]func() (*retwis.Post, error), len(thread))
	for i, id := range thread {
		reads[i] = loaders.From(ctx).Posts.LoadThunk(ctx, id)
	}
	found := make([]*PostReference, len(thread))
	var authors, named []retwis.UserID
	for i, read := range reads {
		post, err := read()
		if err != nil {
			return nil, err
		}
		if found[i] = referenceTo(thread[i], post); post == nil {
			continue
		}
		authors, named = append(authors, post.AuthorID), appendNamed(named, post)
	}
	expectAuthors(ctx, authors, named)
	return found, nil
}

// replies returns a page of the replies to a post.
func (r *Resolver) replies(ctx context.Context, to retwis.PostID, page retwis.Page, order *retwis.ReplyOrder) (*ReferenceConnection, error) {
	newest := order != nil && *order == retwis.NewestFirst
	return r.references(ctx, retwis.References{Kind: retwis.ReplyReference, To: to, Newest: newest}, page)
}

// quotes returns a page of the quotes of a post, newest first.
func (r *Resolver) quotes(ctx context.Context, of retwis.PostID, page retwis.Page) (*ReferenceConnection, error) {
	return r.references(ctx, retwis.References{Kind: retwis.QuoteReference, To: of, Newest: true}, page)
}

func (r *Resolver) references(ctx context.Context, of retwis.References, page retwis.Page) (*ReferenceConnection, error) {
	return loaders.Once(ctx, pageKey{"references", of, page}, func() (*ReferenceConnection, error) {
		posts, err := r.Posts.ReferencePage(ctx, of, page)
		if err != nil {
			return nil, err
		}
		return &ReferenceConnection{Edges: posts.Edges, PageInfo: postPageInfo(ctx, posts, page.Last > 0)}, nil
	})
}

// threadKey names a read of a thread for [loaders.Once].
type threadKey struct{ post retwis.PostID }

// thread returns the conversation around a post, nil if there is none.
func (r *Resolver) thread(ctx context.Context, id string) (*retwis.Thread, error) {
	post, ok := parseGlobalID(id).(retwis.PostID)
	if !ok {
		return nil, nil
	}
	return loaders.Once(ctx, threadKey{post}, func() (*retwis.Thread, error) { return r.Posts.Thread(ctx, post) })
}
