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
	Posts   map[retwis.UserID][]retwis.PostID        // by author, in the order of creation
	Deleted map[retwis.PostID]bool                   // posts, and reposts that were undone
	Gone    map[retwis.UserID]bool                   // users who deleted their accounts
	Follows map[retwis.UserID]map[retwis.UserID]bool // reader → authors
	hides   map[retwis.UserID]map[retwis.UserID]bool // reader → followed users whose reposts the home does not show
	lists   map[retwis.UserID][]retwis.ListID
	members map[retwis.ListID]map[retwis.UserID]bool
	named   map[retwis.UserID][]retwis.PostID  // posts that mention a user
	replyTo map[retwis.PostID]retwis.PostID    // the posts that replies answer
	likes   map[retwis.UserID][]retwis.PostID  // in the order of the likes; posts may be deleted
	quoted  map[retwis.PostID]retwis.PostID    // the posts that quotes quote
	reposts map[retwis.UserID][]retwis.Element // in the order of creation
	tagged  map[string][]retwis.PostID         // posts with a hashtag, by its folded name
}

// NewModel returns the model of a database in which people have registered and done nothing else.
func NewModel(people []retwis.UserID) *Model {
	m := &Model{
		People:  people,
		Posts:   map[retwis.UserID][]retwis.PostID{},
		Deleted: map[retwis.PostID]bool{},
		Gone:    map[retwis.UserID]bool{},
		Follows: map[retwis.UserID]map[retwis.UserID]bool{},
		hides:   map[retwis.UserID]map[retwis.UserID]bool{},
		lists:   map[retwis.UserID][]retwis.ListID{},
		members: map[retwis.ListID]map[retwis.UserID]bool{},
		named:   map[retwis.UserID][]retwis.PostID{},
		replyTo: map[retwis.PostID]retwis.PostID{},
		likes:   map[retwis.UserID][]retwis.PostID{},
		quoted:  map[retwis.PostID]retwis.PostID{},
		reposts: map[retwis.UserID][]retwis.Element{},
		tagged:  map[string][]retwis.PostID{},
	}
	for _, id := range people {
		m.Follows[id], m.hides[id] = map[retwis.UserID]bool{}, map[retwis.UserID]bool{}
	}
	return m
}

// Act performs one random action of a user, on the database and on the model.
func (m *Model) Act(e *Engine, r *rand.Rand, user retwis.UserID) error {
	other := m.People[r.IntN(len(m.People))]
	if m.HasLeft(user) {
		return nil
	}
	if r.IntN(redistest.Size(500, 1000)) == 0 {
		return m.Leave(e, user)
	}
	err := m.step(e, r, user, other)
	if m.HasLeft(other) && errors.Is(err, retwis.ErrNotFound) {
		return nil
	}
	return err
}

// Leave deletes the account of a user, unless a quarter of the users have already left.
func (m *Model) Leave(e *Engine, user retwis.UserID) error {
	m.mu.Lock()
	if 4*len(m.Gone) > len(m.People) {
		m.mu.Unlock()
		return nil
	}
	m.Gone[user] = true
	m.mu.Unlock()
	return e.Accounts.DeleteAccount(e.T.Context(), user, "x")
}

// HasLeft reports whether a user has deleted the account.
func (m *Model) HasLeft(user retwis.UserID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Gone[user]
}

// step performs one random action of a user, which may concern another one.
func (m *Model) step(e *Engine, r *rand.Rand, user, other retwis.UserID) error {
	switch n := r.IntN(150); {
	case n >= 140:
		return m.Repost(e, user, other, r.IntN)
	case n >= 130:
		return m.Like(e, user, other, r.IntN)
	case n < 10:
		return m.Mention(e, user, other)
	case n < 25:
		return m.Refer(e, user, other, retwis.ReplyReference, r.IntN)
	case n < 30:
		return m.Refer(e, user, other, retwis.QuoteReference, r.IntN)
	case n < 38:
		return m.Post(e, user, fmt.Sprintf("post %d #news #Tag%d, and #TAG%d again", n, n%4, n%4))
	case n < 50:
		return m.Post(e, user, fmt.Sprint("post ", n))
	case n < 60:
		return m.Delete(e, user, r.IntN)
	case other == user:
		return nil
	case n < 80:
		return m.Follow(e, user, other)
	case n < 85:
		return m.FollowShowing(e, user, other, r.IntN(2) == 0)
	case n >= 120:
		return m.Page(e, other, 1+r.IntN(20))
	case n >= 100:
		return m.ChangeLists(e, user, other, r.IntN)
	default:
		return m.Unfollow(e, user, other)
	}
}

// postOf chooses one of the posts of a user, which may be deleted; intN chooses among n of them. It reports false if there is none.
func (m *Model) postOf(user retwis.UserID, intN func(n int) int) (retwis.PostID, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	made := m.Posts[user]
	if len(made) == 0 {
		return 0, false
	}
	return made[intN(len(made))], true
}

// Post creates a post.
func (m *Model) Post(e *Engine, user retwis.UserID, text string) error {
	_, err := m.post(e, retwis.NewPost{Author: user, Text: text})
	return err
}

// Mention creates a post that mentions another user, unless the account has been deleted.
func (m *Model) Mention(e *Engine, user, other retwis.UserID) error {
	users, err := e.Accounts.Users(e.T.Context(), []retwis.UserID{other})
	if err != nil || users[0] == nil {
		return err
	}
	name := users[0].Username
	post, err := m.post(e, retwis.NewPost{Author: user, Text: fmt.Sprintf("@%s and @%s again, but not me@%s", name, name, name)})
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.named[other] = append(m.named[other], post)
	return nil
}

// Refer creates a reply to a post of another user, or to one of the same user, or a quote of it; intN chooses among n of
// them. The post may be deleted.
func (m *Model) Refer(e *Engine, user, other retwis.UserID, kind retwis.ReferenceKind, intN func(n int) int) error {
	to, ok := m.postOf(other, intN)
	if !ok {
		return nil
	}
	post := retwis.NewPost{Author: user, Text: "a post about another one #Reference", InReplyTo: to}
	if kind == retwis.QuoteReference {
		post.InReplyTo, post.Quoted = 0, to
	}
	_, err := m.post(e, post)
	if refused, ok := errors.AsType[*retwis.Error](err); ok && refused.Code == retwis.CodeNotFound {
		exists, err := e.Outbox.Exists(e.T.Context(), to)
		if exists {
			return fmt.Errorf("one of the %s of post %s, which exists, was refused", kind, to)
		}
		return err
	}
	return err
}

func (m *Model) post(e *Engine, post retwis.NewPost) (retwis.PostID, error) {
	user := post.Author
	post.IdempotencyKey = e.Key()
	edge, err := e.Posts.CreatePost(e.T.Context(), post)
	if err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Posts[user] = append(m.Posts[user], edge.Post.ID)
	if post.InReplyTo != 0 {
		m.replyTo[edge.Post.ID] = post.InReplyTo
	}
	if post.Quoted != 0 {
		m.quoted[edge.Post.ID] = post.Quoted
	}
	for _, tag := range retwis.IndexedTags(post.Text) {
		m.tagged[tag.Folded] = append(m.tagged[tag.Folded], edge.Post.ID)
	}
	return edge.Post.ID, nil
}

// Delete deletes one of the user's posts; intN chooses among n of them. It may be deleted already.
func (m *Model) Delete(e *Engine, user retwis.UserID, intN func(n int) int) error {
	post, ok := m.postOf(user, intN)
	if !ok {
		return nil
	}
	if err := e.Posts.DeletePost(e.T.Context(), user, post); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Deleted[post] = true
	return nil
}

// Follow makes a user follow another one.
func (m *Model) Follow(e *Engine, user, other retwis.UserID) error {
	if err := e.Follows.Follow(e.T.Context(), user, other); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Follows[user][other] = true
	return nil
}

// FollowShowing makes a user follow another one, and shows or hides the reposts of that one.
func (m *Model) FollowShowing(e *Engine, user, other retwis.UserID, reposts bool) error {
	if err := e.Follows.FollowShowing(e.T.Context(), user, other, reposts); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Follows[user][other], m.hides[user][other] = true, !reposts
	return nil
}

// Unfollow makes a user unfollow another one.
func (m *Model) Unfollow(e *Engine, user, other retwis.UserID) error {
	if err := e.Follows.Unfollow(e.T.Context(), user, other); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.Follows[user], other)
	delete(m.hides[user], other)
	return nil
}

// Page reads the first page of a user's home, of n posts.
func (m *Model) Page(e *Engine, user retwis.UserID, n int) error {
	_, err := e.Timelines.Page(e.T.Context(), retwis.Home(user), retwis.Page{First: n})
	return err
}

// ChangeLists creates or deletes a list of a user, or adds or removes another user; intN makes the choices.
func (m *Model) ChangeLists(e *Engine, user, other retwis.UserID, intN func(n int) int) error {
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
	i := intN(len(lists))
	switch n := intN(20); {
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
