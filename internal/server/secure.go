package server

import "net/http"

// What every answer says to a browser, unless a handler knows better: nothing here is to
// be framed, sniffed, embedded by pages of other origins, or stored. The values are shared
// by all answers: [http.Header.Set] replaces them, [http.Header.Add] copies them.
var (
	apiPolicy       = []string{"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"}
	noSniff         = []string{"nosniff"}
	noReferrer      = []string{"no-referrer"}
	noFrame         = []string{"DENY"}
	sameOrigin      = []string{"same-origin"}
	noStore         = []string{"no-store"}
	strictTransport = []string{"max-age=31536000"}
)

// secure sets those headers.
func secure(h http.Header, tls bool) {
	h["X-Content-Type-Options"] = noSniff
	h["Content-Security-Policy"] = apiPolicy
	h["X-Frame-Options"] = noFrame
	h["Referrer-Policy"] = noReferrer
	h["Cross-Origin-Opener-Policy"] = sameOrigin
	h["Cross-Origin-Resource-Policy"] = sameOrigin
	h["Cache-Control"] = noStore
	if tls {
		h["Strict-Transport-Security"] = strictTransport
	}
}
