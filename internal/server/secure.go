package server

import (
	"maps"
	"net/http"
)

// secureHeaders returns what every answer says to a browser, unless a handler knows
// better: nothing here is to be framed, sniffed, embedded by pages of other origins, or
// stored.
func secureHeaders() http.Header {
	return http.Header{
		"Cache-Control":                {"no-store"},
		"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
		"Cross-Origin-Opener-Policy":   {"same-origin"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
		"Referrer-Policy":              {"no-referrer"},
		"X-Content-Type-Options":       {"nosniff"},
		"X-Frame-Options":              {"DENY"},
	}
}

// secure sets the headers of every answer. Their values are shared by all answers:
// [http.Header.Set] replaces them, [http.Header.Add] copies them.
func (s *Server) secure(h http.Header, tls bool) {
	maps.Copy(h, s.secured)
	if tls {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}
