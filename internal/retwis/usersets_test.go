package retwis

import (
	"errors"
	"testing"
)

func FuzzUserSetCursor(f *testing.F) {
	f.Add(int64(1025), int64(2049), int64(25_000_000_000_000), int64(3073), 0, byte('A'))
	f.Add(int64(1), int64(1), int64(0), int64(1), 7, byte('='))
	f.Fuzz(func(t *testing.T, of, with, score, user int64, at int, by byte) {
		if min(of, with, score, user) < 0 {
			return
		}
		for _, set := range []UserSet{
			CommonFollowers(UserID(of), UserID(with)),
			KnownFollowers(UserID(of), UserID(with)),
		} {
			position := UserSetPosition{Set: set, Score: score, User: UserID(user)}
			cursor := position.Cursor()
			if got, err := cursor.UserSetPosition(set); err != nil || got != position {
				t.Fatalf("%+v is read back as %+v, %v", position, got, err)
			}
			for _, foreign := range []UserSet{
				{set.Kind ^ 3, set.Of, set.With},
				{set.Kind, set.Of ^ 1, set.With},
				{set.Kind, set.Of, set.With ^ 1},
				{},
			} {
				wantBadUserSetCursor(t, cursor, foreign)
			}
			wantBadTimelineCursor(t, cursor, Home(UserID(of)))
			wantBadFollowCursor(t, cursor, FollowConnection{Followers, UserID(of)})
			for _, mangled := range mangle(cursor, at, by) {
				wantBadUserSetCursor(t, mangled, set)
			}
		}
	})
}

func wantBadUserSetCursor(t *testing.T, cursor Cursor, of UserSet) {
	t.Helper()
	if got, err := cursor.UserSetPosition(of); !errors.Is(err, ErrBadCursor) || got != (UserSetPosition{}) {
		t.Fatalf("cursor %q is read as %+v, %v", cursor, got, err)
	}
}
