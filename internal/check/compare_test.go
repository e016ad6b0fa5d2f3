package check

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

func TestCompareTimeline_FindsDifferencesFromDefinition(t *testing.T) {
	t.Parallel()
	const (
		reader, author, stranger = retwis.UserID(1), retwis.UserID(2), retwis.UserID(3)
		late                     = 2
	)
	type ids = []retwis.PostID
	posted := map[retwis.UserID][]retwis.Element{author: plain(90, 80, 70, 60, 50), reader: plain(85)}
	records := map[retwis.PostID]record.Post{
		75: {Exists: true, Author: author, Deleted: true},
		76: {Exists: true, Author: stranger},
		77: {Exists: true, Author: stranger, Deleted: true},
	}
	for by, posts := range posted {
		for _, post := range posts {
			records[post.ID] = record.Post{Exists: true, Author: by}
		}
	}
	tests := []struct {
		name    string
		end     record.ListEnd
		entries ids
		awaited ids
		want    map[Kind]ids
	}{
		{"complete list", record.ListComplete, ids{90, 85, 80, 70, 60, 50}, nil, nil},
		{"other order of arrival", record.ListComplete, ids{85, 90, 80, 70, 60, 50}, nil, nil},
		{"deleted posts are ignored", record.ListComplete, ids{75, 90, 85, 80, 77, 70, 60, 50}, nil, nil},
		{"list under construction is ignored", record.ListBuilding, ids{90}, nil, nil},
		{"missing list is ignored", record.ListMissing, nil, nil, nil},
		{"empty list lacks all posts", record.ListComplete, nil, nil, map[Kind]ids{Missing: {50, 60, 70, 80, 85, 90}}},
		{"post missing", record.ListComplete, ids{90, 80, 70, 60, 50}, nil, map[Kind]ids{Missing: {85}}},
		{"post that the next reader merges is not missing", record.ListComplete, ids{85, 80, 70, 60, 50}, ids{90}, nil},
		{"oldest post missing", record.ListComplete, ids{90, 85, 80, 70, 60}, nil, map[Kind]ids{Missing: {50}}},
		{"trimmed list lacks old posts", record.ListTrimmed, ids{90, 85, 80, 70}, nil, nil},
		{"trimmed list lacks a new post", record.ListTrimmed, ids{90, 80, 70, 60}, nil, map[Kind]ids{Missing: {85}}},
		{"trimmed list with a late post at the end", record.ListTrimmed, ids{90, 85, 80, 50}, nil, nil},
		{"entry without a post", record.ListComplete, ids{5, 90, 85, 80, 70, 60, 50}, nil, map[Kind]ids{Extra: {5}}},
		{"post of an unfollowed author", record.ListComplete, ids{90, 85, 80, 76, 70, 60, 50}, nil, map[Kind]ids{Extra: {76}}},
		{"post held three times", record.ListComplete, ids{70, 90, 85, 70, 80, 70, 60, 50}, nil, map[Kind]ids{Duplicate: {70, 70}}},
		{"post out of order", record.ListComplete, ids{50, 90, 85, 80, 70, 60}, nil, map[Kind]ids{OutOfOrder: {50}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := record.Timeline{
				ID: retwis.Home(reader), End: tt.end, Entries: plain(tt.entries...), Pending: plain(tt.awaited...),
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

// plain returns the elements of plain posts.
func plain(ids ...retwis.PostID) []retwis.Element {
	var elements []retwis.Element
	for _, id := range ids {
		elements = append(elements, retwis.Plain(id))
	}
	return elements
}

// Attack: in a burst, users who had posted less were delivered first, and hundreds of older posts of others pushed their newest posts off full homes. The check
// reported those as missing, although pages show them.
func TestCompareTimeline_LeavesDisplacedPostsToPages(t *testing.T) {
	t.Parallel()
	const author, late = retwis.UserID(2), 2
	posts := plain(90, 85, 80, 70, 60, 50, 40)
	records := map[retwis.PostID]record.Post{}
	for _, post := range posts {
		records[post.ID] = record.Post{Exists: true, Author: author}
	}
	for end, missing := range map[record.ListEnd][]retwis.PostID{record.ListTrimmed: {90}, record.ListComplete: {90, 85, 40}} {
		r := record.Timeline{
			ID: retwis.Home(1), End: end, Entries: plain(80, 70, 60, 50), Displaced: 85, Sources: map[retwis.UserID]int64{author: 7},
		}
		var got []retwis.PostID
		for _, f := range compareTimeline(r, evidence{map[retwis.UserID][]retwis.Element{author: posts}, records}, late) {
			if f.Kind != Missing {
				t.Errorf("found %v", f)
			}
			got = append(got, f.Post)
		}
		slices.Sort(got)
		slices.Sort(missing)
		if !slices.Equal(got, missing) {
			t.Errorf("with end %v, the posts %v are missing, want %v", end, got, missing)
		}
	}
}
