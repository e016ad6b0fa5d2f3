package httpapi

import (
	"maps"
	"net/http"
)

// SecurityHeaders are the headers of every response, unless a handler replaces them: no
// framing, no sniffing, no embedding by pages of other origins, no caching.
type SecurityHeaders struct{ always http.Header }

// NewSecurityHeaders returns the headers.
func NewSecurityHeaders() SecurityHeaders {
	return SecurityHeaders{http.Header{
		"Cache-Control":                {"no-store"},
		"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
		"Cross-Origin-Opener-Policy":   {"same-origin"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
		"Referrer-Policy":              {"no-referrer"},
		"X-Content-Type-Options":       {"nosniff"},
		"X-Frame-Options":              {"DENY"},
	}}
}

// Set sets the headers of a response. All responses share the values: [http.Header.Set]
// replaces them, and [http.Header.Add] copies them.
func (s SecurityHeaders) Set(h http.Header, tls bool) {
	maps.Copy(h, s.always)
	if tls {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}
