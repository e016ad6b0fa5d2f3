package retwis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MentionRange is an @name in a text.
type MentionRange struct {
	TextRange        // the @ is part of it
	Name      string // folded
}

// FindMentions returns the usernames that a text mentions by @name, in the order of the text. It ignores an @ that follows
// a letter, a digit or another character of an address or URL, and names whose length no username has.
func FindMentions(text string) []MentionRange {
	var mentions []MentionRange
	counted, codePoints := 0, 0 // the bytes counted so far, and their number of code points
	word, searched := 0, 0      // where the word of the last @ begins, and the bytes searched for it so far
	inURL := false              // whether the word is a URL
	for i := 0; i < len(text); i++ {
		if text[i] != '@' {
			continue
		}
		if space := strings.LastIndexFunc(text[searched:i], unicode.IsSpace); space >= 0 {
			_, size := utf8.DecodeRuneInString(text[searched+space:])
			word, inURL = searched+space+size, false
		}
		inURL = inURL || strings.Contains(text[max(word, searched-len("//")):i], "://")
		searched = i
		if inURL || !mentionMayBegin(text[word:i]) {
			continue
		}
		end := i + 1
		for end < len(text) && isNameByte(text[end]) {
			end++
		}
		name := FoldUsername(text[i+1 : end])
		if len(name) >= MinUsernameLength && len(name) <= MaxUsernameLength && mentionMayEnd(text[end:]) {
			start := codePoints + utf8.RuneCountInString(text[counted:i])
			counted, codePoints = end, start+end-i
			mentions = append(mentions, MentionRange{TextRange{start, codePoints}, name})
		}
		i = end - 1
	}
	return mentions
}

// MentionedNames returns the names that a text mentions, folded, each once, in the order of the text.
func MentionedNames(text string) []string {
	var names []string
	seen := map[string]bool{}
	for _, mention := range FindMentions(text) {
		if !seen[mention.Name] {
			seen[mention.Name] = true
			names = append(names, mention.Name)
		}
	}
	return names
}

// mentionMayBegin reports whether an @ may begin a mention that continues a word without ://. It may not inside an address or a
// URL.
func mentionMayBegin(word string) bool {
	const www = "www."
	if len(word) >= len(www) && strings.EqualFold(word[:len(www)], www) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(word)
	return word == "" || !unicode.In(last, unicode.Letter, unicode.Digit, unicode.Mark) && !strings.ContainsRune("_@.+-/%=&#~", last)
}

// mentionMayEnd reports whether a mention may end before this text. It may not before a letter
// of another script, another @, or a dot with a letter after it.
func mentionMayEnd(after string) bool {
	if len(after) >= 2 && after[0] == '.' && isNameByte(after[1]) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(after)
	return after == "" || next != '@' && !unicode.In(next, unicode.Letter, unicode.Digit, unicode.Mark)
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
