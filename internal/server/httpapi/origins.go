package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Origins are the foreign origins whose pages may use the API with a user's session, in
// addition to the service's own.
type Origins struct {
	allowed map[string]bool
	csrf    *http.CrossOriginProtection
}

// ParseOrigins reads a list of allowed origins, such as https://example.com.
func ParseOrigins(list []string) (*Origins, error) {
	o := &Origins{allowed: make(map[string]bool, len(list)), csrf: http.NewCrossOriginProtection()}
	for _, text := range list {
		// Browsers send the lower-case form without the scheme's own port; another
		// spelling in the configuration would silently never match.
		origin := strings.ToLower(strings.TrimSpace(text))
		u, err := url.Parse(origin)
		if err != nil {
			return nil, fmt.Errorf("allowed origin %q: %w", text, err)
		}
		if u.Scheme == "https" {
			origin = strings.TrimSuffix(origin, ":443")
		} else {
			origin = strings.TrimSuffix(origin, ":80")
		}
		if u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("allowed origin %q: use the form https://example.com", text)
		}
		if err := o.csrf.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("allowed origin %q: %w", text, err)
		}
		o.allowed[origin] = true
	}
	return o, nil
}

// MayUpgrade reports whether the Origin of a websocket request is allowed. Browsers send
// cookies with the request and apply no CORS to websockets, so this check is the only one.
// If the service is reached over TLS, a page that was loaded without TLS is foreign: a
// network attacker could have altered it.
func (o *Origins) MayUpgrade(r *http.Request, tls bool) bool {
	values := r.Header["Origin"]
	switch len(values) {
	case 0:
		return true // not a browser
	case 1:
		u, err := url.Parse(values[0])
		own := err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host) && !o.unencrypted(r, tls)
		return own || o.allowed[values[0]]
	default:
		return false
	}
}

// MayPost reports whether the Origin of a POST request is allowed. Like websockets, requests over TLS are refused to
// pages that were loaded without TLS.
func (o *Origins) MayPost(r *http.Request, tls bool) bool {
	return o.csrf.Check(r) == nil && !o.unencrypted(r, tls)
}

// unencrypted reports whether a request over TLS comes from a page that was loaded without TLS and is not allowed.
func (o *Origins) unencrypted(r *http.Request, tls bool) bool {
	for _, origin := range r.Header["Origin"] {
		if u, err := url.Parse(origin); tls && err == nil && u.Scheme == "http" && !o.allowed[origin] {
			return true
		}
	}
	return false
}

// CORS returns a handler that grants access to the pages of allowed origins and answers
// their preflight requests.
func (o *Origins) CORS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		h := w.Header()
		h.Add("Vary", "Origin")
		if o.allowed[origin] {
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Allow-Credentials", "true")
			h.Set("Access-Control-Expose-Headers", "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id")
		}
		if r.Method != http.MethodOptions {
			next.ServeHTTP(w, r)
			return
		}
		if r.Header.Get("Access-Control-Request-Method") == "" {
			h.Set("Allow", allowedMethods)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if !o.allowed[origin] {
			http.Error(w, "this origin is not allowed to use the API", http.StatusForbidden)
			return
		}
		h.Set("Access-Control-Allow-Methods", "GET, POST")
		h.Set("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, Last-Event-ID, X-Request-Id")
		h.Set("Access-Control-Max-Age", "7200")
		w.WriteHeader(http.StatusNoContent)
	})
}
