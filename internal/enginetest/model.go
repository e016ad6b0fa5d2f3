package enginetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
)

// Model holds the expected contents of the database. One goroutine performs all actions of a
// user, so that their order is known. The lock protects the maps only.
type Model struct {
	mu      sync.Mutex
	People  []retwis.UserID
	Posts   map[retwis.UserID][]retwis.PostID // by author, in the order of creation
	Deleted map[retwis.PostID]bool
	Gone    map[retwis.UserID]bool                   // users who deleted their accounts
	Follows map[retwis.UserID]map[retwis.UserID]bool // reader → authors
	lists   map[retwis.UserID][]retwis.ListID
	members map[retwis.ListID]map[retwis.UserID]bool
	named   map[retwis.UserID][]retwis.PostID // posts that mention a user
}

// NewModel returns the model of a database in which people have registered and done nothing else.
func NewModel(people []retwis.UserID) *Model {
	m := &Model{
		People:  people,
		Posts:   map[retwis.UserID][]retwis.PostID{},
		Deleted: map[retwis.PostID]bool{},
		Gone:    map[retwis.UserID]bool{},
		Follows: map[retwis.UserID]map[retwis.UserID]bool{},
		lists:   map[retwis.UserID][]retwis.ListID{},
		members: map[retwis.ListID]map[retwis.UserID]bool{},
		named:   map[retwis.UserID][]retwis.PostID{},
	}
	for _, id := range people {
		m.Follows[id] = map[retwis.UserID]bool{}
	}
	return m
}

// Act performs one random action of a user, on the database and on the model.
func (m *Model) Act(e *Engine, r *rand.Rand, user retwis.UserID) error {
	i := r.IntN(len(m.People))
	other := m.People[i]
	if m.HasLeft(user) {
		return nil
	}
	if r.IntN(redistest.Size(500, 1000)) == 0 && m.leave(user) {
		return e.Accounts.DeleteAccount(e.T.Context(), user, "x")
	}
	err := m.step(e, r, user, i)
	if m.HasLeft(other) && errors.Is(err, retwis.ErrNotFound) {
		return nil
	}
	return err
}

// leave records that a user deletes the account, unless a quarter of the users already have.
func (m *Model) leave(user retwis.UserID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if 4*len(m.Gone) > len(m.People) {
		return false
	}
	m.Gone[user] = true
	return true
}

// HasLeft reports whether a user has deleted the account.
func (m *Model) HasLeft(user retwis.UserID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Gone[user]
}

// step performs one random action of a user, which may concern the i-th user.
func (m *Model) step(e *Engine, r *rand.Rand, user retwis.UserID, i int) error {
	ctx := e.T.Context()
	other := m.People[i]
	switch n := r.IntN(130); {
	case n < 50:
		text := fmt.Sprint("post ", n)
		mentions := n < 10
		if mentions {
			text = fmt.Sprintf("@user%d and @user%d again, but not me@user%d", i, i, (i+1)%len(m.People))
		}
		edge, err := e.Posts.CreatePost(ctx, retwis.NewPost{Author: user, Text: text, IdempotencyKey: e.Key()})
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.Posts[user] = append(m.Posts[user], edge.Post.ID)
		if mentions {
			m.named[other] = append(m.named[other], edge.Post.ID)
		}
		m.mu.Unlock()
	case n < 60:
		m.mu.Lock()
		made := m.Posts[user]
		m.mu.Unlock()
		if len(made) == 0 {
			return nil
		}
		post := made[r.IntN(len(made))]
		if err := e.Posts.DeletePost(ctx, user, post); err != nil {
			return err
		}
		m.mu.Lock()
		m.Deleted[post] = true
		m.mu.Unlock()
	case other == user:
	case n < 85:
		if err := e.Follows.Follow(ctx, user, other); err != nil {
			return err
		}
		m.mu.Lock()
		m.Follows[user][other] = true
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
		delete(m.Follows[user], other)
		m.mu.Unlock()
	}
	return nil
}

// actOnLists performs one random action on the lists of a user.
func (m *Model) actOnLists(e *Engine, r *rand.Rand, user, other retwis.UserID) error {
	ctx := e.T.Context()
	m.mu.Lock()
	lists := m.lists[user]
	m.mu.Unlock()
	if len(lists) < 2 {
		list, err := e.Lists.CreateList(ctx, user, "a list", e.Key())
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
