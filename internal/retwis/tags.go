package retwis

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// TagID identifies a hashtag. It has the form of a [UserID]. Its bucket, and so the partition, depends on the folded name.
type TagID int64

func (id TagID) String() string { return UserID(id).String() }

// Bucket returns the bucket of the hashtag, which determines the partition.
func (id TagID) Bucket() int { return UserID(id).Bucket() }

// CreatedAt returns the time at which the hashtag was created. It may be later by as many milliseconds as users, lists and hashtags of the
// partition were created in the same one, because no two of them have the same sequence number.
func (id TagID) CreatedAt() time.Time { return time.UnixMilli(int64(id / Buckets)).UTC() }

// ParseTagID parses the result of [TagID.String].
func ParseTagID(s string) (TagID, error) {
	id, err := ParseUserID(s)
	return TagID(id), err
}

// Tag is a hashtag. Its timeline has the posts whose texts contain it.
type Tag struct {
	ID   TagID
	Name string // as it was first spelled, without the #
}

// Limits of hashtags.
const (
	MaxTagLength = 50  // code points of a name
	maxTagBytes  = 200 // of a folded name, which may have more characters
	MaxPostTags  = 10  // different hashtags of a post that have it on their timelines
)

// HashtagRange is a #name in a text.
type HashtagRange struct {
	TextRange        // the # is part of it
	Name      string // as the text has it, without the #
	Folded    string // by [FoldTag]
}

// FindHashtags returns the hashtags of a text, in its order. A hashtag is a # and a name of letters, marks, digits and
// underscores of any script. The name contains a letter, and its first character is not a mark. FindHashtags ignores names
// that are too long, a # after a character of names or after #, & or /, and everything in the URLs of [FindLinks].
func FindHashtags(text string) []HashtagRange {
	if !strings.Contains(text, "#") {
		return nil
	}
	var found []HashtagRange
	links, before := FindLinks(text), ' '
	start := 0 // the number of code points before i
	for i, r := range text {
		if r == '#' && !isTagRune(before) && !strings.ContainsRune("#&/", before) {
			name := text[i+1:]
			if end := strings.IndexFunc(name, isNoTagRune); end >= 0 {
				name = name[:end]
			}
			end := start + 1 + utf8.RuneCountInString(name)
			for len(links) > 0 && links[0].End <= start {
				links = links[1:]
			}
			folded, ok := foldedTag(name)
			if ok && (len(links) == 0 || end <= links[0].Start) {
				found = append(found, HashtagRange{TextRange{start, end}, name, folded})
			}
		}
		before = r
		start++
	}
	return found
}

// FoldedBytes returns how many bytes of names [FindHashtags] has to fold by tables: all but ASCII. Some characters become eighteen.
func FoldedBytes(text string) int {
	total, inName := 0, false
	for _, r := range text {
		switch {
		case r == '#':
			inName = true
		case inName && !isTagRune(r):
			inName = false
		case inName && r >= utf8.RuneSelf:
			total += utf8.RuneLen(r)
		}
	}
	return total
}

// IndexedTags returns the hashtags of a text whose timelines receive the post: the first [MaxPostTags], each once, in the order
// of the text.
func IndexedTags(text string) []HashtagRange {
	var tags []HashtagRange
	seen := map[string]bool{}
	for _, tag := range FindHashtags(text) {
		if len(tags) == MaxPostTags {
			break
		}
		if !seen[tag.Folded] {
			seen[tag.Folded] = true
			tags = append(tags, tag)
		}
	}
	return tags
}

// ParseTagName returns the folded form of the name of a hashtag, which may begin with a #, and false if no hashtag has the name.
func ParseTagName(name string) (folded string, ok bool) {
	name = strings.TrimPrefix(name, "#")
	if len(name) > utf8.UTFMax*MaxTagLength || strings.ContainsFunc(name, isNoTagRune) {
		return "", false
	}
	return foldedTag(name)
}

// foldedTag returns the folded form of a name, and false if the name is too long, begins with a mark or has no letter.
func foldedTag(name string) (string, bool) {
	first, _ := utf8.DecodeRuneInString(name)
	if unicode.Is(unicode.M, first) || utf8.RuneCountInString(name) > MaxTagLength {
		return "", false
	}
	folded := FoldTag(name)
	if len(folded) > maxTagBytes || !strings.ContainsFunc(folded, unicode.IsLetter) {
		return "", false
	}
	return folded, true
}

// FoldTag returns the form in which names of hashtags are compared. It ignores case, compatibility forms such as full-width letters,
// and invisible characters, but not accents. This is NFKC_Casefold of the Unicode Standard, section 3.13.
func FoldTag(name string) string {
	for range 3 { // the second pass changes very few names, and the third one none
		folded := strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
				return -1
			}
			return r
		}, name)
		folded = norm.NFKC.String(strings.Map(smallCherokee, cases.Fold().String(norm.NFKC.String(folded))))
		if folded == name {
			break
		}
		name = folded
	}
	return name
}

// smallCherokee returns the small form of a Cherokee letter, and any other character unchanged. The library replaces each of the two
// forms by the other one.
func smallCherokee(r rune) rune {
	if unicode.Is(unicode.Cherokee, r) {
		return unicode.ToLower(r)
	}
	return r
}

func isTagRune(r rune) bool { return r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.N) }

func isNoTagRune(r rune) bool { return !isTagRune(r) }
