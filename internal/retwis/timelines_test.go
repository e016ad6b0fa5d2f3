package retwis

import "testing"

func TestTimelineID_VisibleTo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		timeline TimelineID
		reader   UserID
		want     bool
	}{
		{"a home to its owner", Home(7), 7, true},
		{"a home to another user", Home(7), 8, false},
		{"a home to an anonymous reader", Home(7), 0, false},
		{"a home without owner to an anonymous reader", Home(0), 0, false},
		{"a profile to an anonymous reader", Profile(7), 0, true},
		{"the public timeline to an anonymous reader", Public(), 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.timeline.VisibleTo(tt.reader); got != tt.want {
				t.Errorf("VisibleTo(%s) of %s = %t", tt.reader, tt.timeline, got)
			}
		})
	}
}

func FuzzParseTimelineID(f *testing.F) {
	for _, seed := range []string{"", "p", "p1", "h", "h1", "u1024", "h01", "u0", "u-1", "x1", "H1", "h1 ", "hu1", "h9007199254740992"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseTimelineID(s)
		if err != nil {
			if id != (TimelineID{}) {
				t.Fatalf("%q is refused, and read as %v", s, id)
			}
			return
		}
		if id.String() != s {
			t.Fatalf("%q and %q both name %v", s, id, id)
		}
		if (id.Kind == PublicTimeline) != (id.Owner == 0) {
			t.Fatalf("%q is read as %v", s, id)
		}
	})
}

func FuzzTimelineIDRoundTrip(f *testing.F) {
	f.Add(int64(1))
	f.Add(int64(maxUserID - 1))
	f.Fuzz(func(t *testing.T, n int64) {
		if n <= 0 || n >= maxUserID {
			return
		}
		for _, id := range []TimelineID{Home(UserID(n)), Profile(UserID(n)), Public()} {
			if got, err := ParseTimelineID(id.String()); err != nil || got != id {
				t.Fatalf("%v is written %q and read back as %v, %v", id, id, got, err)
			}
		}
	})
}
