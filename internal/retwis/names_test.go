package retwis

import (
	"strings"
	"testing"
)

func TestCheckUsername(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ada", "Ada_Lovelace", "___", "007", strings.Repeat("z", 20), "administrate", "rooted", "retwist", "modern"} {
		if err := CheckUsername(name); err != nil {
			t.Errorf("CheckUsername(%q) = %v", name, err)
		}
		if !IsUsername(name) {
			t.Errorf("%q is not a username", name)
		}
	}
	for _, tt := range []struct {
		name string
		code Code
	}{
		{"", CodeBlank},
		{" \t", CodeBlank},
		{"ab", CodeTooShort},
		{strings.Repeat("z", 21), CodeTooLong},
		{strings.Repeat("é", 100_000), CodeTooLong},
		{"a b", CodeInvalid},
		{" ada", CodeInvalid},
		{"ada\n", CodeInvalid},
		{"ada-l", CodeInvalid},
		{"a.b", CodeInvalid},
		{"@ada", CodeInvalid},
		{"émile", CodeInvalid},
		{"аda", CodeInvalid}, // the first letter is Cyrillic
		{"a\xffa", CodeInvalid},
		{"ada\u200d", CodeInvalid},
		{"a\x00a", CodeInvalid},
		{"admin", CodeTaken},
		{"RetWis", CodeTaken},
		{"GraphQL", CodeTaken},
		{"healthz", CodeTaken},
		{"viewer", CodeTaken},
		{"Administrators", CodeTaken},
		{"adm1n", CodeTaken},
		{"_A_d_m_i_n_", CodeTaken},
		{"AdmIn", CodeTaken}, // the fourth letter is a capital i
		{"adrnin", CodeTaken},
		{"r00t", CodeTaken},
		{"5upp0rt", CodeTaken},
		{"retw1s", CodeTaken},
		{"Retvvis", CodeTaken},
		{"RETWIS_Support", CodeTaken},
		{"admin_retwis", CodeTaken},
		{"retwis_help", CodeTaken},
		{"retwis_retwis", CodeTaken},
	} {
		wantUserError(t, CheckUsername(tt.name), tt.code, "username", "")
		if got, want := IsUsername(tt.name), tt.code == CodeTaken; got != want {
			t.Errorf("IsUsername(%q) = %t", tt.name, got)
		}
	}
}

func TestFoldUsername(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Ada_L0velace": "ada_l0velace",
		"XYZ":          "xyz",
		"\u212ait":     "\u212ait", // the Kelvin sign is not a k
		"İda":          "İda",
		"":             "",
	} {
		if got := FoldUsername(name); got != want {
			t.Errorf("FoldUsername(%q) = %q, want %q", name, got, want)
		}
	}
}

func FuzzUsername(f *testing.F) {
	for _, seed := range []string{"ada", "Ada_1", "ADMIN", "\u212aelvin", "ab", "a b", "\xff\xff\xff", strings.Repeat("a", 21)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		folded := FoldUsername(name)
		if again := FoldUsername(folded); again != folded {
			t.Fatalf("%q folds to %q, then to %q", name, folded, again)
		}
		if IsUsername(folded) != IsUsername(name) {
			t.Fatalf("only one of %q and %q is a username", name, folded)
		}
		if (CheckUsername(folded) == nil) != (CheckUsername(name) == nil) {
			t.Fatalf("only one of %q and %q passes CheckUsername", name, folded)
		}
		if CheckUsername(name) == nil && !IsUsername(name) {
			t.Fatalf("%q passes CheckUsername but not IsUsername", name)
		}
		if IsUsername(name) && strings.ToLower(name) != folded {
			t.Fatalf("%q folds to %q", name, folded)
		}
	})
}

func TestStartsUsername(t *testing.T) {
	t.Parallel()
	for prefix, want := range map[string]bool{
		"a": true, "_": true, "9Z": true, strings.Repeat("x", MaxUsernameLength): true,
		"": false, " ": false, "@a": false, "a ": false, "a\xff": false, "é": false, "a\n": false,
		strings.Repeat("x", MaxUsernameLength+1): false,
	} {
		if got := StartsUsername(prefix); got != want {
			t.Errorf("a name may begin with %q: %t, want %t", prefix, got, want)
		}
	}
}

// The first segment of every path of the app and the API is reserved.
func TestCheckUsername_RefusesPaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"api", "assets", "graphql", "healthz", "login", "metrics", "playground", "post", "public", "readyz", "settings",
	} {
		wantUserError(t, CheckUsername(name), CodeTaken, "username", "")
	}
}
