package web

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func testSite(t *testing.T) http.Handler {
	t.Helper()
	return siteWith(t, true)
}

func siteWith(t *testing.T, playground bool) http.Handler {
	t.Helper()
	files := fstest.MapFS{}
	for name, body := range map[string]string{
		"index.html":             "the app",
		"index.html.gz":          "the app, compressed",
		"playground.html":        "the playground",
		"icon.svg":               "an icon",
		"assets/app-1a2b.js":     "a script",
		"assets/app-1a2b.js.gz":  "a script, compressed",
		"assets/editor-3c4d.ttf": "a font",
	} {
		files[name] = &fstest.MapFile{Data: []byte(body)}
	}
	s, err := newSite(files, playground)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func request(t *testing.T, h http.Handler, method, path string, header map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec
}

func TestTheAppKnowsOfThePlayground(t *testing.T) {
	t.Parallel()
	const hint = `<meta name="playground" content="/playground" />`
	compressed := map[string]string{"Accept-Encoding": "gzip"}
	for _, playground := range []bool{true, false} {
		s, err := newSite(fstest.MapFS{
			"index.html":      {Data: []byte("<head>" + hint + "</head>")},
			"index.html.gz":   {Data: []byte(hint)},
			"playground.html": {Data: []byte("the playground")},
		}, playground)
		if err != nil {
			t.Fatal(err)
		}
		for _, header := range []map[string]string{nil, compressed} {
			body := request(t, s, http.MethodGet, "/", header).Body.String()
			if strings.Contains(body, hint) != playground {
				t.Errorf("with playground %t and %v, the page is %q", playground, header, body)
			}
		}
	}
	page, err := fs.ReadFile(build, "dist/"+indexPage)
	if err == nil && !playgroundHint.Match(page) {
		t.Error("the start page of the build names no playground")
	}
}

func TestWhatIsServed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path   string
		status int
		body   string
		kind   string
		cache  string
	}{
		{"/", 200, "the app", "text/html; charset=utf-8", "no-cache"},
		{"/u/somebody", 200, "the app", "text/html; charset=utf-8", "no-cache"},
		{"/post/UG9zdDox", 200, "the app", "text/html; charset=utf-8", "no-cache"},
		{"/playground", 200, "the playground", "text/html; charset=utf-8", "no-cache"},
		{"/playground/", 200, "the playground", "text/html; charset=utf-8", "no-cache"},
		{"/icon.svg", 200, "an icon", "image/svg+xml", "no-cache"},
		{"/assets/app-1a2b.js", 200, "a script", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		{"/assets/editor-3c4d.ttf", 200, "a font", "font/ttf", "public, max-age=31536000, immutable"},
		{"/assets/old.js", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
		{"/index.html.gz", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
		{"/../embed.go", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
	}
	for _, tt := range tests {
		t.Run(strings.ReplaceAll(tt.path, "/", "_"), func(t *testing.T) {
			t.Parallel()
			response := request(t, testSite(t), http.MethodGet, tt.path, nil)
			if response.Code != tt.status || response.Body.String() != tt.body {
				t.Errorf("got %d %q, want %d %q", response.Code, response.Body.String(), tt.status, tt.body)
			}
			if got := response.Header().Get("Content-Type"); got != tt.kind {
				t.Errorf("Content-Type is %q, want %q", got, tt.kind)
			}
			if got := response.Header().Get("Cache-Control"); got != tt.cache {
				t.Errorf("Cache-Control is %q, want %q", got, tt.cache)
			}
		})
	}
}

func TestThePlaygroundCanBeLeftOut(t *testing.T) {
	t.Parallel()
	h := siteWith(t, false)
	for _, path := range []string{"/playground", "/playground/", "/playground.html"} {
		if response := request(t, h, http.MethodGet, path, nil); response.Code != http.StatusNotFound {
			t.Errorf("%s: got %d %q", path, response.Code, response.Body.String())
		}
	}
	if response := request(t, h, http.MethodGet, "/", nil); response.Code != http.StatusOK {
		t.Errorf("the app: got %d", response.Code)
	}
}

func TestCompressedFilesGoToThoseWhoTakeThem(t *testing.T) {
	t.Parallel()
	for accepted, want := range map[string]string{
		"":                    "the app",
		"br":                  "the app",
		"gzip;q=0":            "the app",
		"gzip":                "the app, compressed",
		"deflate, GZIP;q=0.5": "the app, compressed",
	} {
		response := request(t, testSite(t), http.MethodGet, "/", map[string]string{"Accept-Encoding": accepted})
		if got := response.Body.String(); got != want {
			t.Errorf("who accepts %q got %q", accepted, got)
		}
		if got := response.Header().Get("Vary"); got != "Accept-Encoding" {
			t.Errorf("Vary is %q", got)
		}
	}
}

func TestAnUnchangedFileIsNotSentAgain(t *testing.T) {
	t.Parallel()
	h := testSite(t)
	first := request(t, h, http.MethodGet, "/", map[string]string{"Accept-Encoding": "gzip"})
	tag := first.Header().Get("ETag")
	again := request(t, h, http.MethodGet, "/", map[string]string{"Accept-Encoding": "gzip", "If-None-Match": "W/" + tag})
	if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("got %d %q for the tag %s", again.Code, again.Body.String(), tag)
	}
	plain := request(t, h, http.MethodGet, "/", map[string]string{"If-None-Match": tag})
	if plain.Code != http.StatusOK {
		t.Errorf("the compressed form's tag got %d for the plain form", plain.Code)
	}
}

func TestPagesAllowNoInlineScripts(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/u/somebody", "/playground"} {
		response := request(t, testSite(t), http.MethodGet, path, nil)
		policy := response.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'; script-src 'self';") {
			t.Errorf("the policy of %s is %q", path, policy)
		}
		if path != playgroundPath && strings.Contains(policy, "unsafe") {
			t.Errorf("the policy of %s is %q", path, policy)
		}
	}
}

func TestTheStartPagesOwnScriptMayRun(t *testing.T) {
	t.Parallel()
	s, err := newSite(fstest.MapFS{"index.html": {Data: []byte(`<script>paint()</script><script type="module" src="/assets/app.js"></script>`)}}, true)
	if err != nil {
		t.Fatal(err)
	}
	policy := request(t, s, http.MethodGet, "/", nil).Header().Get("Content-Security-Policy")
	// printf 'paint()' | openssl dgst -sha256 -binary | base64
	if want := "script-src 'self' 'sha256-6Z05mR7jGVRSmyHx7iStJaiOybZYZUjxiGbPhYYXh1o=';"; !strings.Contains(policy, want) {
		t.Errorf("the policy is %q, want %q in it", policy, want)
	}
}

func TestOnlyReadingIsServed(t *testing.T) {
	t.Parallel()
	h := testSite(t)
	if response := request(t, h, http.MethodPost, "/", nil); response.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST got %d", response.Code)
	}
	response := request(t, h, http.MethodHead, "/", nil)
	if response.Code != http.StatusOK || response.Body.Len() != 0 || response.Header().Get("Content-Length") != "7" {
		t.Errorf("HEAD got %d %q, length %s", response.Code, response.Body.String(), response.Header().Get("Content-Length"))
	}
}

func TestAProgramWithoutABuildSaysSo(t *testing.T) {
	t.Parallel()
	page, err := fs.ReadFile(build, missingPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/playground"} {
		response := request(t, missing(page), http.MethodGet, path, nil)
		if response.Code != http.StatusOK || !strings.Contains(response.Body.String(), "npm --prefix web run build") {
			t.Errorf("%s got %d %q", path, response.Code, response.Body.String())
		}
	}
	if response := request(t, missing(page), http.MethodGet, "/u/somebody", nil); response.Code != http.StatusNotFound {
		t.Errorf("another path got %d", response.Code)
	}
}

func TestTheHandlerServesWhatWasBuilt(t *testing.T) {
	t.Parallel()
	h, err := Handler(true)
	if err != nil {
		t.Fatal(err)
	}
	response := request(t, h, http.MethodGet, "/", nil)
	if response.Code != http.StatusOK || !strings.Contains(response.Body.String(), "<!doctype html>") {
		t.Errorf("got %d %q", response.Code, response.Body.String())
	}
}
