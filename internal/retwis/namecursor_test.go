package retwis

import (
	"errors"
	"strings"
	"testing"
)

func FuzzNameCursor(f *testing.F) {
	f.Add("ann", 2, 0, byte('A'))
	f.Add("ANN_0", 5, 3, byte('='))
	f.Add("a2345678901234567890", 1, 9, byte('\n'))
	f.Fuzz(func(t *testing.T, name string, length, at int, by byte) {
		if !IsUsername(name) {
			return
		}
		cursor := NameCursor(name)
		prefix := name[:int(uint(length)%uint(len(name)+1))]
		if got, err := cursor.Name(strings.ToUpper(prefix)); err != nil || got != FoldUsername(name) {
			t.Fatalf("the cursor of %q is read back as %q, %v", name, got, err)
		}
		wantBadNameCursor(t, cursor, name+"0")
		wantBadNameCursor(t, cursor, "-"+prefix)
		wantBadTimelineCursor(t, cursor, Public())
		wantBadUserSetCursor(t, cursor, NewestUsers())
		for _, mangled := range mangle(cursor, at, by) {
			wantBadNameCursor(t, mangled, prefix)
		}
	})
}

func TestNameCursor_RefusesInvalidNames(t *testing.T) {
	t.Parallel()
	for name, letters := range map[string][]int64{
		"a gap":                   {'a', 0, 'n', 'n'},
		"upper case":              {'A', 'n', 'n'},
		"an invalid character":    {'a', ' ', 'n'},
		"a character beyond byte": {256 + 'a', 'n', 'n'},
		"too short":               {'a', 'n'},
		"nothing":                 {},
	} {
		all := make([]int64, MaxUsernameLength)
		copy(all, letters)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantBadNameCursor(t, seal(nameCursorKind, all...), "")
		})
	}
}

func wantBadNameCursor(t *testing.T, cursor Cursor, prefix string) {
	t.Helper()
	if got, err := cursor.Name(prefix); !errors.Is(err, ErrBadCursor) || got != "" {
		t.Fatalf("cursor %q is read as %q, %v", cursor, got, err)
	}
}
