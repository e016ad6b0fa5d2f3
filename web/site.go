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
	"strconv"
	"strings"
)

const (
	playgroundPath = "/playground"
	assetsDir      = "assets/" // named after their content
	brotliSuffix   = ".br"
	gzipSuffix     = ".gz"
)

// site serves a build. It holds all files in memory, as an embedded build is anyway.
type site struct {
	files      map[string]*file // by path, without a slash in front
	documents  documents
	hasSession func(*http.Request) bool
}

// file is a file in the encodings in which it can be sent.
type file struct {
	contentType string
	policy      string // the Content-Security-Policy
	plain       variant
	gzip        variant // empty if compression gains nothing
	brotli      variant
}

type variant struct {
	body []byte
	etag string
}

func newSite(dist fs.FS, opts Options) (*site, error) {
	s := &site{files: map[string]*file{}, hasSession: opts.HasSession}
	if s.hasSession == nil {
		s.hasSession = func(*http.Request) bool { return false }
	}
	err := fs.WalkDir(dist, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := fs.ReadFile(dist, name)
		if err != nil {
			return fmt.Errorf("read the web app: %w", err)
		}
		s.add(name, body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.documents, err = newDocuments(s.files, opts)
	return s, err
}

func (s *site) add(name string, body []byte) {
	original, isBrotli := strings.CutSuffix(name, brotliSuffix)
	original, isGzip := strings.CutSuffix(original, gzipSuffix)
	f := s.files[original]
	if f == nil {
		f = &file{contentType: contentType(original), policy: filePolicy}
		s.files[original] = f
	}
	switch {
	case isBrotli:
		f.brotli = newVariant(body)
	case isGzip:
		f.gzip = newVariant(body)
	default:
		f.plain = newVariant(body)
	}
}

func newVariant(body []byte) variant {
	sum := sha256.Sum256(body)
	return variant{body, `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
}

// contentType returns the media type of a file. Common types do not depend on the system.
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
	case ".png":
		return "image/png"
	case ".ttf":
		return "font/ttf"
	case ".webmanifest":
		return "application/manifest+json"
	default:
		if known := mime.TypeByExtension(ext); known != "" {
			return known
		}
		return "application/octet-stream"
	}
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !allowReading(w, r) {
		return
	}
	h := w.Header()
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	f := s.files[name]
	if document := s.documentOf(r); document != "" {
		var language string
		f, language = s.documents.choose(document, r.Header.Get("Accept-Language"))
		h.Add("Vary", "Accept-Language, Cookie")
		if language != "" {
			h.Set("Content-Language", language)
		}
	}
	if f == nil || f.plain.body == nil {
		h.Del("Vary")
		http.NotFound(w, r)
		return
	}
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, assetsDir) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Set("Content-Security-Policy", f.policy)
	h.Set("Referrer-Policy", "same-origin")
	f.serve(w, r)
}

// documentOf returns the document that answers a request, or "" if a file does. The app knows
// which of its paths exist, and says so for those that do not.
func (s *site) documentOf(r *http.Request) string {
	switch clean := path.Clean(r.URL.Path); {
	case clean == playgroundPath:
		return playgroundDocument
	case clean == "/"+offlineDocument:
		return offlineDocument
	case clean == "/" && !s.hasSession(r):
		return welcomeDocument
	case path.Ext(clean) == "" && s.files[strings.TrimPrefix(clean, "/")] == nil:
		return appDocument
	default:
		return ""
	}
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	v := f.plain
	if f.gzip.body != nil || f.brotli.body != nil {
		h.Add("Vary", "Accept-Encoding")
		switch {
		case f.brotli.body != nil && accepts(r, "br"):
			h.Set("Content-Encoding", "br")
			v = f.brotli
		case f.gzip.body != nil && accepts(r, "gzip"):
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

// accepts reports whether a request accepts a content coding.
func accepts(r *http.Request, coding string) bool {
	for accepted := range strings.SplitSeq(strings.Join(r.Header["Accept-Encoding"], ","), ",") {
		name, params, _ := strings.Cut(accepted, ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		quality, weighted := strings.CutPrefix(strings.TrimSpace(params), "q=")
		return !weighted || strings.Trim(quality, "0.") != ""
	}
	return false
}

// missing is the handler of a program that was built without the web app.
func missing(page []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !allowReading(w, r) {
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

// allowReading reports whether a request reads, and answers all others.
func allowReading(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	http.Error(w, "only GET and HEAD are allowed here", http.StatusMethodNotAllowed)
	return false
}

func send(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = bytes.NewReader(body).WriteTo(w) // a client that disconnects is not an error of the server
}
