package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func testSite(t *testing.T, opts Options) http.Handler {
	t.Helper()
	return siteOf(t, opts, map[string]string{
		"index.html":              "the app",
		"index.html.gz":           "the app, gzip",
		"index.html.br":           "the app, brotli",
		"index.de.html":           "die App",
		"welcome.html":            "the welcome page",
		"welcome.de.html":         "die Willkommensseite",
		"offline.html":            "the offline page",
		"offline.de.html":         "die Offline-Seite",
		"playground.html":         "the playground",
		"icon.svg":                "an icon",
		"manifest.webmanifest":    "a manifest",
		"assets/app-1a2b.js":      "a script",
		"assets/app-1a2b.js.gz":   "a script, gzip",
		"assets/app-1a2b.js.br":   "a script, brotli",
		"assets/editor-3c4d.ttf":  "a font",
		"assets/editor-3c4d.html": "a file",
	})
}

func siteOf(t *testing.T, opts Options, files map[string]string) http.Handler {
	t.Helper()
	dist := fstest.MapFS{}
	for name, body := range files {
		dist[name] = &fstest.MapFile{Data: []byte(body)}
	}
	s, err := newSite(dist, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var withPlayground = Options{Playground: true}

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

func TestSite_TellsTheAppAboutThePlayground(t *testing.T) {
	t.Parallel()
	const hint = `<meta name="playground" content="/playground" />`
	for _, playground := range []bool{true, false} {
		h := siteOf(t, Options{Playground: playground}, map[string]string{
			"index.html":      "<head>" + hint + "</head>" + strings.Repeat("text ", 100),
			"index.html.gz":   hint,
			"index.html.br":   hint,
			"playground.html": "the playground",
		})
		for _, encoding := range []string{"", "gzip", "br"} {
			response := request(t, h, http.MethodGet, "/u/somebody", map[string]string{"Accept-Encoding": encoding})
			if body := decoded(t, response); strings.Contains(body, hint) != playground {
				t.Errorf("with playground %t and the encoding %q, the page is %q", playground, encoding, body)
			}
		}
	}
	for _, document := range []string{appDocument, welcomeDocument} {
		page, err := fs.ReadFile(build, "dist/"+document+".html")
		if err == nil && (!playgroundHint.Match(page) || !demoHint.Match(page)) {
			t.Errorf("%s of the build has no place for hints", document)
		}
	}
}

func TestSite_OffersTheAccountsOfADemo(t *testing.T) {
	t.Parallel()
	files := map[string]string{"welcome.html": `<meta name="demo" content="[]" />`, "welcome.html.br": "stale"}
	h := siteOf(t, Options{Demo: []DemoAccount{{"ada", `Ada "L"`, "password"}}}, files)
	got := request(t, h, http.MethodGet, "/", map[string]string{"Accept-Encoding": "br"}).Body.String()
	want := `<meta name="demo" content="[{&#34;username&#34;:&#34;ada&#34;,&#34;displayName&#34;:&#34;Ada \&#34;L\&#34;&#34;,&#34;password&#34;:&#34;password&#34;}]" />`
	if got != want {
		t.Errorf("the page is %s, want %s", got, want)
	}
	if got := request(t, siteOf(t, Options{}, files), http.MethodGet, "/", nil).Body.String(); got != files["welcome.html"] {
		t.Errorf("without a demo the page is %s", got)
	}
}

// decoded returns the body of a response without its content coding. The brotli of these tests is not compressed.
func decoded(t *testing.T, response *httptest.ResponseRecorder) string {
	t.Helper()
	if response.Header().Get("Content-Encoding") != "gzip" || !bytes.HasPrefix(response.Body.Bytes(), []byte{0x1f, 0x8b}) {
		return response.Body.String()
	}
	reader, err := gzip.NewReader(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestSite_ChoosesTheDocument(t *testing.T) {
	t.Parallel()
	h := testSite(t, Options{Playground: true, HasSession: func(r *http.Request) bool { _, err := r.Cookie("session"); return err == nil }})
	const session = "session=1"
	for _, tt := range []struct{ path, cookie, language, body, contentLanguage string }{
		{"/", "", "", "the welcome page", "en"},
		{"/", "", "de-AT,de;q=0.9,en;q=0.5", "die Willkommensseite", "de"},
		{"/", "", "fr,de;q=0.3,en;q=0.2", "die Willkommensseite", "de"},
		{"/", "", "fr", "the welcome page", "en"},
		{"/", "", ";;;", "the welcome page", "en"},
		{"/", "", strings.Repeat("fr,", maxLanguages-1) + "de", "die Willkommensseite", "de"},
		{"/", "", strings.Repeat("fr,", maxLanguages) + "de", "the welcome page", "en"},
		{"/", "", "de,en-u" + strings.Repeat("-zz", maxLanguageBytes), "die Willkommensseite", "de"},
		{"/", "", "de-u" + strings.Repeat("-zz", maxLanguageBytes), "the welcome page", "en"},
		{"/", session, "", "the app", "en"},
		{"/", session, "de", "die App", "de"},
		{"/u/somebody", "", "de", "die App", "de"},
		{"/offline", "", "de", "die Offline-Seite", "de"},
		{"/playground", "", "de", "the playground", "en"},
	} {
		response := request(t, h, http.MethodGet, tt.path, map[string]string{"Cookie": tt.cookie, "Accept-Language": tt.language})
		if got := response.Body.String(); got != tt.body {
			t.Errorf("%+v: got %q", tt, got)
		}
		if got := response.Header().Get("Content-Language"); got != tt.contentLanguage {
			t.Errorf("%+v: Content-Language is %q", tt, got)
		}
		if got := strings.Join(response.Header()["Vary"], ", "); !strings.HasPrefix(got, "Accept-Language, Cookie") {
			t.Errorf("%+v: Vary is %q", tt, got)
		}
	}
}

func TestSite_ServesFilesAndDocuments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path   string
		status int
		body   string
		kind   string
		cache  string
	}{
		{"/", 200, "the welcome page", "text/html; charset=utf-8", "no-cache"},
		{"/u/somebody", 200, "the app", "text/html; charset=utf-8", "no-cache"},
		{"/post/UG9zdDox", 200, "the app", "text/html; charset=utf-8", "no-cache"},
		{"/tag/caf%C3%A9", 200, "the app", "text/html; charset=utf-8", "no-cache"},
		{"/playground", 200, "the playground", "text/html; charset=utf-8", "no-cache"},
		{"/playground/", 200, "the playground", "text/html; charset=utf-8", "no-cache"},
		{"/offline", 200, "the offline page", "text/html; charset=utf-8", "no-cache"},
		{"/manifest.webmanifest", 200, "a manifest", "application/manifest+json", "no-cache"},
		{"/icon.svg", 200, "an icon", "image/svg+xml", "no-cache"},
		{"/assets/app-1a2b.js", 200, "a script", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		{"/assets/editor-3c4d.ttf", 200, "a font", "font/ttf", "public, max-age=31536000, immutable"},
		{"/assets/old.js", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
		{"/assets/app-1a2b.js.br", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
		{"/index.html", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
		{"/index.html.gz", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
		{"/../embed.go", 404, "404 page not found\n", "text/plain; charset=utf-8", ""},
	}
	for _, tt := range tests {
		t.Run(strings.ReplaceAll(tt.path, "/", "_"), func(t *testing.T) {
			t.Parallel()
			response := request(t, testSite(t, withPlayground), http.MethodGet, tt.path, nil)
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

func TestSite_LeavesOutThePlayground(t *testing.T) {
	t.Parallel()
	h := testSite(t, Options{})
	for _, path := range []string{"/playground", "/playground/", "/playground.html"} {
		if response := request(t, h, http.MethodGet, path, nil); response.Code != http.StatusNotFound {
			t.Errorf("%s: got %d %q", path, response.Code, response.Body.String())
		}
	}
	if response := request(t, h, http.MethodGet, "/", nil); response.Code != http.StatusOK {
		t.Errorf("the app: got %d", response.Code)
	}
}

func TestSite_SendsTheEncodingThatIsAccepted(t *testing.T) {
	t.Parallel()
	for accepted, want := range map[string]string{
		"":                      "the app",
		"zstd":                  "the app",
		"gzip;q=0":              "the app",
		"gzip":                  "the app, gzip",
		"deflate, GZIP;q=0.5":   "the app, gzip",
		"gzip, deflate, br":     "the app, brotli",
		"br;q=0, gzip":          "the app, gzip",
		"br;q=0.0, gzip;q=0.00": "the app",
	} {
		response := request(t, testSite(t, withPlayground), http.MethodGet, "/public", map[string]string{"Accept-Encoding": accepted})
		if got := response.Body.String(); got != want {
			t.Errorf("a client that accepts %q got %q", accepted, got)
		}
		if got := response.Header()["Vary"]; !slices.Contains(got, "Accept-Encoding") {
			t.Errorf("Vary is %q", got)
		}
	}
}

func TestSite_DoesNotSendAnUnchangedFileAgain(t *testing.T) {
	t.Parallel()
	h := testSite(t, withPlayground)
	first := request(t, h, http.MethodGet, "/public", map[string]string{"Accept-Encoding": "gzip"})
	tag := first.Header().Get("ETag")
	again := request(t, h, http.MethodGet, "/public", map[string]string{"Accept-Encoding": "gzip", "If-None-Match": "W/" + tag})
	if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("got %d %q for the tag %s", again.Code, again.Body.String(), tag)
	}
	plain := request(t, h, http.MethodGet, "/public", map[string]string{"If-None-Match": tag})
	if plain.Code != http.StatusOK {
		t.Errorf("the compressed form's tag got %d for the plain form", plain.Code)
	}
}

func TestSite_AllowsNoInlineScripts(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/u/somebody", "/playground"} {
		response := request(t, testSite(t, withPlayground), http.MethodGet, path, nil)
		policy := response.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'; script-src 'self';") {
			t.Errorf("the policy of %s is %q", path, policy)
		}
		if path != playgroundPath && strings.Contains(policy, "unsafe") {
			t.Errorf("the policy of %s is %q", path, policy)
		}
	}
}

func TestSite_AllowsTheInlineElementsOfADocument(t *testing.T) {
	t.Parallel()
	h := siteOf(t, Options{}, map[string]string{
		"index.html": `<script>paint()</script><style>paint()</style><script type="module" src="/assets/app.js"></script>`,
	})
	policy := request(t, h, http.MethodGet, "/public", nil).Header().Get("Content-Security-Policy")
	// printf 'paint()' | openssl dgst -sha256 -binary | base64
	const hash = "'sha256-6Z05mR7jGVRSmyHx7iStJaiOybZYZUjxiGbPhYYXh1o='"
	for _, want := range []string{"script-src 'self' " + hash + ";", "style-src 'self' " + hash + ";"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy is %q, want %q in it", policy, want)
		}
	}
}

func TestSite_ServesReadsOnly(t *testing.T) {
	t.Parallel()
	h := testSite(t, withPlayground)
	if response := request(t, h, http.MethodPost, "/", nil); response.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST got %d", response.Code)
	}
	response := request(t, h, http.MethodHead, "/public", nil)
	if response.Code != http.StatusOK || response.Body.Len() != 0 || response.Header().Get("Content-Length") != "7" {
		t.Errorf("HEAD got %d %q, length %s", response.Code, response.Body.String(), response.Header().Get("Content-Length"))
	}
}

func TestMissing_SaysHowToBuild(t *testing.T) {
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

func TestHandler_ServesTheBuild(t *testing.T) {
	t.Parallel()
	h, err := Handler(withPlayground)
	if err != nil {
		t.Fatal(err)
	}
	response := request(t, h, http.MethodGet, "/", nil)
	if response.Code != http.StatusOK || !strings.Contains(response.Body.String(), "<!doctype html>") {
		t.Errorf("got %d %q", response.Code, response.Body.String())
	}
}
