package fanout_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
)

// model holds the expected contents of the database. One goroutine performs all actions of a
// user, so that their order is known. The lock protects the maps only.
type model struct {
	mu      sync.Mutex
	people  []retwis.UserID
	posts   map[retwis.UserID][]retwis.PostID // by author, in the order of creation
	deleted map[retwis.PostID]bool
	gone    map[retwis.UserID]bool                   // users who deleted their accounts
	follows map[retwis.UserID]map[retwis.UserID]bool // reader → authors
	lists   map[retwis.UserID][]retwis.ListID
	members map[retwis.ListID]map[retwis.UserID]bool
	named   map[retwis.UserID][]retwis.PostID // posts that mention a user
}

func newModel(people []retwis.UserID) *model {
	m := &model{
		people:  people,
		posts:   map[retwis.UserID][]retwis.PostID{},
		deleted: map[retwis.PostID]bool{},
		gone:    map[retwis.UserID]bool{},
		follows: map[retwis.UserID]map[retwis.UserID]bool{},
		lists:   map[retwis.UserID][]retwis.ListID{},
		members: map[retwis.ListID]map[retwis.UserID]bool{},
		named:   map[retwis.UserID][]retwis.PostID{},
	}
	for _, id := range people {
		m.follows[id] = map[retwis.UserID]bool{}
	}
	return m
}

// act performs one random action of a user, on the database and on the model.
func (m *model) act(e *engine, r *rand.Rand, user retwis.UserID) error {
	i := r.IntN(len(m.people))
	other := m.people[i]
	if m.left(user) {
		return nil
	}
	if r.IntN(redistest.Size(500, 1000)) == 0 && m.leave(user) {
		return e.Accounts.DeleteAccount(e.t.Context(), user, "x")
	}
	err := m.step(e, r, user, i)
	if m.left(other) && errors.Is(err, retwis.ErrNotFound) {
		return nil
	}
	return err
}

// leave records that a user deletes the account, unless a quarter of the users already have.
func (m *model) leave(user retwis.UserID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if 4*len(m.gone) > len(m.people) {
		return false
	}
	m.gone[user] = true
	return true
}

func (m *model) left(user retwis.UserID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gone[user]
}

// step performs one random action of a user, which may concern the i-th user.
func (m *model) step(e *engine, r *rand.Rand, user retwis.UserID, i int) error {
	ctx := e.t.Context()
	other := m.people[i]
	switch n := r.IntN(130); {
	case n < 50:
		text := fmt.Sprint("post ", n)
		mentions := n < 10
		if mentions {
			text = fmt.Sprintf("@user%d and @user%d again, but not me@user%d", i, i, (i+1)%len(m.people))
		}
		edge, err := e.Posts.CreatePost(ctx, retwis.NewPost{Author: user, Text: text, IdempotencyKey: e.key()})
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.posts[user] = append(m.posts[user], edge.Post.ID)
		if mentions {
			m.named[other] = append(m.named[other], edge.Post.ID)
		}
		m.mu.Unlock()
	case n < 60:
		m.mu.Lock()
		made := m.posts[user]
		m.mu.Unlock()
		if len(made) == 0 {
			return nil
		}
		post := made[r.IntN(len(made))]
		if err := e.Posts.DeletePost(ctx, user, post); err != nil {
			return err
		}
		m.mu.Lock()
		m.deleted[post] = true
		m.mu.Unlock()
	case other == user:
	case n < 85:
		if err := e.Follows.Follow(ctx, user, other); err != nil {
			return err
		}
		m.mu.Lock()
		m.follows[user][other] = true
		m.mu.Unlock()
	case n >= 120:
		_, err := e.Timelines.Page(ctx, retwis.Home(other), retwis.Page{First: 1 + r.IntN(20)})
		return err
	case n >= 100:
		return m.actOnLists(e, r, user, other)
	default:
		if err := e.Follows.Unfollow(ctx, user, other); err != nil {
			return err
		}
		m.mu.Lock()
		delete(m.follows[user], other)
		m.mu.Unlock()
	}
	return nil
}

// actOnLists performs one random action on the lists of a user.
func (m *model) actOnLists(e *engine, r *rand.Rand, user, other retwis.UserID) error {
	ctx := e.t.Context()
	m.mu.Lock()
	lists := m.lists[user]
	m.mu.Unlock()
	if len(lists) < 2 {
		list, err := e.Lists.CreateList(ctx, user, "a list", e.key())
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.lists[user] = append(lists, list.ID)
		m.members[list.ID] = map[retwis.UserID]bool{}
		m.mu.Unlock()
		return nil
	}
	i := r.IntN(len(lists))
	switch n := r.IntN(20); {
	case n < 12:
		if err := e.Lists.AddListMember(ctx, user, lists[i], other); err != nil {
			return err
		}
		m.mu.Lock()
		m.members[lists[i]][other] = true
		m.mu.Unlock()
	case n < 19:
		if err := e.Lists.RemoveListMember(ctx, user, lists[i], other); err != nil {
			return err
		}
		m.mu.Lock()
		delete(m.members[lists[i]], other)
		m.mu.Unlock()
	default:
		if err := e.Lists.DeleteList(ctx, user, lists[i]); err != nil {
			return err
		}
		m.mu.Lock()
		delete(m.members, lists[i])
		m.lists[user] = slices.Delete(slices.Clone(lists), i, i+1)
		m.mu.Unlock()
	}
	return nil
}
