package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// The documents of the build. Each but the playground is there in every language: in English
// as index.html, in German as index.de.html.
const (
	appDocument        = "index"
	welcomeDocument    = "welcome"
	offlineDocument    = "offline"
	playgroundDocument = "playground"

	defaultLanguage = "en"
)

// The Content-Security-Policies. Texts of users never become markup, and if one did, it could
// not run: scripts come from files of the build, or from a document whose policy names their
// hashes. The editor of the playground writes styles into the page and starts its workers from
// blobs. A worker is subject to the policy of its own script.
const (
	documentPolicy = "default-src 'none'; script-src 'self'%s; style-src 'self'%s; img-src 'self'; connect-src 'self'; " +
		"manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'"
	filePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'"
	playgroundPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
		"font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

// In the documents, hints for the app about the server.
var (
	playgroundHint = regexp.MustCompile(`<meta name="playground"[^>]*>`)
	demoHint       = regexp.MustCompile(`<meta name="demo" content="\[\]"[^>]*>`)
	inlineScript   = regexp.MustCompile(`(?s)<script>(.*?)</script>`)
	inlineStyle    = regexp.MustCompile(`(?s)<style>(.*?)</style>`)
)

// documents are the documents of a build, by name and language.
type documents struct {
	byName    map[string]map[string]*file
	languages []language.Tag
	matcher   language.Matcher
}

// newDocuments takes the documents out of the files of a build and fits them to the server.
func newDocuments(files map[string]*file, opts Options) (documents, error) {
	d := documents{byName: map[string]map[string]*file{}}
	var others []language.Tag
	for path, f := range files {
		name, lang, ok := documentName(path)
		if !ok {
			continue
		}
		delete(files, path)
		if name == playgroundDocument {
			f.policy = playgroundPolicy
			if !opts.Playground {
				continue
			}
		} else if err := f.fit(opts); err != nil {
			return documents{}, fmt.Errorf("prepare %s: %w", path, err)
		}
		if d.byName[name] == nil {
			d.byName[name] = map[string]*file{}
		}
		d.byName[name][lang] = f
		if tag := language.Make(lang); lang != defaultLanguage && !slices.Contains(others, tag) {
			others = append(others, tag)
		}
	}
	d.languages = append([]language.Tag{language.Make(defaultLanguage)}, others...)
	d.matcher = language.NewMatcher(d.languages)
	return d, nil
}

// documentName splits the path of a document into its name and language.
func documentName(path string) (name, lang string, ok bool) {
	stem, ok := strings.CutSuffix(path, ".html")
	if !ok || strings.Contains(stem, "/") {
		return "", "", false
	}
	name, lang, found := strings.Cut(stem, ".")
	if !found {
		lang = defaultLanguage
	}
	return name, lang, true
}

// choose returns a document in the language that a browser prefers, and that language. The
// file is nil if there is no such document.
func (d documents) choose(name, acceptLanguage string) (*file, string) {
	variants := d.byName[name]
	tags, _, _ := language.ParseAcceptLanguage(firstLanguages(acceptLanguage)) // an unreadable header prefers nothing
	_, i, _ := d.matcher.Match(tags...)
	lang := d.languages[i].String()
	if f := variants[lang]; f != nil {
		return f, lang
	}
	if f := variants[defaultLanguage]; f != nil {
		return f, defaultLanguage
	}
	return nil, ""
}

// Bounds of the languages of a header that count. Each takes microseconds to match, and the parser sorts extensions of a language slowly.
const (
	maxLanguages     = 10
	maxLanguageBytes = 256
)

// firstLanguages returns an Accept-Language header up to the first [maxLanguages] in the first [maxLanguageBytes].
func firstLanguages(header string) string {
	if len(header) > maxLanguageBytes {
		header = header[:max(strings.LastIndexByte(header[:maxLanguageBytes], ','), 0)]
	}
	end := 0
	for range maxLanguages {
		next := strings.IndexByte(header[end:], ',')
		if next < 0 {
			return header
		}
		end += next + 1
	}
	return header[:end-1]
}

// fit puts the hints about the server into a document and sets its policy. A document that
// changes is compressed again.
func (f *file) fit(opts Options) error {
	body := f.plain.body
	if !opts.Playground {
		body = playgroundHint.ReplaceAll(body, nil)
	}
	if len(opts.Demo) > 0 {
		accounts, err := json.Marshal(opts.Demo)
		if err != nil {
			return err
		}
		body = demoHint.ReplaceAllLiteral(body, []byte(`<meta name="demo" content="`+html.EscapeString(string(accounts))+`" />`))
	}
	f.policy = fmt.Sprintf(documentPolicy, hashSources(inlineScript, body), hashSources(inlineStyle, body))
	if bytes.Equal(body, f.plain.body) {
		return nil
	}
	f.plain, f.brotli, f.gzip = newVariant(body), variant{}, variant{}
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	if _, err := w.Write(body); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if compressed.Len() < len(body) {
		f.gzip = newVariant(compressed.Bytes())
	}
	return nil
}

// hashSources returns the sources of a policy that allow the inline elements of a document.
func hashSources(element *regexp.Regexp, document []byte) string {
	var sources strings.Builder
	for _, found := range element.FindAllSubmatch(document, -1) {
		sum := sha256.Sum256(found[1])
		fmt.Fprintf(&sources, " 'sha256-%s'", base64.StdEncoding.EncodeToString(sum[:]))
	}
	return sources.String()
}
