package retwis

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFindLinks(t *testing.T) {
	tests := []struct {
		text string
		want string // the text with brackets around its links
	}{
		{"nothing", "nothing"},
		{"", ""},
		{"http://example.com", "[http://example.com]"},
		{"see https://example.com/a?b=c&d=%20#e for more", "see [https://example.com/a?b=c&d=%20#e] for more"},
		{"HTTPS://Example.COM/A", "[HTTPS://Example.COM/A]"},
		{"two: http://a.de, https://b.de.", "two: [http://a.de], [https://b.de]."},
		{"(https://example.com) https://example.com/a_(b) (https://example.com/a_(b))",
			"([https://example.com]) [https://example.com/a_(b)] ([https://example.com/a_(b)])"},
		{"[https://example.com] \"https://example.com\" <https://example.com>", "[[https://example.com]] \"[https://example.com]\" <[https://example.com]>"},
		{"“https://example.com” «https://example.com» https://example.com…", "“[https://example.com]” «[https://example.com]» [https://example.com]…"},
		{"看https://例え.jp/道。", "看https://例え.jp/道。"},
		{"看 https://例え.jp/道。好", "看 [https://例え.jp/道]。好"},
		{"👩‍👩‍👧 https://a.de/é!", "👩‍👩‍👧 [https://a.de/é]!"},
		{"https://example.com:8080/@ann/1", "[https://example.com:8080/@ann/1]"},
		{"https://example.com:port", "https://example.com:port"},
		{"https://localhost/ http://intranet", "https://localhost/ http://intranet"},
		{"https://user@example.com https://user:secret@example.com", "https://user@example.com https://user:secret@example.com"},
		{"javascript://example.com ftp://example.com xhttps://example.com", "javascript://example.com ftp://example.com xhttps://example.com"},
		{"http:// https://. http://..de https://a..de https://-", "http:// https://. http://..de https://a..de https://-"},
		{"https://a.de/https://b.de", "[https://a.de/https://b.de]"},
		{"https://a.de\u200dhttps://b.de", "[https://a.de]\u200d[https://b.de]"},
		{"https://a.de/\u200b", "[https://a.de/]\u200b"},
		{"https://a%zz.de https://a.de/%zz", "https://a%zz.de https://a.de/%zz"},
	}
	for _, tt := range tests {
		if got := bracketed(tt.text, FindLinks(tt.text)); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// bracketed returns the text with brackets around its links.
func bracketed(text string, links []LinkRange) string {
	var b strings.Builder
	points, end := []rune(text), 0
	for _, link := range links {
		b.WriteString(string(points[end:link.Start]) + "[" + link.URL + "]")
		end = link.End
	}
	return b.String() + string(points[end:])
}

func FuzzFindLinks(f *testing.F) {
	f.Add("see https://example.com/(a), http://é.de. @ann")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		points, end := []rune(text), 0
		for _, link := range FindLinks(text) {
			if link.Start < end || link.End <= link.Start || link.End > len(points) {
				t.Fatalf("%q: %+v behind %d", text, link, end)
			}
			end = link.End
			if string(points[link.Start:end]) != link.URL {
				t.Errorf("%q: %+v", text, link)
			}
			if lower := strings.ToLower(link.URL); !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") {
				t.Errorf("%q: %q", text, link.URL)
			}
			if again := FindLinks(link.URL); len(again) != 1 || again[0].URL != link.URL {
				t.Errorf("%q alone is not a link: %+v", link.URL, again)
			}
		}
	})
}
