package graph

import (
	"context"
	"slices"

	"retwis/internal/retwis"
)

// repost is a repost in the fake backend.
type repost struct {
	id   retwis.PostID
	user retwis.UserID
	post retwis.PostID
}

// addRepost makes a user repost a post. The repost is newer than all posts so far.
func (w *fakeBackend) addRepost(user *retwis.User, post *retwis.Post) retwis.PostID {
	id := w.posts[0].ID + retwis.PostID(1000*(len(w.reposts)+1))
	w.reposts = slices.Insert(w.reposts, 0, repost{id, user.ID, post.ID})
	return id
}

func (w *fakeBackend) findRepost(user retwis.UserID, post retwis.PostID) int {
	return slices.IndexFunc(w.reposts, func(r repost) bool { return r.user == user && r.post == post })
}

// repostEdge returns the edge of a repost. Its cursor is that of a plain post: the ids of the backend are too small for an
// element with a context.
func (w *fakeBackend) repostEdge(timeline retwis.TimelineID, r repost) retwis.PostEdge {
	cursor := retwis.TimelinePosition{Timeline: timeline, Element: retwis.Plain(r.id)}.Cursor()
	return retwis.PostEdge{Cursor: cursor, Post: w.post(r.post), Repost: &retwis.Repost{ID: r.id, UserID: r.user}}
}

func (w *fakeBackend) belongsRepost(r repost, timeline retwis.TimelineID) bool {
	switch timeline.Kind {
	case retwis.ProfileTimeline, retwis.RepliesTimeline:
		return r.user == timeline.Owner
	case retwis.ListTimeline:
		return w.list(timeline.List()).has(r.user)
	default:
		return timeline.Kind == retwis.HomeTimeline
	}
}

func (w *fakeBackend) Repost(_ context.Context, user retwis.UserID, post retwis.PostID) (retwis.Element, error) {
	err := w.begin("Repost", user, " ", post)
	defer w.mu.Unlock()
	if err != nil {
		return retwis.Element{}, err
	}
	for _, r := range w.reposts {
		if r.id == post {
			post = r.post
		}
	}
	reposted := w.post(post)
	if reposted == nil {
		return retwis.Element{}, retwis.ErrPostNotFound
	}
	if w.findRepost(user, post) < 0 {
		w.addRepost(&retwis.User{ID: user}, reposted)
	}
	return retwis.NewElement(w.reposts[w.findRepost(user, post)].id, user, 0, post), nil
}

func (w *fakeBackend) UndoRepost(_ context.Context, user retwis.UserID, post retwis.PostID) error {
	err := w.begin("UndoRepost", user, " ", post)
	defer w.mu.Unlock()
	if err != nil {
		return err
	}
	if i := w.findRepost(user, post); i >= 0 {
		w.reposts = slices.Delete(w.reposts, i, i+1)
	}
	return nil
}

func (w *fakeBackend) RepostCounts(_ context.Context, posts []retwis.PostID) ([]int, error) {
	err := w.begin("RepostCounts", len(posts))
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	counts := make([]int, len(posts))
	for i, post := range posts {
		for _, r := range w.reposts {
			if r.post == post {
				counts[i]++
			}
		}
	}
	return counts, nil
}

func (w *fakeBackend) Reposted(_ context.Context, user retwis.UserID, posts []retwis.PostID) ([]bool, error) {
	err := w.begin("Reposted", len(posts))
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	reposted := make([]bool, len(posts))
	for i, post := range posts {
		reposted[i] = w.findRepost(user, post) >= 0
	}
	return reposted, nil
}
