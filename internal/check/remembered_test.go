package check

import (
	"context"
	"slices"
	"testing"

	"retwis/internal/retwis"
)

// profiles is a database of profiles, which counts the profiles and states that are read.
type profiles struct {
	Database
	of    map[retwis.UserID][]retwis.Element
	reads int
}

func (p *profiles) PostsDownTo(_ context.Context, authors []retwis.UserID, downTo retwis.PostID, most int) (map[retwis.UserID][]retwis.Element, error) {
	found := map[retwis.UserID][]retwis.Element{}
	for _, author := range authors {
		p.reads++
		for _, e := range p.of[author] {
			if e.ID >= downTo && len(found[author]) < most {
				found[author] = append(found[author], e)
			}
		}
	}
	return found, nil
}

func (p *profiles) DeletedUsers(_ context.Context, ids []retwis.UserID) ([]retwis.UserID, error) {
	p.reads += len(ids)
	return slices.DeleteFunc(slices.Clone(ids), func(id retwis.UserID) bool { return p.of[id] != nil }), nil
}

func TestRemembered_ReadsProfilesAgainOnlyForOlderPosts(t *testing.T) {
	t.Parallel()
	db := &profiles{of: map[retwis.UserID][]retwis.Element{1: plain(9, 7, 5, 3), 2: plain(8)}}
	r := newRemembered(db, 100)
	for _, step := range []struct {
		downTo retwis.PostID
		most   int
		want   []retwis.Element // of user 1
		reads  int
	}{
		{downTo: 6, most: 10, want: plain(9, 7), reads: 2},
		{downTo: 7, most: 10, want: plain(9, 7), reads: 2},
		{downTo: 8, most: 10, want: plain(9), reads: 2},
		{downTo: 10, most: 10, want: nil, reads: 2},
		{downTo: 4, most: 10, want: plain(9, 7, 5), reads: 4},
		{downTo: 0, most: 3, want: plain(9, 7, 5), reads: 5}, // user 1 has as many as are asked for
		{downTo: 0, most: 10, want: plain(9, 7, 5, 3), reads: 6},
	} {
		got, err := r.PostsDownTo(t.Context(), []retwis.UserID{1, 2}, step.downTo, step.most)
		if err != nil || !slices.Equal(got[1], step.want) || db.reads != step.reads {
			t.Errorf("down to %d, %d at most: %v, %v after %d reads, want %v after %d", step.downTo, step.most, got[1], err, db.reads, step.want, step.reads)
		}
	}
}

func TestRemembered_ReadsStatesOnce(t *testing.T) {
	t.Parallel()
	db := &profiles{of: map[retwis.UserID][]retwis.Element{1: {}}}
	r := newRemembered(db, 100)
	for _, ids := range [][]retwis.UserID{{1, 2}, {2, 1}, {2}} {
		if gone, err := r.DeletedUsers(t.Context(), ids); err != nil || !slices.Equal(gone, []retwis.UserID{2}) {
			t.Errorf("of %v, %v are deleted (%v), want user 2", ids, gone, err)
		}
	}
	if db.reads != 2 {
		t.Errorf("%d states were read, want 2", db.reads)
	}
}

func TestRemembered_IsBounded(t *testing.T) {
	t.Parallel()
	db := &profiles{of: map[retwis.UserID][]retwis.Element{}}
	r := newRemembered(db, 10)
	for author := retwis.UserID(1); author <= 20; author++ {
		db.of[author] = plain(3, 2, 1)
		if _, err := r.PostsDownTo(t.Context(), []retwis.UserID{author}, 0, 100); err != nil {
			t.Fatal(err)
		}
	}
	if r.entries != 8 || r.profiles.Len() != 2 {
		t.Errorf("%d entries of %d authors are remembered, want 8 of the last two", r.entries, r.profiles.Len())
	}
	if _, err := r.PostsDownTo(t.Context(), []retwis.UserID{1, 20}, 0, 100); err != nil || db.reads != 21 {
		t.Errorf("%d profiles were read (%v), want 20 and that of the first author again", db.reads, err)
	}
}
