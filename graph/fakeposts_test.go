package graph

import (
	"context"
	"slices"
	"strings"

	"retwis/internal/retwis"
)

func (w *fakeBackend) CreatePost(_ context.Context, post retwis.NewPost) (retwis.PostEdge, error) {
	err := w.begin("CreatePost", post.IdempotencyKey)
	defer w.mu.Unlock()
	if err != nil {
		return retwis.PostEdge{}, err
	}
	key := post.Author.String() + post.IdempotencyKey
	if _, ok := w.keys[key]; !ok {
		for _, u := range w.users {
			if u.ID == post.Author {
				answered := w.post(post.InReplyTo)
				if answered == nil && post.InReplyTo != 0 {
					return retwis.PostEdge{}, retwis.ErrNothingToAnswer
				}
				if w.post(post.Quoted) == nil && post.Quoted != 0 {
					return retwis.PostEdge{}, retwis.ErrNothingToQuote
				}
				made := w.addPost(u, post.Text)
				made.Quoted = post.Quoted
				for _, name := range retwis.MentionedNames(post.Text) {
					for _, named := range w.users {
						if strings.EqualFold(named.Username, name) {
							made.Mentions = append(made.Mentions, named.ID)
						}
					}
				}
				w.keys[key] = made.ID
				if answered != nil {
					made.Thread = retwis.NextInThread(answered.Thread, answered.ID)
					if answered.AuthorID != post.Author {
						made.Answered = answered.AuthorID
					}
				}
			}
		}
	}
	made := w.post(w.keys[key])
	if made.Text != post.Text {
		return retwis.PostEdge{}, retwis.FieldError(retwis.CodeInvalid, "idempotencyKey", "used with another text")
	}
	return edge(retwis.Home(post.Author), made), nil
}

func (w *fakeBackend) post(id retwis.PostID) *retwis.Post {
	for _, p := range w.posts {
		if p.ID == id {
			return p
		}
	}
	return nil
}

func (w *fakeBackend) DeletePost(_ context.Context, viewer retwis.UserID, post retwis.PostID) error {
	err := w.begin("DeletePost", post)
	defer w.mu.Unlock()
	if err != nil {
		return err
	}
	switch p := w.post(post); {
	case p == nil:
		return retwis.ErrPostNotFound
	case p.AuthorID != viewer:
		return retwis.ErrNotOwner
	}
	return nil
}

func (w *fakeBackend) Posts(_ context.Context, ids []retwis.PostID) ([]*retwis.Post, error) {
	err := w.begin("Posts", len(ids))
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	found := make([]*retwis.Post, len(ids))
	for i, id := range ids {
		found[i] = w.post(id)
	}
	return found, nil
}

// repliesTo returns the replies to a post, the newest first.
func (w *fakeBackend) repliesTo(id retwis.PostID) []*retwis.Post {
	return w.postsWhere(func(p *retwis.Post) bool { return p.InReplyTo() == id })
}

// quotesOf returns the quotes of a post, the newest first.
func (w *fakeBackend) quotesOf(id retwis.PostID) []*retwis.Post {
	return w.postsWhere(func(p *retwis.Post) bool { return p.Quoted == id })
}

func (w *fakeBackend) postsWhere(matches func(*retwis.Post) bool) []*retwis.Post {
	var found []*retwis.Post
	for _, p := range w.posts {
		if matches(p) {
			found = append(found, p)
		}
	}
	return found
}

func (w *fakeBackend) Thread(_ context.Context, id retwis.PostID) (*retwis.Thread, error) {
	err := w.begin("Thread", id)
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if p := w.post(id); p != nil {
		return &retwis.Thread{PostID: id, Above: p.Thread}, nil
	}
	if len(w.repliesTo(id)) > 0 {
		return &retwis.Thread{PostID: id}, nil
	}
	return nil, nil
}

func (w *fakeBackend) ReplyCounts(_ context.Context, ids []retwis.PostID) ([]int, error) {
	err := w.begin("ReplyCounts", len(ids))
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	counts := make([]int, len(ids))
	for i, id := range ids {
		counts[i] = len(w.repliesTo(id))
	}
	return counts, nil
}

func (w *fakeBackend) QuoteCounts(_ context.Context, ids []retwis.PostID) ([]int, error) {
	err := w.begin("QuoteCounts", len(ids))
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	counts := make([]int, len(ids))
	for i, id := range ids {
		counts[i] = len(w.quotesOf(id))
	}
	return counts, nil
}

func (w *fakeBackend) ReferencePage(_ context.Context, of retwis.References, page retwis.Page) (retwis.PostPage, error) {
	err := w.begin("ReferencePage", of, " ", page.First)
	defer w.mu.Unlock()
	if err != nil {
		return retwis.PostPage{}, err
	}
	posts := w.repliesTo(of.To)
	if of.Kind == retwis.QuoteReference {
		posts = w.quotesOf(of.To)
	}
	var all []retwis.PostEdge
	for _, p := range posts {
		all = append(all, retwis.PostEdge{Cursor: retwis.ReferencePosition{Of: of, Post: p.ID}.Cursor(), Post: p})
	}
	if !of.Newest {
		slices.Reverse(all)
	}
	found, more, err := cut(all, page, func(e retwis.PostEdge) retwis.Cursor { return e.Cursor })
	return retwis.PostPage{Edges: found, HasNextPage: more.next, HasPreviousPage: more.previous}, err
}
