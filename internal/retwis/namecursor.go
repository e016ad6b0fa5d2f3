package retwis

import "strings"

const nameCursorKind = 'n'

// NameCursor returns the cursor of a username in alphabetical order. It contains the name
// itself, so it remains valid after the account is deleted.
func NameCursor(username string) Cursor {
	letters := make([]int64, MaxUsernameLength) // padded with 0
	for i, letter := range []byte(FoldUsername(username)) {
		letters[i] = int64(letter)
	}
	return seal(nameCursorKind, letters...)
}

// Name decodes a cursor of [NameCursor] whose username begins with a prefix, regardless of
// case. Any other cursor is [ErrBadCursor].
func (c Cursor) Name(prefix string) (string, error) {
	letters, ok := c.open(nameCursorKind)
	if !ok || len(letters) != MaxUsernameLength {
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
