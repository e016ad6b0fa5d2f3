package retwis

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"strings"
	"testing"
)

func FuzzTimelineCursor(f *testing.F) {
	f.Add(byte('h'), int64(1025), int64(3), int64(28_000_000_000_037_005), int64(1_790_000_000_000), int64(2), true, int64(5), int64(0), 0, byte('A'))
	f.Add(byte('u'), int64(1), int64(0), int64(0), int64(0), int64(0), false, int64(0), int64(0), 5, byte('\n'))
	f.Add(byte('p'), int64(0), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), false, int64(math.MaxInt64), int64(1), 9, byte('='))
	f.Fuzz(func(t *testing.T, kind byte, owner, generation, post, millis, seq int64, deep bool, older, oldest int64, at int, with byte) {
		if min(owner, generation, post, millis, seq, older, oldest) < 0 {
			return
		}
		position := TimelinePosition{
			Timeline: TimelineID{TimelineKind(kind), UserID(owner)},
			Epoch:    generation,
			Post:     PostID(post),
			Deep:     deep,
			Removal:  RemovalID{millis, seq},
			Older:    [CursorReserve]PostID{PostID(older), 0, PostID(oldest)},
		}
		cursor := position.Cursor()
		if got, err := cursor.TimelinePosition(position.Timeline); err != nil || got != position {
			t.Fatalf("%+v is read back as %+v, %v", position, got, err)
		}
		for _, foreign := range []TimelineID{
			{TimelineKind(kind + 1), UserID(owner)},
			{TimelineKind(kind), UserID(owner) ^ 1},
			{},
		} {
			if foreign != position.Timeline {
				wantBadTimelineCursor(t, cursor, foreign)
			}
		}
		wantBadFollowCursor(t, cursor, FollowConnection{FollowKind(kind), UserID(owner)})
		for _, mangled := range mangle(cursor, at, with) {
			wantBadTimelineCursor(t, mangled, position.Timeline)
		}
	})
}

func FuzzFollowCursor(f *testing.F) {
	f.Add(byte(Followers), int64(1025), int64(25_000_000_000_000), int64(2048), 0, byte('A'))
	f.Add(byte(Following), int64(1), int64(0), int64(1), 3, byte('\r'))
	f.Fuzz(func(t *testing.T, kind byte, user, score, other int64, at int, with byte) {
		if min(user, score, other) < 0 {
			return
		}
		position := FollowPosition{
			Connection: FollowConnection{FollowKind(kind), UserID(user)},
			Score:      score,
			User:       UserID(other),
		}
		cursor := position.Cursor()
		if got, err := cursor.FollowPosition(position.Connection); err != nil || got != position {
			t.Fatalf("%+v is read back as %+v, %v", position, got, err)
		}
		for _, foreign := range []FollowConnection{
			{FollowKind(kind ^ 3), UserID(user)},
			{FollowKind(kind), UserID(user) ^ 1},
		} {
			wantBadFollowCursor(t, cursor, foreign)
		}
		wantBadTimelineCursor(t, cursor, TimelineID{TimelineKind(kind), UserID(user)})
		for _, mangled := range mangle(cursor, at, with) {
			wantBadFollowCursor(t, mangled, position.Connection)
		}
	})
}

// FuzzCursor decodes arbitrary text. A text is a valid cursor by chance with a probability of
// one in four billion, but no cursor has a second spelling.
func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add("dGVzdA")
	f.Add(string(TimelinePosition{Timeline: Public(), Post: 1}.Cursor()))
	f.Add(string(FollowPosition{Connection: FollowConnection{Followers, 1}, Score: 2, User: 3}.Cursor()))
	f.Add(string(overlong()))
	f.Fuzz(func(t *testing.T, s string) {
		cursor := Cursor(s)
		if n, ok := cursor.open(timelineCursorKind, 7); ok && seal(timelineCursorKind, n...) != cursor {
			t.Fatalf("%q and %q encode the same position", cursor, seal(timelineCursorKind, n...))
		}
		if n, ok := cursor.open(followCursorKind, 4); ok && seal(followCursorKind, n...) != cursor {
			t.Fatalf("%q and %q encode the same position", cursor, seal(followCursorKind, n...))
		}
		_, err := cursor.TimelinePosition(Public())
		if err != nil && !errors.Is(err, ErrBadCursor) {
			t.Fatalf("%q is refused with %v", s, err)
		}
	})
}

func TestCursor_RefusesOtherSpellings(t *testing.T) {
	t.Parallel()
	wantBadTimelineCursor(t, "", Public())
	if n, ok := overlong().open(followCursorKind, 4); ok {
		t.Errorf("a cursor with an overlong number is read as %v", n)
	}
}

// overlong returns the cursor of a follow with its last number, 3, in two bytes.
func overlong() Cursor {
	plain, _ := base64.RawURLEncoding.DecodeString(string(seal(followCursorKind, 1, 1, 2, 3)))
	body := plain[:len(plain)-5] // without the 3 and the checksum
	body = append(body, 0x83, 0)
	return Cursor(base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(body, crc32.ChecksumIEEE(body))))
}

// mangle returns variants of a cursor with one position replaced, inserted, removed, cut, or
// changed in case, and with characters appended.
func mangle(cursor Cursor, at int, with byte) []Cursor {
	s := string(cursor)
	at = int(uint(at) % uint(len(s)))
	all := []string{
		s[:at] + string([]byte{with}) + s[at+1:],
		s[:at] + string([]byte{with}) + s[at:],
		s[:at] + s[at+1:],
		s[:at],
		s[at:],
		s[:at] + strings.ToUpper(s[at:]),
		s + string([]byte{with}),
		s + "=",
		s + "\n",
		s + s,
	}
	var mangled []Cursor
	for _, m := range all {
		if m != s {
			mangled = append(mangled, Cursor(m))
		}
	}
	return mangled
}

func wantBadTimelineCursor(t *testing.T, cursor Cursor, of TimelineID) {
	t.Helper()
	if got, err := cursor.TimelinePosition(of); !errors.Is(err, ErrBadCursor) || got != (TimelinePosition{}) {
		t.Fatalf("cursor %q is read as %+v, %v", cursor, got, err)
	}
}

func wantBadFollowCursor(t *testing.T, cursor Cursor, of FollowConnection) {
	t.Helper()
	if got, err := cursor.FollowPosition(of); !errors.Is(err, ErrBadCursor) || got != (FollowPosition{}) {
		t.Fatalf("cursor %q is read as %+v, %v", cursor, got, err)
	}
}
