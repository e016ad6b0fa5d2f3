package server

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// origins are the foreign origins whose pages may use the API with a reader's session,
// besides the service's own.
type origins struct {
	allowed map[string]bool
	csrf    *http.CrossOriginProtection
}

// CheckOrigins returns why a list of allowed origins cannot be used.
func CheckOrigins(list []string) error {
	_, err := parseOrigins(list)
	return err
}

func parseOrigins(list []string) (origins, error) {
	o := origins{allowed: make(map[string]bool, len(list)), csrf: http.NewCrossOriginProtection()}
	for _, text := range list {
		// Browsers send the lower-case form without the scheme's own port; another
		// spelling in the configuration would silently never match.
		origin := strings.ToLower(strings.TrimSpace(text))
		u, err := url.Parse(origin)
		if err != nil {
			return origins{}, fmt.Errorf("allowed origin %q: %w", text, err)
		}
		if u.Scheme == "https" {
			origin = strings.TrimSuffix(origin, ":443")
		} else {
			origin = strings.TrimSuffix(origin, ":80")
		}
		if u.Scheme != "http" && u.Scheme != "https" {
			return origins{}, fmt.Errorf("allowed origin %q: want it like https://example.com", text)
		}
		if err := o.csrf.AddTrustedOrigin(origin); err != nil {
			return origins{}, fmt.Errorf("allowed origin %q: %w", text, err)
		}
		o.allowed[origin] = true
	}
	return o, nil
}

// mayUpgrade reports whether the page that asks for a websocket may have one. Browsers
// send cookies along and apply no CORS to websockets, so this check is all there is. Over
// TLS a page that came without is not our own: anybody on its way may have written it.
func (o origins) mayUpgrade(r *http.Request, tls bool) bool {
	values := r.Header["Origin"]
	switch len(values) {
	case 0:
		return true // not a browser
	case 1:
		u, err := url.Parse(values[0])
		own := err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host) && (!tls || u.Scheme == "https")
		return own || o.allowed[values[0]]
	default:
		return false
	}
}

// cors tells the pages of allowed origins what they may do, and answers their preflights.
func (o origins) cors(next http.Handler) http.Handler {
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
			http.Error(w, "pages of this origin may not use the API", http.StatusForbidden)
			return
		}
		h.Set("Access-Control-Allow-Methods", "GET, POST")
		h.Set("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, Last-Event-ID, X-Request-Id")
		h.Set("Access-Control-Max-Age", "7200")
		w.WriteHeader(http.StatusNoContent)
	})
}
