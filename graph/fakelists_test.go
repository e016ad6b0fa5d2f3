package graph

import (
	"context"
	"slices"
	"time"

	"retwis/internal/retwis"
)

// These are the lists of the fake backend.

// kept is a list and its members, newest first.
type kept struct {
	retwis.List
	key     string // idempotency key of the creation
	members []member
}

type member struct {
	user retwis.UserID
	at   time.Time
}

func (k *kept) has(user retwis.UserID) bool {
	return k != nil && slices.ContainsFunc(k.members, func(m member) bool { return m.user == user })
}

func (k *kept) add(user retwis.UserID) {
	if !k.has(user) {
		at := k.CreatedAt.Add(time.Duration(len(k.members)+1) * time.Second)
		k.members = slices.Insert(k.members, 0, member{user, at})
	}
}

// addList adds a list in the bucket of its owner.
func (w *fakeBackend) addList(owner *retwis.User, name string, members ...*retwis.User) *kept {
	return w.keep(owner.ID, name, "", members...)
}

func (w *fakeBackend) keep(owner retwis.UserID, name, key string, members ...*retwis.User) *kept {
	id := retwis.ListID((1000+len(w.lists))*retwis.Buckets + owner.Bucket())
	at := newYear.Add(time.Duration(len(w.lists)+1) * time.Hour)
	k := &kept{List: retwis.List{ID: id, OwnerID: owner, Name: name, CreatedAt: at}, key: key}
	for _, m := range members {
		k.add(m.ID)
	}
	w.lists = slices.Insert(w.lists, 0, k)
	return k
}

func (w *fakeBackend) list(id retwis.ListID) *kept {
	for _, k := range w.lists {
		if k.ID == id && k.Name != deleted {
			return k
		}
	}
	return nil
}

// deleted is the name of deleted lists.
const deleted = ""

// owned returns a list of an owner.
func (w *fakeBackend) owned(owner retwis.UserID, id retwis.ListID) (*kept, error) {
	k := w.list(id)
	switch {
	case k == nil:
		return nil, retwis.ErrListNotFound
	case k.OwnerID != owner:
		return nil, retwis.ErrListNotOwned
	}
	return k, nil
}

func (k *kept) copied() *retwis.List {
	list := k.List
	return &list
}

func (w *fakeBackend) CreateList(_ context.Context, owner retwis.UserID, name, key string) (*retwis.List, error) {
	err := w.begin("CreateList", key)
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	for _, k := range w.lists {
		if k.OwnerID == owner && k.key == key {
			if k.Name == deleted {
				return nil, retwis.ErrListNotFound
			}
			return k.copied(), nil
		}
	}
	return w.keep(owner, name, key).copied(), nil
}

func (w *fakeBackend) RenameList(_ context.Context, owner retwis.UserID, id retwis.ListID, name string) (*retwis.List, error) {
	err := w.begin("RenameList", id)
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	k, err := w.owned(owner, id)
	if err != nil {
		return nil, err
	}
	k.Name = name
	return k.copied(), nil
}

func (w *fakeBackend) DeleteList(_ context.Context, owner retwis.UserID, id retwis.ListID) error {
	err := w.begin("DeleteList", id)
	defer w.mu.Unlock()
	if err != nil {
		return err
	}
	k, err := w.owned(owner, id)
	if err == nil {
		k.Name = deleted
	}
	return err
}

func (w *fakeBackend) AddListMember(_ context.Context, owner retwis.UserID, id retwis.ListID, user retwis.UserID) error {
	err := w.begin("AddListMember", id, " ", user)
	defer w.mu.Unlock()
	if err != nil {
		return err
	}
	if w.user(user) == nil {
		return retwis.ErrUserNotFound
	}
	k, err := w.owned(owner, id)
	if err == nil {
		k.add(user)
	}
	return err
}

func (w *fakeBackend) RemoveListMember(_ context.Context, owner retwis.UserID, id retwis.ListID, user retwis.UserID) error {
	err := w.begin("RemoveListMember", id, " ", user)
	defer w.mu.Unlock()
	if err != nil {
		return err
	}
	k, err := w.owned(owner, id)
	if err == nil {
		k.members = slices.DeleteFunc(k.members, func(m member) bool { return m.user == user })
	}
	return err
}

func (w *fakeBackend) Lists(_ context.Context, ids []retwis.ListID) ([]*retwis.List, error) {
	err := w.begin("Lists", len(ids))
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	found := make([]*retwis.List, len(ids))
	for i, id := range ids {
		if k := w.list(id); k != nil {
			found[i] = k.copied()
		}
	}
	return found, nil
}

func (w *fakeBackend) ListPage(_ context.Context, owner retwis.UserID, page retwis.Page) (retwis.ListPage, error) {
	err := w.begin("ListPage", page.First, " ", page.Last)
	defer w.mu.Unlock()
	if err != nil {
		return retwis.ListPage{}, err
	}
	var all []retwis.ListEdge
	for _, k := range w.lists {
		if k.OwnerID == owner && k.Name != deleted {
			all = append(all, retwis.ListEdge{Cursor: listCursor(k), List: k.copied()})
		}
	}
	found, more, err := cut(all, page, func(e retwis.ListEdge) retwis.Cursor { return e.Cursor })
	return retwis.ListPage{Edges: found, HasNextPage: more.next, HasPreviousPage: more.previous}, err
}

func (w *fakeBackend) Memberships(_ context.Context, pairs []retwis.Membership) ([]bool, error) {
	err := w.begin("Memberships", len(pairs))
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	there := make([]bool, len(pairs))
	for i, pair := range pairs {
		there[i] = w.list(pair.List).has(pair.User)
	}
	return there, nil
}

func listCursor(k *kept) retwis.Cursor {
	return retwis.FollowPosition{
		Connection: retwis.FollowConnection{Kind: retwis.OwnLists, User: k.OwnerID},
		Score:      int64(k.ID / retwis.Buckets), User: retwis.UserID(k.ID),
	}.Cursor()
}

// membersOf returns the members of a list, and no users for other connections.
func (w *fakeBackend) membersOf(of retwis.FollowConnection) []retwis.Follow {
	k := w.list(retwis.ListID(of.User))
	if of.Kind != retwis.Members || k == nil {
		return nil
	}
	var all []retwis.Follow
	for _, m := range k.members {
		position := retwis.FollowPosition{Connection: of, Score: m.at.UnixMicro(), User: m.user}
		all = append(all, retwis.Follow{Cursor: position.Cursor(), User: w.user(m.user), FollowedAt: m.at})
	}
	return all
}
