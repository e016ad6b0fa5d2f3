package auth

// Names of the session cookie. Browsers accept the secure one only over TLS, for the whole
// host, and only from the host itself.
const (
	CookieName       = "retwis_session"
	SecureCookieName = "__Host-retwis_session"
)
