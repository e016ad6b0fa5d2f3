package graph

import (
	"context"
	"slices"
	"time"

	"retwis/internal/retwis"
)

// like is a like in the fake backend.
type like struct {
	user retwis.UserID
	post retwis.PostID
	at   time.Time
}

// addLike makes a user like a post.
func (w *fakeBackend) addLike(user *retwis.User, post *retwis.Post) {
	at := newYear.Add(time.Duration(len(w.likes)+1) * time.Minute)
	w.likes = slices.Insert(w.likes, 0, like{user.ID, post.ID, at})
}

func (w *fakeBackend) findLike(user retwis.UserID, post retwis.PostID) int {
	return slices.IndexFunc(w.likes, func(l like) bool { return l.user == user && l.post == post })
}

func (w *fakeBackend) Like(_ context.Context, user retwis.UserID, post retwis.PostID) error {
	err := w.begin("Like", user, " ", post)
	defer w.mu.Unlock()
	if err != nil {
		return err
	}
	liked := w.post(post)
	if liked == nil {
		return retwis.ErrPostNotFound
	}
	if w.findLike(user, post) < 0 {
		w.addLike(&retwis.User{ID: user}, liked)
	}
	return nil
}

func (w *fakeBackend) Unlike(_ context.Context, user retwis.UserID, post retwis.PostID) error {
	err := w.begin("Unlike", user, " ", post)
	defer w.mu.Unlock()
	if err != nil {
		return err
	}
	if w.post(post) == nil {
		return retwis.ErrPostNotFound
	}
	if i := w.findLike(user, post); i >= 0 {
		w.likes = slices.Delete(w.likes, i, i+1)
	}
	return nil
}

func (w *fakeBackend) LikeCounts(_ context.Context, posts []retwis.PostID) ([]int, error) {
	err := w.begin("LikeCounts", len(posts))
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	counts := make([]int, len(posts))
	for _, l := range w.likes {
		if i := slices.Index(posts, l.post); i >= 0 {
			counts[i]++
		}
	}
	return counts, nil
}

func (w *fakeBackend) Liked(_ context.Context, user retwis.UserID, posts []retwis.PostID) ([]bool, error) {
	err := w.begin("Liked", len(posts))
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	liked := make([]bool, len(posts))
	for i, post := range posts {
		liked[i] = w.findLike(user, post) >= 0
	}
	return liked, nil
}

func (w *fakeBackend) LikerPage(_ context.Context, post retwis.PostID, page retwis.Page) (retwis.LikerPage, error) {
	err := w.begin("LikerPage", post, " ", page.First)
	defer w.mu.Unlock()
	if err != nil {
		return retwis.LikerPage{}, err
	}
	var all []retwis.Liker
	for _, l := range w.likes {
		if l.post == post {
			cursor := retwis.LikePosition{Post: post, Score: l.at.UnixMicro(), User: l.user}.LikerCursor()
			all = append(all, retwis.Liker{Cursor: cursor, User: w.user(l.user), LikedAt: l.at})
		}
	}
	found, more, err := cut(all, page, func(l retwis.Liker) retwis.Cursor { return l.Cursor })
	return retwis.LikerPage{Likers: found, HasNextPage: more.next, HasPreviousPage: more.previous, TotalCount: len(all)}, err
}

func (w *fakeBackend) LikedPage(_ context.Context, user retwis.UserID, page retwis.Page) (retwis.LikedPostPage, error) {
	err := w.begin("LikedPage", user, " ", page.First)
	defer w.mu.Unlock()
	if err != nil {
		return retwis.LikedPostPage{}, err
	}
	var all []retwis.LikedPost
	for _, l := range w.likes {
		if l.user == user {
			cursor := retwis.LikePosition{User: user, Score: l.at.UnixMicro(), Post: l.post}.LikedPostCursor()
			all = append(all, retwis.LikedPost{Cursor: cursor, Post: w.post(l.post), LikedAt: l.at})
		}
	}
	found, more, err := cut(all, page, func(l retwis.LikedPost) retwis.Cursor { return l.Cursor })
	return retwis.LikedPostPage{Posts: found, HasNextPage: more.next, HasPreviousPage: more.previous}, err
}
