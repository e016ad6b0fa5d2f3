package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
)

const (
	indexPage      = "index.html"
	playgroundPage = "playground.html"
	playgroundPath = "/playground"
	assetsDir      = "assets/" // named after their content
	compressed     = ".gz"
)

// playgroundHint is where the start page says that there is a playground to link to.
var playgroundHint = regexp.MustCompile(`<meta name="playground"[^>]*>`)

// What pages may do. Texts of users never become markup, and if one did it could not run:
// scripts come from files of the build only, and from the start page where its own hash
// names them. The editor of the playground writes styles
// into the page and starts its workers by way of blobs.
const (
	appPolicy = "default-src 'none'; script-src 'self'%s; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'"
	playgroundPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
		"font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

// site serves a build. It holds all files in memory, where an embedded build is anyway.
type site struct {
	files     map[string]*file // by path, without a slash in front
	appPolicy string
}

// file is a file in the forms in which it can be sent.
type file struct {
	contentType string
	plain       variant
	gzip        variant // empty where compressing gains nothing
}

type variant struct {
	body []byte
	etag string
}

func newSite(dist fs.FS, playground bool) (*site, error) {
	s := &site{files: map[string]*file{}}
	err := fs.WalkDir(dist, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := fs.ReadFile(dist, name)
		if err != nil {
			return fmt.Errorf("read the web app: %w", err)
		}
		original, isGzip := strings.CutSuffix(name, compressed)
		f := s.files[original]
		if f == nil {
			f = &file{contentType: contentType(original)}
			s.files[original] = f
		}
		if isGzip {
			f.gzip = newVariant(body)
		} else {
			f.plain = newVariant(body)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !playground {
		delete(s.files, playgroundPage)
		if index := s.files[indexPage]; index != nil {
			*index = file{contentType: index.contentType, plain: newVariant(playgroundHint.ReplaceAll(index.plain.body, nil))}
		}
	}
	if index := s.files[indexPage]; index != nil {
		s.appPolicy = fmt.Sprintf(appPolicy, inlineScripts(index.plain.body))
	}
	return s, nil
}

var inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

// inlineScripts returns the sources of a policy that allow a page's own inline scripts.
func inlineScripts(page []byte) string {
	var sources strings.Builder
	for _, script := range inlineScript.FindAllSubmatch(page, -1) {
		sum := sha256.Sum256(script[1])
		fmt.Fprintf(&sources, " 'sha256-%s'", base64.StdEncoding.EncodeToString(sum[:]))
	}
	return sources.String()
}

func newVariant(body []byte) variant {
	sum := sha256.Sum256(body)
	return variant{body, `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
}

// contentType does not leave common types to what the system happens to know.
func contentType(name string) string {
	switch ext := path.Ext(name); ext {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".html":
		return "text/html; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".ttf":
		return "font/ttf"
	default:
		if known := mime.TypeByExtension(ext); known != "" {
			return known
		}
		return "application/octet-stream"
	}
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !reads(w, r) {
		return
	}
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	f, policy := s.files[name], s.appPolicy
	switch {
	case path.Clean(r.URL.Path) == playgroundPath:
		name, policy = playgroundPage, playgroundPolicy
		f = s.files[name]
	case f == nil && path.Ext(name) == "":
		// The app knows what its paths mean, and says so where one means nothing.
		name = indexPage
		f = s.files[name]
	}
	if f == nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, assetsDir) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	// Workers live by the policy of their own script.
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin")
	f.serve(w, r)
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	v := f.plain
	if f.gzip.body != nil {
		h.Add("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			h.Set("Content-Encoding", "gzip")
			v = f.gzip
		}
	}
	h.Set("ETag", v.etag)
	if strings.Contains(r.Header.Get("If-None-Match"), v.etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	send(w, r, v.body)
}

func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header["Accept-Encoding"], ","), ",") {
		name, params, _ := strings.Cut(coding, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		quality, weighted := strings.CutPrefix(strings.TrimSpace(params), "q=")
		return !weighted || strings.Trim(quality, "0.") != ""
	}
	return false
}

// missing is the handler of a program without a web app.
func missing(page []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !reads(w, r) {
			return
		}
		if r.URL.Path != "/" && r.URL.Path != playgroundPath {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", contentType(missingPage))
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		send(w, r, page)
	})
}

// reads answers every request that is not for reading, and reports whether this one is.
func reads(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	http.Error(w, "this is for reading only", http.StatusMethodNotAllowed)
	return false
}

func send(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = bytes.NewReader(body).WriteTo(w) // a client that went away is no failure of ours
}
