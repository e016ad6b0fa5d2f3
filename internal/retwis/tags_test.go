package retwis

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

func TestFindHashtags(t *testing.T) {
	long := strings.Repeat("é", MaxTagLength)
	tests := []struct {
		text string
		want []string
	}{
		{"no hashtag", nil},
		{"#go and #Redis!", []string{"go", "Redis"}},
		{"(#go) “#redis” #lua's\n#c", []string{"go", "redis", "lua", "c"}},
		{"#été #日本語 #हिन्दी #русский #한국어 #עברית", []string{"été", "日本語", "हिन्दी", "русский", "한국어", "עברית"}},
		{"#web_2 #2026 #_ #1st #x²", []string{"web_2", "1st", "x²"}},
		{"#go-lang #c++ #node.js", []string{"go", "c", "node"}},
		{"a#b été#b 1#b _#b 你#b", nil},
		{"##go #go#redis &#nbsp; path/#go", []string{"go"}},
		{"#️⃣ #️⃣go ✨#go", []string{"go"}},
		{"#ㅤ # go #", nil},
		{"#" + long + " #" + long + "e", []string{long}},
		{"#" + strings.Repeat("ﷺ", 10), nil},
		{"https://example.com/#go https://example.com/?#go #go", []string{"go"}},
		{"#https://example.com #http", []string{"http"}},
		{"https://example.com。#go", []string{"go"}},
		{"@ann#go #go@ann #@ann", []string{"go"}},
	}
	for _, tt := range tests {
		var got []string
		for _, tag := range FindHashtags(tt.text) {
			got = append(got, tag.Name)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestFindHashtags_CountsCodePoints(t *testing.T) {
	got := FindHashtags("👩‍👩‍👧 é #Go, https://é.de #été")
	want := []HashtagRange{{TextRange{8, 11}, "Go", "go"}, {TextRange{26, 30}, "été", "été"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestIndexedTags_AreTheFirstDifferentOnes(t *testing.T) {
	text := "#a #A"
	for i := range 12 {
		text += fmt.Sprintf(" #Tag%d #tag%d", i, i)
	}
	got := IndexedTags(text)
	if len(got) != MaxPostTags || got[0].Name != "a" || got[1].Name != "Tag0" || got[9].Name != "Tag8" {
		t.Errorf("got %+v", got)
	}
}

func TestFoldedBytes(t *testing.T) {
	for text, want := range map[string]int{"": 0, "été": 0, "#go été": 0, "#été été": 4, "#a-été": 0, "x #日本 #été": 10, "##é": 2} {
		if got := FoldedBytes(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestFoldTag(t *testing.T) {
	for _, same := range [][]string{
		{"go", "Go", "GO", "ＧＯ", "ℊo", "g\ufe0fo", "g\u034fo"},
		{"straße", "STRASSE", "Strasse"},
		{"été", "ÉTÉ", "e\u0301te\u0301"},
		{"σίσυφος", "ΣΊΣΥΦΟΣ"},
		{"ガ", "ｶﾞ"},
	} {
		for _, name := range same {
			if got, want := FoldTag(name), FoldTag(same[0]); got != want {
				t.Errorf("%q is %q, %q is %q", name, got, same[0], want)
			}
		}
	}
	if FoldTag("ete") == FoldTag("été") {
		t.Error("accents make no difference")
	}
}

func TestParseTagName(t *testing.T) {
	for name, want := range map[string]string{
		"go": "go", "#Go": "go", "été": "été", "": "", "#": "", "##go": "", "two words": "", "go!": "", "1": "", strings.Repeat("x", MaxTagLength+1): "",
		strings.Repeat("x", 1<<20): "", "\xff": "",
	} {
		if got, ok := ParseTagName(name); ok != (want != "") || ok && got != want {
			t.Errorf("%.60q: %q, %t", name, got, ok)
		}
	}
}

func TestFoldTag_IsStableForEveryCharacter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !isTagRune(r) {
			continue
		}
		folded := FoldTag(string(r))
		if again := FoldTag(folded); again != folded || !norm.NFKC.IsNormalString(folded) {
			t.Errorf("%q is %+q, and then %+q", r, folded, again)
		}
	}
}

func FuzzFindHashtags(f *testing.F) {
	f.Add("#Go #été a#b https://example.com/#x #ͅᾳ @ann#y ##z")
	f.Fuzz(func(t *testing.T, text string) {
		text, err := NormalizePostText(text)
		if err != nil {
			t.Skip()
		}
		points, end := []rune(text), 0
		links, mentions := FindLinks(text), FindMentions(text)
		for _, tag := range FindHashtags(text) {
			if tag.Start < end || tag.End > len(points) || string(points[tag.Start:tag.End]) != "#"+tag.Name {
				t.Errorf("%q: %+v", text, tag)
			}
			end = tag.End
			overlaps := func(r TextRange) bool { return r.Start < tag.End && tag.Start < r.End }
			if slices.ContainsFunc(links, func(l LinkRange) bool { return overlaps(l.TextRange) }) ||
				slices.ContainsFunc(mentions, func(m MentionRange) bool { return overlaps(m.TextRange) }) {
				t.Errorf("%q: %+v overlaps with %+v or %+v", text, tag, links, mentions)
			}
			if folded, ok := ParseTagName("#" + tag.Name); !ok || folded != tag.Folded || FoldTag(folded) != folded || len(folded) > maxTagBytes {
				t.Errorf("%q: the name of %+v is read as %q, %t", text, tag, folded, ok)
			}
		}
	})
}
