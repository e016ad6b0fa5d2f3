package retwis

import (
	"strings"
	"testing"
)

func TestSessionID_RoundTrips(t *testing.T) {
	t.Parallel()
	id := SessionIDOf(1025, SessionKey{Bucket: 1, Hash: "00ff"})
	back, err := ParseSessionID(id.String())
	if err != nil || back != id {
		t.Errorf("%s is read as %s, %v", id, back, err)
	}
	if other := SessionIDOf(1025, SessionKey{Bucket: 1, Hash: "00fe"}); other == id {
		t.Error("two sessions have the same id")
	}
	text := id.String()
	for _, bad := range []string{
		"", ".", "1025", "1025.", "." + text[5:], text + "0", text[:len(text)-1], "01025" + text[4:],
		strings.ToUpper(text[:len(text)-2]) + "AF", "1025." + strings.Repeat("z", 20), "-1." + text[5:],
	} {
		if got, err := ParseSessionID(bad); err == nil && got.String() != bad {
			t.Errorf("%q is read as %s", bad, got)
		} else if err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestCleanUserAgent(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"":                             "",
		"Mozilla/5.0 (X11; Linux)":     "Mozilla/5.0 (X11; Linux)",
		" \t a\r\nb\x00\x1b[0m  c \n":  "a b [0m c",
		"caf\u00e9 \u202eevil\u200b!":  "caf evil !",
		strings.Repeat("x", 70_000):    strings.Repeat("x", 256),
		strings.Repeat("x ", 70_000):   strings.Repeat("x ", 128)[:255],
		strings.Repeat("\xff", 70_000): "",
	} {
		if got := CleanUserAgent(agent); got != want {
			t.Errorf("%.40q becomes %q, want %q", agent, got, want)
		}
	}
}

func FuzzParseSessionID(f *testing.F) {
	f.Add(SessionIDOf(1025, SessionKey{Hash: "00ff"}).String())
	f.Add("1.0")
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := ParseSessionID(s); err == nil && id.String() != s {
			t.Errorf("%q is read as %s", s, id)
		}
	})
}

func FuzzCleanUserAgent(f *testing.F) {
	f.Add("Mozilla/5.0\x00 \u202e")
	f.Fuzz(func(t *testing.T, s string) {
		clean := CleanUserAgent(s)
		if len(clean) > maxUserAgent || strings.TrimSpace(clean) != clean || CleanUserAgent(clean) != clean {
			t.Errorf("%q becomes %q", s, clean)
		}
	})
}
