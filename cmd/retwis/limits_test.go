package main

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

func TestRateLimits_RefuseExcess(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL=memory", "RETWIS_RATE_LIMITS=on", "RETWIS_LIMIT_REGISTRATIONS=2/1h",
		"RETWIS_LIMIT_POSTS=3/24h", "RETWIS_TRUSTED_PROXIES=127.0.0.1", "RETWIS_LIMIT_READS=100000/1h"))
	reader := register(t, p.url, "reader")
	_ = register(t, p.url, "other")
	const third = `mutation { register(input: {username: "third", password: "correct horse"}) { token userErrors { code } } }`
	refused := func(got reply, a answer) {
		t.Helper()
		if got.status != http.StatusTooManyRequests || len(a.Errors) != 1 || a.Errors[0].Extensions.Code != "RATE_LIMITED" {
			t.Errorf("got %d %+v", got.status, a)
		}
		if after, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || after < 1 {
			t.Errorf("retry after %q", got.header.Get("Retry-After"))
		}
	}
	refused(newClient(t, p.url).post(third, nil))
	if _, a := newClient(t, p.url).post(third, nil, "X-Forwarded-For: 198.51.100.7"); len(a.Errors) > 0 || a.Data.Register.Token == "" {
		t.Errorf("from another network: %+v", a)
	}

	for range 5 { // mutations by GET are refused, and cost nothing
		got, _ := reader.request(http.MethodGet, "/graphql?query="+url.QueryEscape(`mutation { createPost(input: {text: "zero"}) { __typename } }`), nil,
			"Authorization: Bearer "+reader.token)
		if got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != http.MethodPost {
			t.Errorf("a mutation by GET: %d %v", got.status, got.header)
		}
	}
	for _, text := range []string{"one", "two", "three"} {
		reader.createPost(text)
	}
	refused(reader.post(`mutation { createPost(input: {text: "four"}) { edge { cursor } } }`, nil))

	const policy = `"reads";q=100000;w=3600, "posts";q=3;w=86400, "likes";q=300;w=60, "follows";q=120;w=60, "logins";q=10;w=60, "registrations";q=2;w=3600`
	got, a := reader.post(`{ viewer { homeTimeline { posts(first: 100) { edges { node { text author { username } } } } } } }`, nil)
	if len(a.Errors) > 0 || got.header.Get("RateLimit-Policy") != policy || !strings.HasPrefix(got.header.Get("RateLimit"), `"reads";r=9`) {
		t.Errorf("got %+v, header %v", a.Errors, got.header)
	}
	for range 400 { // invalid requests use up the budget
		if got, _ = reader.post(`{`, nil); got.status == http.StatusTooManyRequests {
			break
		}
	}
	refused(reader.post(`{ viewer { id } }`, nil))
	stream, _ := reader.request(http.MethodPost, "/graphql", []byte(`{"query": "{ viewer { id } }"}`),
		"Content-Type: application/json", "Accept: text/event-stream", "Authorization: Bearer "+reader.token)
	if stream.status != http.StatusTooManyRequests {
		t.Errorf("an event stream without budget: status %d", stream.status)
	}
	p.stop()
}
