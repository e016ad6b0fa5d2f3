package retwis

import (
	"slices"
	"strings"
	"testing"
)

func TestMentionedNames(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"hello @ann", []string{"ann"}},
		{"@Ann and @ann, @BOB!", []string{"ann", "bob"}},
		{"(@ann) “@bob” @cid's", []string{"ann", "bob", "cid"}},
		{"so says @ann.", []string{"ann"}},
		{"a line\n@ann", []string{"ann"}},
		{"mail ann@example.com or x.@example.com", nil},
		{"@ann.com @ann@example.com", nil},
		{"https://example.com/@ann www.example.com/@bob", nil},
		{"https://@ann https:/@ann/@bob WWW.!@cid", nil},
		{"https://example.com @ann www.!@bob @cid", []string{"ann", "cid"}},
		{"x:@//@ann ?@/!@bob", []string{"bob"}},
		{"path/@ann a=@bob me+@cid", nil},
		{"@an is too short, @" + strings.Repeat("x", 21) + " too long", nil},
		{"été@ann @annés @ann你", nil},
		{"@@ann #@bob", nil},
		{"@ann@bob", nil},
		{"no@", nil},
		{"@_a_ @123", []string{"_a_", "123"}},
	}
	for _, tt := range tests {
		if got := MentionedNames(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestFindMentions_CountsCodePoints(t *testing.T) {
	got := FindMentions("👩‍👩‍👧 é @Ann, @ann")
	want := []MentionRange{{TextRange{8, 12}, "ann"}, {TextRange{14, 18}, "ann"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Attack: a text of @ and combining marks was searched again for each @, which took 5 ms of a post for 113 points. A search of this
// one would not end.
func TestFindMentions_ReadsALongWordOnce(t *testing.T) {
	text := strings.Repeat("@\u0300!", 1<<20)
	if found := FindMentions(text + "@ann"); len(found) != 1 {
		t.Errorf("found %d mentions, want one", len(found))
	}
}

func FuzzMentionedNames(f *testing.F) {
	f.Add("@ann and bob@example.com, https://x.y/@z @Ünï")
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		for _, name := range MentionedNames(text) {
			if !IsUsername(name) || name != FoldUsername(name) || seen[name] {
				t.Errorf("%q: %q", text, name)
			}
			seen[name] = true
			if !strings.Contains(FoldUsername(text), "@"+name) {
				t.Errorf("%q is not in %q", name, text)
			}
		}
		points, end := []rune(text), 0
		for _, mention := range FindMentions(text) {
			if mention.Start < end || mention.End > len(points) || FoldUsername(string(points[mention.Start:mention.End])) != "@"+mention.Name {
				t.Errorf("%q: %+v", text, mention)
			}
			end = mention.End
		}
	})
}
