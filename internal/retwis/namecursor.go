package retwis

import "strings"

const nameCursorKind = 'n'

// NameCursor returns the cursor of a username in the order of names. It holds the name
// itself, so that it goes on working when the account is gone.
func NameCursor(username string) Cursor {
	letters := make([]int64, MaxUsernameLength) // the rest stays 0
	for i, letter := range []byte(FoldUsername(username)) {
		letters[i] = int64(letter)
	}
	return seal(nameCursorKind, letters...)
}

// Name decodes a cursor that [NameCursor] made of a name that begins with the prefix,
// both without regard to case. Any other cursor is [ErrBadCursor].
func (c Cursor) Name(prefix string) (string, error) {
	letters, ok := c.open(nameCursorKind, MaxUsernameLength)
	if !ok {
		return "", ErrBadCursor
	}
	var name strings.Builder
	for _, letter := range letters {
		if letter != 0 {
			name.WriteByte(byte(letter))
		}
	}
	if !IsUsername(name.String()) || NameCursor(name.String()) != c || !strings.HasPrefix(name.String(), FoldUsername(prefix)) {
		return "", ErrBadCursor
	}
	return name.String(), nil
}
