package check

import (
	"context"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"retwis/internal/retwis"
)

// Bounds of what a check remembers: at most 64 MB of entries and 16 MB of states.
const (
	maxRememberedEntries = 2 << 20 // of all profiles
	maxRememberedUsers   = 1 << 18
)

// remembered is a database that reads the profile and the state of an author once for many timelines. Later changes of
// them can cause findings that are none, and hide findings that are newer than the check. It is for first inspections,
// whose findings are confirmed with the database itself. Its methods are safe for concurrent use.
type remembered struct {
	Database
	maxEntries int // of all profiles

	mu       sync.Mutex
	profiles *simplelru.LRU[retwis.UserID, profile]
	entries  int                                 // of profiles
	deleted  *simplelru.LRU[retwis.UserID, bool] // users who were looked up
}

// profile holds the newest entries of an author, down to an id or to a number of them.
type profile struct {
	entries []retwis.Element // newest first
	downTo  retwis.PostID
}

func newRemembered(db Database, maxEntries int) *remembered {
	r := &remembered{Database: db, maxEntries: maxEntries}
	r.profiles, _ = simplelru.NewLRU(maxEntries, func(_ retwis.UserID, evicted profile) { // fails only if the size is not positive
		r.entries -= 1 + len(evicted.entries)
	})
	r.deleted, _ = simplelru.NewLRU[retwis.UserID, bool](maxRememberedUsers, nil)
	return r
}

// PostsDownTo implements [Database].
func (r *remembered) PostsDownTo(ctx context.Context, authors []retwis.UserID, downTo retwis.PostID, most int) (map[retwis.UserID][]retwis.Element, error) {
	posts := make(map[retwis.UserID][]retwis.Element, len(authors))
	var unknown []retwis.UserID
	r.mu.Lock()
	for _, author := range authors {
		known, ok := r.profiles.Get(author)
		switch {
		case !ok, known.downTo > downTo && len(known.entries) < most:
			unknown = append(unknown, author)
		case len(known.entries) > 0:
			posts[author] = known.entriesDownTo(downTo)
		}
	}
	r.mu.Unlock()
	if len(unknown) == 0 {
		return posts, nil
	}
	read, err := r.Database.PostsDownTo(ctx, unknown, downTo, most)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, author := range unknown {
		posts[author] = read[author]
		r.rememberLocked(author, profile{read[author], downTo})
	}
	return posts, nil
}

func (p profile) entriesDownTo(id retwis.PostID) []retwis.Element {
	n, _ := slices.BinarySearchFunc(p.entries, id, func(e retwis.Element, id retwis.PostID) int {
		if e.ID >= id {
			return -1
		}
		return 1
	})
	return p.entries[:n]
}

func (r *remembered) rememberLocked(author retwis.UserID, p profile) {
	r.profiles.Remove(author)
	r.profiles.Add(author, p)
	for r.entries += 1 + len(p.entries); r.entries > r.maxEntries; {
		r.profiles.RemoveOldest()
	}
}

// DeletedUsers implements [Database].
func (r *remembered) DeletedUsers(ctx context.Context, ids []retwis.UserID) ([]retwis.UserID, error) {
	var gone, unknown []retwis.UserID
	r.mu.Lock()
	for _, id := range ids {
		deleted, ok := r.deleted.Get(id)
		switch {
		case !ok:
			unknown = append(unknown, id)
		case deleted:
			gone = append(gone, id)
		}
	}
	r.mu.Unlock()
	read, err := r.Database.DeletedUsers(ctx, unknown)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range unknown {
		r.deleted.Add(id, slices.Contains(read, id))
	}
	return append(gone, read...), nil
}
