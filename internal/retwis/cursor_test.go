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
	f.Add(byte('h'), int64(1025), int64(3), int64(28_000_000_000_037_005), "1790000000000007001", int64(1_790_000_000_000), int64(2), true, "5", "", 0, byte('A'))
	f.Add(byte('u'), int64(1), int64(0), int64(0), "1790000000000007001:7:8", int64(0), int64(0), false, "1790000000000007001~7~5", "", 5, byte('\n'))
	f.Add(byte('p'), int64(0), int64(math.MaxInt64), int64(math.MaxInt64), "9223372036854775807", int64(math.MaxInt64), int64(math.MaxInt64), false,
		"9223372036854775807~9007199254740991~9223372036854775807", "9223372036854775807:9007199254740991:9007199254740991", 9, byte('='))
	f.Fuzz(func(t *testing.T, kind byte, owner, epoch, filter int64, element string, millis, seq int64, deep bool, older, oldest string, at int, with byte) {
		if min(owner, epoch, filter, millis, seq) < 0 {
			return
		}
		position := TimelinePosition{
			Timeline: TimelineID{TimelineKind(kind), UserID(owner)},
			Epoch:    epoch,
			Filter:   filter,
			Element:  elementOrZero(element),
			Deep:     deep,
			Change:   ChangeID{millis, seq},
			Older:    [CursorReserve]Element{elementOrZero(older), {}, elementOrZero(oldest)},
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
	f.Add(string(TimelinePosition{Timeline: Public(), Element: Plain(1)}.Cursor()))
	f.Add(string(FollowPosition{Connection: FollowConnection{Followers, 1}, Score: 2, User: 3}.Cursor()))
	f.Add(string(overlong()))
	f.Fuzz(func(t *testing.T, s string) {
		cursor := Cursor(s)
		if n, ok := cursor.open(timelineCursorKind); ok && seal(timelineCursorKind, n...) != cursor {
			t.Fatalf("%q and %q encode the same position", cursor, seal(timelineCursorKind, n...))
		}
		if n, ok := cursor.open(followCursorKind); ok && seal(followCursorKind, n...) != cursor {
			t.Fatalf("%q and %q encode the same position", cursor, seal(followCursorKind, n...))
		}
		position, err := cursor.TimelinePosition(Public())
		if err == nil && position.Cursor() != cursor {
			t.Fatalf("%q and %q encode the same position", cursor, position.Cursor())
		}
		if err != nil && !errors.Is(err, ErrBadCursor) {
			t.Fatalf("%q is refused with %v", s, err)
		}
	})
}

// elementOrZero parses an element. It returns the zero value for any other text.
func elementOrZero(s string) Element {
	e, _ := ParseElement(s)
	return e
}

func TestCursor_RefusesElementsThatNoListHolds(t *testing.T) {
	t.Parallel()
	const id = 1_790_000_000_000_007_001
	seal := func(shape int64, elements ...int64) Cursor {
		return seal(timelineCursorKind, append([]int64{int64(PublicTimeline), 0, 1, 2, 3, 4, shape}, elements...)...)
	}
	if _, err := seal(replyForm<<1|repostForm<<3, id, 5, 6, id, 7, id, 0, 0).TimelinePosition(Public()); err != nil {
		t.Fatal(err)
	}
	for name, cursor := range map[string]Cursor{
		"too few numbers":            seal(replyForm<<1, id, 5, 6, 0, 0),
		"too many numbers":           seal(0, id, 0, 0, 0, 0),
		"no numbers":                 seal(0),
		"unknown form":               seal(3<<1, id, 5, 6, 0, 0, 0),
		"fifth element":              seal(1<<9, id, 0, 0, 0),
		"reply without an author":    seal(replyForm<<1, id, 0, 6, 0, 0, 0),
		"reply to nobody":            seal(replyForm<<1, id, 5, 0, 0, 0, 0),
		"repost of nothing":          seal(repostForm<<1, id, 5, 0, 0, 0, 0),
		"reply with a short id":      seal(replyForm<<1, 7, 5, 6, 0, 0, 0),
		"reply by an unknown author": seal(replyForm<<1, id, maxUserID, 6, 0, 0, 0),
	} {
		if got, err := cursor.TimelinePosition(Public()); !errors.Is(err, ErrBadCursor) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestCursor_RefusesOtherSpellings(t *testing.T) {
	t.Parallel()
	wantBadTimelineCursor(t, "", Public())
	if n, ok := overlong().open(followCursorKind); ok {
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

// A cursor may be an argument of many connections, each of which opens it.
func TestCursor_RefusesLongOnesUnread(t *testing.T) {
	long := Cursor(strings.Repeat("AQEB", 60_000))
	if n := testing.AllocsPerRun(10, func() {
		if _, err := long.TimelinePosition(Home(7)); !errors.Is(err, ErrBadCursor) {
			t.Errorf("got %v", err)
		}
	}); n > 0 {
		t.Errorf("a long cursor costs %v allocations", n)
	}
}
