package graph

import (
	"context"
	"slices"

	"retwis/internal/retwis"
)

// These are the hashtags of the fake backend.

// tagPost adds a post, and its hashtags that do not exist yet.
func (w *fakeBackend) tagPost(author *retwis.User, text string) *retwis.Post {
	p := w.addPost(author, text)
	for _, found := range retwis.IndexedTags(text) {
		i := slices.IndexFunc(w.tags, func(t *retwis.Tag) bool { return retwis.FoldTag(t.Name) == found.Folded })
		if i < 0 {
			i = len(w.tags)
			w.tags = append(w.tags, &retwis.Tag{ID: retwis.TagID((2000+i)*retwis.Buckets + 1), Name: found.Name})
		}
		p.Tags = append(p.Tags, w.tags[i].ID)
	}
	return p
}

func (w *fakeBackend) TagByName(_ context.Context, folded string) (*retwis.Tag, error) {
	err := w.begin("TagByName", folded)
	defer w.mu.Unlock()
	for _, tag := range w.tags {
		if retwis.FoldTag(tag.Name) == folded && err == nil {
			return tag, nil
		}
	}
	if err == nil {
		err = retwis.ErrNotFound
	}
	return nil, err
}

func (w *fakeBackend) Tags(_ context.Context, ids []retwis.TagID) ([]*retwis.Tag, error) {
	err := w.begin("Tags", len(ids))
	defer w.mu.Unlock()
	found := make([]*retwis.Tag, len(ids))
	for i, id := range ids {
		if at := slices.IndexFunc(w.tags, func(t *retwis.Tag) bool { return t.ID == id }); at >= 0 {
			found[i] = w.tags[at]
		}
	}
	return found, err
}
