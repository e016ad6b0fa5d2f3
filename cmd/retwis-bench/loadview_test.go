package main

import "testing"

func TestLoadView_FitsItsLinesToTheTerminal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line  string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"▁▂▃▄▅", 5, "▁▂▃▄▅"},
		{"", 5, ""},
		{"any", 1, "…"},
	} {
		if got := fit(tt.line, tt.width); got != tt.want {
			t.Errorf("%q in %d columns is %q, want %q", tt.line, tt.width, got, tt.want)
		}
	}
	drawn := []string{"", "four", "▁▂▃▄▅"}
	for width, want := range map[int]int{80: 3, 5: 3, 4: 4, 2: 6} {
		if got := rows(drawn, width); got != want {
			t.Errorf("in %d columns they take %d rows, want %d", width, got, want)
		}
	}
}
