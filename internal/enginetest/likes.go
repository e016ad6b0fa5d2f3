package enginetest

import (
	"errors"
	"fmt"
	"slices"

	"retwis/internal/retwis"
)

// Like makes a user like a post of another user or an own one, or stop liking it; intN makes the choices. The post may be
// deleted.
func (m *Model) Like(e *Engine, user, other retwis.UserID, intN func(n int) int) error {
	post, ok := m.postOf(other, intN)
	if !ok {
		return nil
	}
	likes, change := intN(3) > 0, e.Likes.Like
	if !likes {
		change = e.Likes.Unlike
	}
	err := change(e.T.Context(), user, post)
	if refused, ok := errors.AsType[*retwis.Error](err); ok && refused.Code == retwis.CodeNotFound {
		exists, err := e.Outbox.Exists(e.T.Context(), post)
		if exists {
			return fmt.Errorf("a like of post %s, which exists, was refused", post)
		}
		return err
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.Index(m.likes[user], post)
	switch {
	case likes && i < 0:
		m.likes[user] = append(m.likes[user], post)
	case !likes && i >= 0:
		m.likes[user] = slices.Delete(slices.Clone(m.likes[user]), i, i+1)
	}
	return nil
}

// verifyLikes compares the likes of all users, and the likers of all posts and their numbers.
func (m *Model) verifyLikes(e *Engine) {
	e.T.Helper()
	likers := map[retwis.PostID][]retwis.UserID{}
	var posts []retwis.PostID
	for post := range m.authors() {
		posts = append(posts, post)
	}
	slices.Sort(posts)
	for _, user := range m.People {
		if m.Gone[user] {
			continue
		}
		want := m.kept(m.likes[user])
		for _, post := range want {
			likers[post] = append(likers[post], user)
		}
		slices.Reverse(want)
		if got := e.Liked(user); !slices.Equal(got, want) {
			e.T.Errorf("liked by %s: %v, want %v", user, got, want)
		}
		liked, err := e.Likes.Liked(e.T.Context(), user, posts)
		if err != nil {
			e.T.Fatal(err)
		}
		for i, post := range posts {
			if liked[i] != slices.Contains(want, post) {
				e.T.Errorf("%s likes post %s: %t, want %t", user, post, liked[i], !liked[i])
			}
		}
	}
	counts, err := e.Likes.LikeCounts(e.T.Context(), posts)
	if err != nil {
		e.T.Fatal(err)
	}
	for i, post := range posts {
		want := likers[post]
		if counts[i] != len(want) {
			e.T.Errorf("post %s has %d likes, want %d", post, counts[i], len(want))
		}
		if len(want) == 0 && counts[i] == 0 {
			continue
		}
		got := e.Likers(post)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			e.T.Errorf("likers of post %s: %v, want %v", post, got, want)
		}
	}
}

// Likers reads all users who like a post, in small pages in both directions, newest like first.
func (e *Engine) Likers(post retwis.PostID) []retwis.UserID {
	e.T.Helper()
	total := 0
	all := BothWays(e, fmt.Sprint("likers of ", post), 7, func(page retwis.Page) (entries []PageEntry[retwis.UserID], more bool) {
		got, err := e.Likes.LikerPage(e.T.Context(), post, page)
		if err != nil {
			e.T.Fatal(err)
		}
		for _, l := range got.Likers {
			entries = append(entries, PageEntry[retwis.UserID]{l.User.ID, l.Cursor})
		}
		total = got.TotalCount
		return entries, More(page, got.HasNextPage, got.HasPreviousPage)
	})
	if total != len(all) {
		e.T.Errorf("likers of %s: %v, in total %d", post, all, total)
	}
	return all
}

// Liked reads all posts that a user likes, in small pages in both directions, newest like first.
func (e *Engine) Liked(user retwis.UserID) []retwis.PostID {
	e.T.Helper()
	return BothWays(e, fmt.Sprint("liked by ", user), 7, func(page retwis.Page) (entries []PageEntry[retwis.PostID], more bool) {
		got, err := e.Likes.LikedPage(e.T.Context(), user, page)
		if err != nil {
			e.T.Fatal(err)
		}
		for _, l := range got.Posts {
			entries = append(entries, PageEntry[retwis.PostID]{l.Post.ID, l.Cursor})
		}
		return entries, More(page, got.HasNextPage, got.HasPreviousPage)
	})
}
