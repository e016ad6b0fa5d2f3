package enginetest

import (
	"errors"
	"fmt"
	"slices"

	"retwis/internal/retwis"
)

// repeatSpan is the number of elements directly below a repost among which the rule about repeats looks for its post.
const repeatSpan = 100

// Shown returns the elements that a timeline shows of those that it holds, newest first: those that show a post, without the reposts
// of a post that one of the next elements shows. shows reports whether an element shows a post, apart from that rule.
func Shown(held []retwis.Element, shows func(retwis.Element) bool) []retwis.Element {
	var all []retwis.Element
	for i, e := range held {
		below := held[i+1 : min(i+1+repeatSpan, len(held))]
		repeats := e.Reposted != 0 && slices.ContainsFunc(below, func(other retwis.Element) bool {
			return other.Shown() == e.Shown() && shows(other)
		})
		if shows(e) && !repeats {
			all = append(all, e)
		}
	}
	return all
}

// PostsOf returns the posts that elements show.
func PostsOf(elements []retwis.Element) []retwis.PostID {
	var posts []retwis.PostID
	for _, e := range elements {
		posts = append(posts, e.Shown())
	}
	return posts
}

// Repost makes a user repost a post of another user or an own one, or undo one of the user's reposts; intN makes the choices. The post
// may be deleted, and the repost undone already.
func (m *Model) Repost(e *Engine, user, other retwis.UserID, intN func(n int) int) error {
	m.mu.Lock()
	reposts := m.reposts[user]
	m.mu.Unlock()
	if len(reposts) > 0 && intN(3) == 0 {
		// A random post is hardly ever one that the user has reposted.
		return m.undoRepost(e, user, reposts[intN(len(reposts))].Reposted)
	}
	post, ok := m.postOf(other, intN)
	if !ok {
		return nil
	}
	repost, err := e.Posts.Repost(e.T.Context(), user, post)
	if errors.Is(err, retwis.ErrPostNotFound) {
		exists, err := e.Outbox.Exists(e.T.Context(), post)
		if exists {
			return fmt.Errorf("a repost of post %s, which exists, was refused", post)
		}
		return err
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if earlier, ok := m.repostOf(user, post); !ok {
		m.reposts[user] = append(m.reposts[user], repost)
	} else if earlier != repost {
		return fmt.Errorf("the repost %s of post %s is not the one that user %s has, %s", repost, post, user, earlier)
	}
	return nil
}

func (m *Model) undoRepost(e *Engine, user retwis.UserID, post retwis.PostID) error {
	if err := e.Posts.UndoRepost(e.T.Context(), user, post); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if repost, ok := m.repostOf(user, post); ok {
		m.Deleted[repost.ID] = true
	}
	return nil
}

// repostOf returns the repost of a post by a user that was not undone.
func (m *Model) repostOf(user retwis.UserID, post retwis.PostID) (retwis.Element, bool) {
	for _, e := range m.reposts[user] {
		if e.Reposted == post && !m.Deleted[e.ID] {
			return e, true
		}
	}
	return retwis.Element{}, false
}

// verifyReposts compares the numbers of reposts of all posts, deleted ones included.
func (m *Model) verifyReposts(e *Engine) {
	e.T.Helper()
	want := map[retwis.PostID]int{}
	for user, reposts := range m.reposts {
		for _, repost := range reposts {
			if !m.Gone[user] && !m.Deleted[repost.ID] {
				want[repost.Reposted]++
			}
		}
	}
	var posts []retwis.PostID
	for post := range m.authors() {
		posts = append(posts, post)
	}
	got, err := e.Posts.RepostCounts(e.T.Context(), posts)
	if err != nil {
		e.T.Fatal(err)
	}
	for i, post := range posts {
		if got[i] != want[post] {
			e.T.Errorf("post %s has %d reposts, want %d", post, got[i], want[post])
		}
	}
}
