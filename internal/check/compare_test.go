package check

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

func TestCompareTimeline(t *testing.T) {
	t.Parallel()
	const (
		reader, author, stranger = retwis.UserID(1), retwis.UserID(2), retwis.UserID(3)
		late                     = 2
	)
	type ids = []retwis.PostID
	posted := map[retwis.UserID][]retwis.PostID{author: {90, 80, 70, 60, 50}, reader: {85}}
	records := map[retwis.PostID]record.Post{
		75: {There: true, Author: author, Deleted: true},
		76: {There: true, Author: stranger},
		77: {There: true, Author: stranger, Deleted: true},
	}
	for by, posts := range posted {
		for _, post := range posts {
			records[post] = record.Post{There: true, Author: by}
		}
	}
	tests := []struct {
		name    string
		end     record.ListEnd
		entries ids
		awaited ids
		want    map[Kind]ids
	}{
		{"complete", record.ListComplete, ids{90, 85, 80, 70, 60, 50}, nil, nil},
		{"in another order of arrival", record.ListComplete, ids{85, 90, 80, 70, 60, 50}, nil, nil},
		{"with deleted posts", record.ListComplete, ids{75, 90, 85, 80, 77, 70, 60, 50}, nil, nil},
		{"being built", record.ListBuilding, ids{90}, nil, nil},
		{"not there", record.ListMissing, nil, nil, nil},
		{"empty", record.ListComplete, nil, nil, map[Kind]ids{Missing: {50, 60, 70, 80, 85, 90}}},
		{"one missing", record.ListComplete, ids{90, 80, 70, 60, 50}, nil, map[Kind]ids{Missing: {85}}},
		{"one that its reader will put there", record.ListComplete, ids{85, 80, 70, 60, 50}, ids{90}, nil},
		{"the oldest missing", record.ListComplete, ids{90, 85, 80, 70, 60}, nil, map[Kind]ids{Missing: {50}}},
		{"trimmed", record.ListTrimmed, ids{90, 85, 80, 70}, nil, nil},
		{"trimmed, one missing", record.ListTrimmed, ids{90, 80, 70, 60}, nil, map[Kind]ids{Missing: {85}}},
		{"trimmed, a late one at the end", record.ListTrimmed, ids{90, 85, 80, 50}, nil, nil},
		{"no post", record.ListComplete, ids{5, 90, 85, 80, 70, 60, 50}, nil, map[Kind]ids{Extra: {5}}},
		{"a stranger's", record.ListComplete, ids{90, 85, 80, 76, 70, 60, 50}, nil, map[Kind]ids{Extra: {76}}},
		{"doubled", record.ListComplete, ids{70, 90, 85, 70, 80, 70, 60, 50}, nil, map[Kind]ids{Duplicate: {70, 70}}},
		{"out of order", record.ListComplete, ids{50, 90, 85, 80, 70, 60}, nil, map[Kind]ids{OutOfOrder: {50}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := record.Timeline{
				ID: retwis.Home(reader), End: tt.end, Entries: tt.entries, Awaited: tt.awaited,
				Sources: map[retwis.UserID]int64{author: 7},
			}
			var got map[Kind]ids
			for _, f := range compareTimeline(r, evidence{posted, records}, late) {
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
