package check

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/retwis"
)

func TestOutOfOrder(t *testing.T) {
	t.Parallel()
	type ids = []retwis.PostID
	tests := []struct {
		name      string
		line, out ids
	}{
		{"nothing", nil, nil},
		{"one", ids{1}, nil},
		{"in order", ids{9, 7, 5, 1}, nil},
		{"two swapped", ids{9, 5, 7, 1}, ids{5}},
		{"the oldest on top", ids{1, 9, 7, 5}, ids{1}},
		{"the newest at the bottom", ids{7, 5, 1, 9}, ids{9}},
		{"one twice", ids{7, 7, 5}, ids{7}},
		{"upside down", ids{1, 2, 3}, ids{1, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := outOfOrder(tt.line); !slices.Equal(got, tt.out) {
				t.Errorf("%v, want %v", got, tt.out)
			}
		})
	}
}

// What is left without the posts out of order descends, and no smaller number of them
// would do, by trying all.
func TestOutOfOrderIsAsLittleAsPossible(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		line := make([]retwis.PostID, r.IntN(9))
		for i := range line {
			line[i] = retwis.PostID(1 + r.IntN(9))
		}
		least := len(line)
		for subset := range 1 << len(line) {
			var rest []retwis.PostID
			for i, post := range line {
				if subset>>i&1 == 1 {
					rest = append(rest, post)
				}
			}
			if descends(rest) {
				least = min(least, len(line)-len(rest))
			}
		}
		if got := outOfOrder(line); len(got) != least {
			t.Fatalf("%v: %v are out of order, and %d would do", line, got, least)
		}
	}
}

func descends(line []retwis.PostID) bool {
	for i := 1; i < len(line); i++ {
		if line[i] >= line[i-1] {
			return false
		}
	}
	return true
}

func TestCompareTimeline(t *testing.T) {
	t.Parallel()
	const (
		reader, author, stranger = retwis.UserID(1), retwis.UserID(2), retwis.UserID(3)
		late                     = 2
	)
	type ids = []retwis.PostID
	posted := map[retwis.UserID][]retwis.PostID{author: {90, 80, 70, 60, 50}, reader: {85}}
	records := map[retwis.PostID]retwis.PostRecord{
		75: {There: true, Author: author, Deleted: true},
		76: {There: true, Author: stranger},
		77: {There: true, Author: stranger, Deleted: true},
	}
	for by, posts := range posted {
		for _, post := range posts {
			records[post] = retwis.PostRecord{There: true, Author: by}
		}
	}
	tests := []struct {
		name    string
		end     retwis.ListEnd
		entries ids
		awaited ids
		want    map[Kind]ids
	}{
		{"complete", retwis.ListComplete, ids{90, 85, 80, 70, 60, 50}, nil, nil},
		{"in another order of arrival", retwis.ListComplete, ids{85, 90, 80, 70, 60, 50}, nil, nil},
		{"with deleted posts", retwis.ListComplete, ids{75, 90, 85, 80, 77, 70, 60, 50}, nil, nil},
		{"being built", retwis.ListBuilding, ids{90}, nil, nil},
		{"not there", retwis.ListMissing, nil, nil, nil},
		{"empty", retwis.ListComplete, nil, nil, map[Kind]ids{Missing: {50, 60, 70, 80, 85, 90}}},
		{"one missing", retwis.ListComplete, ids{90, 80, 70, 60, 50}, nil, map[Kind]ids{Missing: {85}}},
		{"one that its reader will put there", retwis.ListComplete, ids{85, 80, 70, 60, 50}, ids{90}, nil},
		{"the oldest missing", retwis.ListComplete, ids{90, 85, 80, 70, 60}, nil, map[Kind]ids{Missing: {50}}},
		{"trimmed", retwis.ListTrimmed, ids{90, 85, 80, 70}, nil, nil},
		{"trimmed, one missing", retwis.ListTrimmed, ids{90, 80, 70, 60}, nil, map[Kind]ids{Missing: {85}}},
		{"trimmed, a late one at the end", retwis.ListTrimmed, ids{90, 85, 80, 50}, nil, nil},
		{"no post", retwis.ListComplete, ids{5, 90, 85, 80, 70, 60, 50}, nil, map[Kind]ids{Extra: {5}}},
		{"a stranger's", retwis.ListComplete, ids{90, 85, 80, 76, 70, 60, 50}, nil, map[Kind]ids{Extra: {76}}},
		{"doubled", retwis.ListComplete, ids{70, 90, 85, 70, 80, 70, 60, 50}, nil, map[Kind]ids{Doubled: {70, 70}}},
		{"out of order", retwis.ListComplete, ids{50, 90, 85, 80, 70, 60}, nil, map[Kind]ids{OutOfOrder: {50}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := retwis.TimelineRecord{
				ID: retwis.Home(reader), End: tt.end, Entries: tt.entries, Awaited: tt.awaited,
				Sources: map[retwis.UserID]int64{author: 7},
			}
			var got map[Kind]ids
			for _, f := range compareTimeline(r, known{posted, records}, late) {
				if got == nil {
					got = map[Kind]ids{}
				}
				got[f.Kind] = append(got[f.Kind], f.Post)
			}
			for _, posts := range got {
				slices.Sort(posts)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestWhatIsSeenAgainIsSure(t *testing.T) {
	t.Parallel()
	one := Finding{Kind: Extra, Post: 1, witness: "3", settles: true}
	other := one
	other.witness = "4"
	count := Finding{Kind: Count, User: 1, witness: "2"}
	tests := []struct {
		name          string
		before, after []Finding
		settled, last bool
		sure, open    int
	}{
		{"gone", []Finding{one}, nil, true, false, 0, 0},
		{"new", nil, []Finding{one}, true, false, 0, 0},
		{"the same", []Finding{one}, []Finding{one}, true, false, 1, 0},
		{"perhaps another", []Finding{one}, []Finding{other}, true, false, 0, 1},
		{"again and again", []Finding{one}, []Finding{other}, true, true, 1, 0},
		{"not settled", []Finding{one}, []Finding{one}, false, true, 0, 1},
		{"what needs no settling", []Finding{count}, []Finding{count}, false, false, 1, 0},
		{"one of two", []Finding{count, count}, []Finding{count}, true, false, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sure, open := compareLooks(tt.before, tt.after, tt.settled, tt.last)
			if len(sure) != tt.sure || len(open) != tt.open {
				t.Errorf("sure of %v, open %v", sure, open)
			}
		})
	}
}
