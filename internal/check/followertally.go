package check

import (
	"slices"
	"sync"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// followerTally compares, for each author, the number of stored followers with the number of homes that follow the author and
// are among these followers. If the numbers are equal, each stored follower follows the author. So the edges need to be read
// from one end only, where there are a few large sets: an author has a set of followers in each partition.
type followerTally struct {
	mu   sync.Mutex
	lack map[retwis.UserID]int // stored followers minus followers found
}

func newFollowerTally() *followerTally { return &followerTally{lack: map[retwis.UserID]int{}} }

// add adds the stored followers of a user, and the authors that the user follows by edges whose directions agree.
func (t *followerTally) add(r record.Account, followed []retwis.UserID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, stored := range r.FollowersIn {
		t.count(r.ID, stored)
	}
	for _, author := range followed {
		t.count(author, -1)
	}
}

func (t *followerTally) count(author retwis.UserID, n int) {
	if t.lack[author] += n; t.lack[author] == 0 {
		delete(t.lack, author)
	}
}

// differing returns the authors whose numbers differ, because of an error or of changes meanwhile; none without a tally.
func (t *followerTally) differing() []subject {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []subject
	for author := range t.lack {
		all = append(all, subject{user: author})
	}
	slices.SortFunc(all, func(a, b subject) int { return int(a.user - b.user) })
	return all
}
