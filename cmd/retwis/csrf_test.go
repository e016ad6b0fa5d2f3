package main

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"retwis/internal/redistest"
)

// TestCrossSiteRequests_AreRefused sends the requests that pages of other sites can make a browser send with
// the cookie of a victim.
func TestCrossSiteRequests_AreRefused(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL="+redistest.Server(t).URL()))
	victim := register(t, p.url, "victim")
	cookie := "Cookie: retwis_session=" + victim.token
	const forged = `mutation { createPost(input: {text: "forged"}) { edge { cursor } } }`
	body := `{"query":` + strconv.Quote(forged) + `}`
	form := "query=" + strings.ReplaceAll(forged, " ", "+")
	browser := newClient(t, p.url)
	for _, tt := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
	}{
		{"a form", "POST", "/graphql", form, []string{"Content-Type: application/x-www-form-urlencoded"}, 415},
		{"a form with a file", "POST", "/graphql", "--b\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n" + body + "\r\n--b--", []string{"Content-Type: multipart/form-data; boundary=b"}, 415},
		{"a form of text", "POST", "/graphql", body, []string{"Content-Type: text/plain"}, 415},
		{"no content type", "POST", "/graphql", body, nil, 415},
		{"two content types", "POST", "/graphql", body, []string{"Content-Type: text/plain, application/json"}, 415},
		{"a link", "GET", "/graphql?" + form, "", nil, 405},
		{"an image", "GET", "/graphql?" + form, "", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: image"}, 405},
		{"a stream of events", "GET", "/graphql?" + form, "", []string{"Accept: text/event-stream"}, 405},
		{"a method in a header", "GET", "/graphql?" + form, "", []string{"X-HTTP-Method-Override: POST"}, 405},
		{"JSON from another site", "POST", "/graphql", body, []string{"Content-Type: application/json", "Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, 403},
		{"JSON from another site, by an old browser", "POST", "/graphql", body, []string{"Content-Type: application/json", "Origin: https://evil.example"}, 403},
		{"JSON from a frame without an origin", "POST", "/graphql", body, []string{"Content-Type: application/json", "Origin: null"}, 403},
		{"JSON from another port", "POST", "/graphql", body, []string{"Content-Type: application/json", "Origin: http://localhost:1", "Sec-Fetch-Site: same-site"}, 403},
		{"a stream from another site", "POST", "/graphql", body, []string{"Content-Type: application/json", "Accept: text/event-stream", "Origin: https://evil.example"}, 403},
	} {
		got, text := browser.request(tt.method, tt.path, []byte(tt.body), append(tt.headers, cookie)...)
		if got.status != tt.status || len(text) > 4<<10 {
			t.Errorf("%s: %d %s", tt.name, got.status, text)
		}
		if got.status == 405 && got.header.Get("Allow") != "POST" {
			t.Errorf("%s: the header Allow is %q", tt.name, got.header.Get("Allow"))
		}
		if allowed := got.header.Get("Access-Control-Allow-Origin"); allowed != "" {
			t.Errorf("%s: pages of %s may read the response", tt.name, allowed)
		}
	}
	for _, origin := range []string{"https://evil.example", "null", "http://localhost:1", p.url + ".evil.example"} {
		if ws, status := browser.dial("Origin: "+origin, cookie); ws != nil || status != http.StatusForbidden {
			t.Errorf("a websocket of a page of %s: status %d", origin, status)
		}
	}
	if texts, _ := victim.home(); len(texts) != 0 {
		t.Errorf("forged posts: %q", texts)
	}
	got, text := browser.request("POST", "/graphql", []byte(body), "Content-Type: application/json", "Origin: "+p.url, "Sec-Fetch-Site: same-origin", cookie)
	if got.status != http.StatusOK || !strings.Contains(string(text), `"cursor"`) {
		t.Errorf("the service's own page: %d %s", got.status, text)
	}
	p.stop()
}
