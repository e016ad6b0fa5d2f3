package retwis

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the list
	"sort"
	"strings"
)

// commonHashes are the first bytes of the SHA-256 of the 10 000 most common passwords of the minimum length, sorted.
// scripts/common-passwords writes the file. The list is that of the npm package @zxcvbn-ts/language-common 3.0.4, Copyright
// (c) 2012-2016 Dan Wheeler and Dropbox, Inc., MIT licence.
//
//go:embed commonpasswords.bin
var commonHashes string

const commonHashLength = 5

// NewPassword is [NormalizePassword] for a password that a user chooses. It also refuses common passwords, in any case, and
// those that repeat one character.
func NewPassword(field, password string) (string, error) {
	form, err := NormalizePassword(field, password)
	if err != nil {
		return "", err
	}
	if isCommonPassword(form) {
		return "", FieldError(CodeInvalid, field, "this password is too common: choose one that others do not use")
	}
	return form, nil
}

// isCommonPassword reports whether a password in its normal form is a common one.
func isCommonPassword(form string) bool {
	folded := strings.ToLower(form)
	if first := string([]rune(folded)[:1]); strings.Repeat(first, len(folded)/len(first)) == folded {
		return true
	}
	sum := sha256.Sum256([]byte(folded))
	prefix := sum[:commonHashLength]
	at := func(i int) []byte { return []byte(commonHashes[i*commonHashLength : (i+1)*commonHashLength]) }
	count := len(commonHashes) / commonHashLength
	i := sort.Search(count, func(i int) bool { return bytes.Compare(at(i), prefix) >= 0 })
	return i < count && bytes.Equal(at(i), prefix)
}
