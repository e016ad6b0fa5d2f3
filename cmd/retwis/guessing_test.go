package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"retwis/internal/auth"
	"retwis/internal/redistest"
)

// TestLogin_LimitsGuesses tries many passwords for an existing and for a missing username.
func TestLogin_LimitsGuesses(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL="+redistest.Server(t).URL(), "RETWIS_RATE_LIMITS=on", "RETWIS_TRUSTED_PROXIES=127.0.0.1",
		"RETWIS_LIMIT_LOGINS=10/24h")) // no budget returns during the test
	register(t, p.url, "victim")
	const login = `mutation ($name: String!, $password: String!) {
		login(input: {username: $name, password: $password}) { token userErrors { code message } } }`
	answers := map[string][]string{}
	for n, name := range []string{"victim", "nobody_here"} {
		for i := range 30 {
			// Each guess comes from another network.
			address := fmt.Sprintf("X-Forwarded-For: 203.%d.%d.9", n, i)
			got, a := newClient(t, p.url).post(login, map[string]any{"name": name, "password": fmt.Sprint("guess number ", i)}, address)
			said := fmt.Sprint(got.status, a.Data.Login.UserErrors)
			for _, err := range a.Errors {
				said += err.Extensions.Code + err.Message
			}
			answers[name] = append(answers[name], said)
			if got.status == http.StatusTooManyRequests && got.header.Get("Retry-After") == "" {
				t.Error("the response has no Retry-After")
			}
		}
	}
	known, unknown := answers["victim"], answers["nobody_here"]
	tried := slices.IndexFunc(known, func(said string) bool { return strings.Contains(said, "RATE_LIMITED") })
	if tried < 1 || tried > 20 || !strings.Contains(known[0], "WRONG_CREDENTIALS") {
		t.Errorf("%d of 30 guesses were accepted: %q", tried, known)
	}
	if known[0] != unknown[0] || tried != slices.IndexFunc(unknown, func(said string) bool { return strings.Contains(said, "RATE_LIMITED") }) {
		t.Errorf("the responses distinguish existing from missing usernames:\n%q\n%q", known, unknown)
	}

	// Many guesses in one request are refused.
	var many strings.Builder
	for i := range 15 {
		fmt.Fprintf(&many, `a%d: login(input: {username: "victim", password: "guess %d"}) { token } `, i, i)
	}
	got, a := newClient(t, p.url).post("mutation { "+many.String()+"}", nil, "X-Forwarded-For: 203.0.200.1")
	if len(a.Errors) == 0 || a.Data.Login.Token != "" {
		t.Errorf("15 guesses at once: %d %+v", got.status, a)
	}
	p.stop()
}

// TestSessionToken_CannotBeGuessed tries variations of a token, and other strings.
func TestSessionToken_CannotBeGuessed(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL="+redistest.Server(t).URL()))
	victim := register(t, p.url, "victim")
	guesses := []string{
		"", " ", "null", "undefined", "admin", victim.token[:len(victim.token)-1], victim.token + "A", strings.ToLower(victim.token),
		"{" + victim.token + "}", victim.token + "," + victim.token, "../" + victim.token,
		base64.StdEncoding.EncodeToString([]byte("retwis:session:" + victim.id)), strings.Repeat("A", 12_000),
	}
	raw, err := base64.RawURLEncoding.DecodeString(victim.token)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 64 { // of the same user, with one bit flipped
		changed := slices.Clone(raw)
		changed[2+bit/2] ^= 1 << (bit % 8)
		guesses = append(guesses, base64.RawURLEncoding.EncodeToString(changed))
	}
	for range 64 {
		token, _ := auth.NewToken(int(raw[0])<<8 | int(raw[1]))
		guesses = append(guesses, token)
	}
	c := newClient(t, p.url)
	for _, guess := range guesses {
		got, text := c.request("POST", "/graphql", []byte(`{"query":"{ viewer { id } }"}`), "Content-Type: application/json", "Authorization: Bearer "+guess)
		if got.status != http.StatusUnauthorized || !strings.Contains(string(text), "UNAUTHENTICATED") || len(text) > 4<<10 {
			t.Errorf("the token %.60q: %d %.200s", guess, got.status, text)
		}
	}
	if a := victim.do(`{ viewer { user { username } } }`, nil); a.Data.Viewer == nil {
		t.Error("the valid token is refused")
	}
	p.stop()
}
