package graph

import (
	"encoding/base64"
	"testing"

	"retwis/internal/retwis"
)

func TestGlobalID_RoundTrips(t *testing.T) {
	t.Parallel()
	tests := []struct {
		plain string
		id    string
		want  any
	}{
		{"User:123", globalUserID(123), retwis.UserID(123)},
		{"Post:123", globalPostID(123), retwis.PostID(123)},
		{"Timeline:h123", globalTimelineID(retwis.Home(123)), retwis.Home(123)},
		{"Timeline:u123", globalTimelineID(retwis.Profile(123)), retwis.Profile(123)},
		{"Timeline:p", globalTimelineID(retwis.Public()), retwis.Public()},
		{"Timeline:m123", globalTimelineID(retwis.Mentions(123)), retwis.Mentions(123)},
		{"Timeline:l123", globalTimelineID(retwis.ListPosts(123)), retwis.ListPosts(123)},
		{"Timeline:t123", globalTimelineID(retwis.TagPosts(123)), retwis.TagPosts(123)},
		{"Tag:123", globalTagID(123), retwis.TagID(123)},
		{"List:123", globalListID(123), retwis.ListID(123)},
		{"Viewer:123", globalViewerID(123), retwis.Viewer{ID: 123}},
	}
	for _, tt := range tests {
		t.Run(tt.plain, func(t *testing.T) {
			if want := base64.RawURLEncoding.EncodeToString([]byte(tt.plain)); tt.id != want {
				t.Errorf("encoded as %q, want %q", tt.id, want)
			}
			if got := parseGlobalID(tt.id); got != tt.want {
				t.Errorf("decoded as %#v, want %#v", got, tt.want)
			}
		})
	}
}

func TestParseGlobalID_RefusesUnknownIDs(t *testing.T) {
	t.Parallel()
	for _, plain := range []string{
		"", ":", "User", "User:", "User:0", "User:01", "User:+1", "User:-1", "User: 1", "User:1 ", "User:1:2", "user:1",
		"User:9007199254740992", "Post:9223372036854775808", "Post:h1", "Timeline:", "Timeline:1", "Timeline:h", "Timeline:h0",
		"Timeline:x1", "Timeline:p1", "Viewer:", "Viewer:h1", "List:", "List:0", "List:l1", "Tag:", "Tag:t1", "Timeline:t", "Timeline:l", "Timeline:m0", "Query:1",
	} {
		if got := parseGlobalID(base64.RawURLEncoding.EncodeToString([]byte(plain))); got != nil {
			t.Errorf("%q is %#v", plain, got)
		}
	}
	id := globalUserID(12) // two bits of its last character are unused
	for _, spelled := range []string{
		"1", "User:1", id + "=", id + "\n", id[:4] + "\r\n" + id[4:], " " + id, id[:len(id)-1] + "j", id + id,
	} {
		if got := parseGlobalID(spelled); got != nil {
			t.Errorf("%q is %#v", spelled, got)
		}
	}
}

func FuzzGlobalID(f *testing.F) {
	for _, id := range []string{
		globalUserID(1), globalPostID(1), globalTimelineID(retwis.Public()), globalTimelineID(retwis.Home(7)), globalViewerID(1), globalListID(1), globalTagID(1), "VXNlcjox\n",
	} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		var again string
		switch v := parseGlobalID(id).(type) {
		case nil:
			return
		case retwis.UserID:
			again = globalUserID(v)
		case retwis.PostID:
			again = globalPostID(v)
		case retwis.TimelineID:
			again = globalTimelineID(v)
		case retwis.ListID:
			again = globalListID(v)
		case retwis.TagID:
			again = globalTagID(v)
		case retwis.Viewer:
			again = globalViewerID(v.ID)
		}
		if again != id {
			t.Errorf("%q and %q identify the same object", id, again)
		}
	})
}
