package retwis

import (
	"strings"
	"testing"
)

func TestElement_String(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		element Element
		text    string
		shown   PostID
	}{
		{Plain(1), "1", 1},
		{Plain(1_790_000_000_000_007_001), "1790000000000007001", 1_790_000_000_000_007_001},
		{Element{ID: 1_790_000_000_000_007_001, Author: 5, Answered: 6}, "1790000000000007001:5:6", 1_790_000_000_000_007_001},
		{Element{ID: 1_790_000_000_000_007_001, Author: 5, Reposted: 6}, "1790000000000007001~5~6", 6},
		{Element{ID: minContextID, Author: 1, Answered: 1}, "1000000000000000:1:1", minContextID},
	} {
		if got := tt.element.String(); got != tt.text {
			t.Errorf("%+v: %q, want %q", tt.element, got, tt.text)
		}
		if got, err := ParseElement(tt.text); err != nil || got != tt.element {
			t.Errorf("%q: %+v, %v", tt.text, got, err)
		}
		if got := tt.element.Shown(); got != tt.shown {
			t.Errorf("%q shows %s, want %s", tt.text, got, tt.shown)
		}
	}
}

func TestParseElement_RefusesOtherText(t *testing.T) {
	t.Parallel()
	const id = "1790000000000007001"
	for _, text := range []string{
		"", "0", "b", "-1", "01", " 1", "9223372036854775808", id + ":", id + ":5", id + ":5:", id + ":5:0", id + ":0:6", id + ":5:6:7", id + ":5~6",
		id + "~5:6", id + "~5~", id + "~05~6", id + "~5~-6", ":5:6", "0:5:6", id + ":9007199254740992:6", "999999999999999:5:6", "7~5~6",
	} {
		if got, err := ParseElement(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// Scripts recognise plain posts by their length.
func FuzzElement(f *testing.F) {
	f.Add("1790000000000007001")
	f.Add("1790000000000007001:5:6")
	f.Add("1790000000000007001~5~6")
	f.Add("1000000000000000:1:1")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseElement(text)
		if err != nil {
			return
		}
		if e.String() != text {
			t.Fatalf("%q and %q are the same element", text, e)
		}
		if plain := !strings.ContainsAny(text, ":~"); plain != (len(text) <= len("9223372036854775807")) {
			t.Fatalf("the length of %q does not show whether it is a plain post", text)
		}
		if !strings.HasPrefix(text, e.ID.String()) || !strings.Contains(text, e.Shown().String()) || e.ID <= 0 || e.Shown() <= 0 {
			t.Fatalf("%q: leading id %s, shows %s", text, e.ID, e.Shown())
		}
	})
}
