package graph

import (
	"context"

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
				w.keys[key] = w.addPost(u, post.Text).ID
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
