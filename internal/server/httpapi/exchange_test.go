package httpapi_test

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/server"
	"retwis/internal/server/servertest"
)

func TestExchange_IdentifiesTheViewer(t *testing.T) {
	const query = `{"query":"{ whoami }"}`
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		one, two := h.Login(1), h.Login(2)
		tests := []struct {
			name    string
			headers []string
			want    string
			cookie  string // set by the response
		}{
			{"anonymous", nil, "0", ""},
			{"bearer", []string{"Authorization: Bearer " + one}, "1", ""},
			{"bearer in lower case", []string{"authorization: bearer " + one}, "1", ""},
			{"cookie", []string{"Cookie: retwis_session=" + two}, "2", ""},
			{"bearer wins", []string{"Cookie: retwis_session=" + two, "Authorization: Bearer " + one}, "1", ""},
			{"another scheme", []string{"Authorization: Basic eDp5", "Cookie: retwis_session=" + two}, "2", ""},
			{"cookie of TLS without TLS", []string{"Cookie: __Host-retwis_session=" + two}, "0", ""},
			{"stale cookie", []string{"Cookie: retwis_session=old"}, "0", "retwis_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"},
			{"proxy that is not trusted", []string{"X-Forwarded-Proto: https", "Cookie: __Host-retwis_session=" + two}, "0", ""},
		}
		for _, tt := range tests {
			h.Run(tt.name, func(t *testing.T) {
				w, body := h.Do("POST", "", query, append(tt.headers, servertest.JSON)...)
				if want := `{"data":{"whoami":"` + tt.want + `"}}`; body != want {
					t.Errorf("got %s, want %s", body, want)
				}
				if got := w.Header.Get("Set-Cookie"); got != tt.cookie {
					t.Errorf("got cookie %q", got)
				}
			})
		}
	})
}

func TestExchange_SetsTheSessionCookie(t *testing.T) {
	const login = `{"query":"mutation { login(token: \"fresh\") }"}`
	servertest.OnTCP(t, func(o *server.Options) {
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}, func(h *servertest.Harness) {
		tests := []struct {
			name    string
			headers []string
			want    []string
		}{
			{"plain", nil, []string{"retwis_session=fresh; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax"}},
			{"over TLS", []string{"X-Forwarded-Proto: https"}, []string{"__Host-retwis_session=fresh; Path=/; Max-Age=2592000; HttpOnly; Secure; SameSite=Lax"}},
			{"instead of a stale one", []string{"Cookie: retwis_session=old"}, []string{"retwis_session=fresh; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax"}},
		}
		for _, tt := range tests {
			h.Run(tt.name, func(t *testing.T) {
				w, _ := h.Do("POST", "", login, append(tt.headers, servertest.JSON)...)
				if diff := cmp.Diff(tt.want, w.Header["Set-Cookie"]); diff != "" {
					t.Error(diff)
				}
			})
		}
		token := h.Login(3)
		_, body := h.Do("POST", "", `{"query":"{ whoami }"}`, servertest.JSON, "X-Forwarded-Proto: https", "Cookie: __Host-retwis_session="+token)
		if body != `{"data":{"whoami":"3"}}` {
			h.Errorf("cookie over TLS: got %s", body)
		}
	})
}

// Attack: the sessions of tokens that never belonged to anybody are read for free.
func TestExchange_ChargesForTheRequestAndTheReadOfItsSession(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		for name, tt := range map[string]struct {
			headers []string
			price   int
		}{
			"no token":            {nil, cost.PerRequest},
			"cookie":              {[]string{"Cookie: retwis_session=" + h.Login(1)}, cost.PerRequest + cost.PerSession},
			"token":               {[]string{"Authorization: Bearer " + h.Login(2)}, cost.PerRequest + cost.PerSession},
			"cookie of nobody":    {[]string{"Cookie: retwis_session=old"}, cost.PerRequest + cost.PerSession},
			"token of nobody":     {[]string{"Authorization: Bearer old"}, cost.PerRefusal},
			"cookie, without TLS": {[]string{"Cookie: __Host-retwis_session=old"}, cost.PerRequest},
		} {
			for transport, request := range map[string]func(headers ...string){
				"POST": func(headers ...string) {
					h.Do("POST", "", `{"query":"{ whoami }"}`, append(headers, servertest.JSON)...)
				},
				"GET": func(headers ...string) { h.Do("GET", "query=%7Bwhoami%7D", "", headers...) },
				"SSE": func(headers ...string) {
					h.Do("GET", "query=%7Bwhoami%7D", "", append(headers, "Accept: text/event-stream")...)
				},
			} {
				before := h.Backend.Charged.Load()
				request(tt.headers...)
				if got := int(h.Backend.Charged.Load() - before); got != tt.price {
					h.Errorf("%s, %s: charged %d, want %d", name, transport, got, tt.price)
				}
			}
		}
	})
}

func TestExchange_OutageDoesNotEndSessions(t *testing.T) {
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		h.Accounts.Set(errors.New("redis is down"), nil)
		for _, shown := range []string{"Authorization: Bearer x", "Cookie: retwis_session=x"} {
			w, body := h.Do("POST", "", `{"query":"{ whoami }"}`, servertest.JSON, shown)
			if w.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "INTERNAL_SERVER_ERROR") || strings.Contains(body, "redis") {
				h.Errorf("got status %d, %s", w.StatusCode, body)
			}
			if w.Header.Get("Set-Cookie") != "" || w.Header.Get("Retry-After") == "" {
				h.Errorf("got header %v", w.Header)
			}
		}
		if !strings.Contains(h.Logs.String(), "redis is down") {
			h.Error("the log lacks the cause")
		}
	})
}

// The response of a password change sets a new cookie. Responses to earlier requests of the
// browser must not clear it.
func TestExchange_ClearsStaleCookies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		err     error
		headers []string
		cleared bool
	}{
		{"of a session that ended", retwis.ErrUnauthenticated, []string{"Cookie: retwis_session=old"}, true},
		{"of a session that was just replaced", errors.Join(retwis.ErrUnauthenticated, retwis.ErrSessionReplaced),
			[]string{"Cookie: retwis_session=old"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			servertest.InBubble(t, nil, func(h *servertest.Harness) {
				h.Accounts.Set(tt.err, nil)
				for _, accept := range []string{"application/json", "text/event-stream"} {
					got, body := h.Do("POST", "", `{"query":"{ whoami }"}`, append(tt.headers, "Content-Type: application/json", "Accept: "+accept)...)
					if !strings.Contains(body, `{"whoami":"0"}`) {
						h.Errorf("as %s: %s", accept, body)
					}
					if cleared := strings.Contains(got.Header.Get("Set-Cookie"), "Max-Age=0"); cleared != tt.cleared {
						h.Errorf("as %s the cookie is %q", accept, got.Header.Get("Set-Cookie"))
					}
				}
			})
		})
	}
}

func TestExchange_KeepsTheCookieOfAnotherSession(t *testing.T) {
	t.Parallel()
	const clear = `{"query":"mutation { login(token: \"\") }"}`
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		token, other := h.Login(1), h.Login(2)
		for name, tt := range map[string]struct {
			headers []string
			cleared bool
		}{
			"by its cookie": {[]string{"Cookie: retwis_session=" + token}, true},
			"by its token":  {[]string{"Authorization: Bearer " + token}, true},
			"by both":       {[]string{"Authorization: Bearer " + token, "Cookie: retwis_session=" + token}, true},
			"by its token, with the cookie of another": {[]string{"Authorization: Bearer " + token, "Cookie: retwis_session=" + other}, false},
		} {
			got, body := h.Do("POST", "", clear, append(tt.headers, "Content-Type: application/json")...)
			if cleared := strings.Contains(got.Header.Get("Set-Cookie"), "Max-Age=0"); cleared != tt.cleared {
				h.Errorf("%s: %s, and the cookie is %q", name, body, got.Header.Get("Set-Cookie"))
			}
		}
	})
}

// A server that knows a token from an earlier request reads its session while it executes the operation.
func TestExchange_ShowsNothingOfASessionThatHasEnded(t *testing.T) {
	t.Parallel()
	const query, mutation = `{"query":"{ whoami }"}`, `{"query":"mutation { login(token: \"fresh\") }"}`
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		for name, tt := range map[string]struct {
			header, body string
			status       int
			want         string // in the body
			cookie       string // of the response
		}{
			"query by token":     {"Authorization: Bearer ", query, http.StatusUnauthorized, "UNAUTHENTICATED", ""},
			"query by cookie":    {"Cookie: retwis_session=", query, http.StatusOK, `{"whoami":"0"}`, "retwis_session=;"},
			"mutation by token":  {"Authorization: Bearer ", mutation, http.StatusUnauthorized, "UNAUTHENTICATED", ""},
			"mutation by cookie": {"Cookie: retwis_session=", mutation, http.StatusOK, "welcome", "retwis_session=fresh;"},
			"invalid, by token":  {"Authorization: Bearer ", `{"query":"{ nothing }"}`, http.StatusUnauthorized, "UNAUTHENTICATED", ""},
		} {
			token := h.Login(1)
			for range 2 {
				reads := h.Accounts.Calls()
				if _, body := h.Do("POST", "", query, servertest.JSON, tt.header+token); !strings.Contains(body, `{"whoami":"1"}`) {
					h.Errorf("%s: before the end, got %s", name, body)
				}
				if reads = h.Accounts.Calls() - reads; reads != 1 {
					h.Errorf("%s: the session was read %d times", name, reads)
				}
			}
			h.Accounts.End(token)
			got, body := h.Do("POST", "", tt.body, servertest.JSON, tt.header+token)
			if got.StatusCode != tt.status || !strings.Contains(body, tt.want) {
				h.Errorf("%s: got status %d, %s", name, got.StatusCode, body)
			}
			if cookie := got.Header.Get("Set-Cookie"); !strings.HasPrefix(cookie, tt.cookie) || (tt.cookie == "") != (cookie == "") {
				h.Errorf("%s: the cookie is %q", name, cookie)
			}
		}
	})
}
