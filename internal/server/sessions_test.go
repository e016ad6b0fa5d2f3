package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/gorilla/websocket"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/retwis"
)

const feedA = `subscription { feed(topic: "a") }`

func TestWhoOpensASocket(t *testing.T) {
	tests := []struct {
		name    string
		payload string // of connection_init, with TOKEN for that of user 1
		headers []string
		want    string // user
	}{
		{"nobody", ``, nil, "0"},
		{"token", `{"authorization":"Bearer TOKEN"}`, nil, "1"},
		{"token, key in another case", `{"Authorization":"bearer TOKEN"}`, nil, "1"},
		{"token wins over the cookie", `{"authorization":"Bearer TOKEN"}`, []string{"Cookie: retwis_session=COOKIE"}, "1"},
		{"cookie", ``, []string{"Cookie: retwis_session=COOKIE"}, "2"},
		{"cookie beside null", `{"authorization":null}`, []string{"Cookie: retwis_session=COOKIE"}, "2"},
		{"header", ``, []string{"Authorization: Bearer COOKIE"}, "2"},
		{"stale cookie", ``, []string{"Cookie: retwis_session=old"}, "0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, nil, func(h *harness) {
				fill := strings.NewReplacer("TOKEN", h.login(1), "COOKIE", h.login(2))
				var headers []string
				for _, line := range tt.headers {
					headers = append(headers, fill.Replace(line))
				}
				c := h.socket(headers...)
				init := `{"type":"connection_init"}`
				if tt.payload != "" {
					init = `{"type":"connection_init","payload":` + fill.Replace(tt.payload) + `}`
				}
				c.send(init)
				c.expect(`{"type":"connection_ack"}`)
				c.subscribe("1", `{ whoami }`)
				c.expect(`{"type":"next","payload":{"data":{"whoami":"` + tt.want + `"}},"id":"1"}`)
			})
		})
	}
}

func TestBadTokensCloseWith4403(t *testing.T) {
	for _, payload := range []string{
		`{"authorization":"Bearer nonsense"}`,
		`{"authorization":"Bearer "}`,
		`{"authorization":"nonsense"}`,
		`{"AUTHORIZATION":"Basic eDp5"}`,
		`{"authorization":{"token":"x"}}`,
	} {
		t.Run(payload, func(t *testing.T) {
			t.Parallel()
			inBubble(t, nil, func(h *harness) {
				c := h.socket("Cookie: retwis_session=" + h.login(1)) // of no use beside a bad token
				c.send(`{"type":"connection_init","payload":` + payload + `}`)
				c.expectClose(4403)
			})
		})
	}
}

func TestBadTokenInTheHeaderClosesWith4403(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		c := h.socket("Authorization: Bearer nonsense")
		c.send(`{"type":"connection_init"}`)
		c.expectClose(4403)
	})
}

func TestSessionThatCannotBeReadMeansTryLater(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		h.accounts.set(errors.New("redis is down"), nil)
		c := h.socket()
		c.send(`{"type":"connection_init","payload":{"authorization":"Bearer x"}}`)
		c.expectClose(1013)
	})
}

func TestEndOfASessionClosesItsSockets(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		token, other := h.login(1), h.login(1)
		a, b := h.ready(token), h.ready(token)
		c, d, nobody := h.ready(other), h.ready(h.login(2)), h.ready("")
		a.subscribe("1", feedA)
		synctest.Wait()

		h.server.SessionEnded(h.accounts.end(token))
		a.expectClose(4403)
		b.expectClose(4403)
		synctest.Wait()
		if n := h.backend.subscriptions(); n != 0 {
			h.Errorf("%d subscriptions outlive the session", n)
		}
		for _, stays := range []*wsClient{c, d, nobody} {
			stays.alive()
		}

		h.server.SessionEnded(retwis.SessionEnd{User: 1, Generation: 0})
		c.alive() // it is of generation 0, which goes on
		newer := h.ready(h.accounts.addOf(1, 2))
		h.server.SessionEnded(retwis.SessionEnd{User: 1, Generation: 2})
		c.expectClose(4403)
		newer.alive()
		d.alive()
		nobody.alive()
	})
}

func TestLostNewsHaveEverySessionChecked(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		token := h.login(1)
		ended, stays, nobody := h.ready(token), h.ready(h.login(2)), h.ready("")
		h.accounts.end(token) // and nobody says so
		asked := h.accounts.asked()
		for range 5 {
			h.server.SessionEnded(retwis.SessionEnd{})
		}
		ended.expectClose(4403)
		stays.alive()
		nobody.alive()
		synctest.Wait()
		if n := h.accounts.asked() - asked; n > 6 {
			h.Errorf("asked %d times for two sessions", n)
		}
	})
}

func TestSessionsAreCheckedNowAndThen(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		token := h.login(1)
		c := h.ready(token)
		h.accounts.end(token)
		start := time.Now()
		c.expectClose(4403)
		if waited := time.Since(start); waited != 5*time.Minute {
			h.Errorf("closed after %v", waited)
		}
	})
}

func TestOutageEndsNoSession(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		token := h.login(1)
		ended, stays := h.ready(token), h.ready(h.login(2))
		h.accounts.end(token)
		h.accounts.set(errors.New("redis is down"), nil)
		h.server.SessionEnded(retwis.SessionEnd{})
		synctest.Wait()
		ended.alive()
		stays.alive()

		// The check that failed is made up for before the next one is due.
		h.accounts.set(nil, nil)
		start := time.Now()
		ended.expectClose(4403)
		if waited := time.Since(start); waited > 10*time.Second {
			h.Errorf("closed after %v", waited)
		}
		stays.alive()
	})
}

// What is announced after a session was read and before its socket is in the index
// would be lost if nobody remembered it.
func TestEndWhileTheSocketIsAdmitted(t *testing.T) {
	tests := []struct {
		name string
		end  func(retwis.SessionEnd) []retwis.SessionEnd
		want bool // the socket closes
	}{
		{"of the session", func(e retwis.SessionEnd) []retwis.SessionEnd { return []retwis.SessionEnd{e} }, true},
		{"of all the user's", func(retwis.SessionEnd) []retwis.SessionEnd { return []retwis.SessionEnd{{User: 1, Generation: 1}} }, true},
		{"news lost", func(retwis.SessionEnd) []retwis.SessionEnd { return []retwis.SessionEnd{{}} }, true},
		{"behind very many others", func(e retwis.SessionEnd) []retwis.SessionEnd {
			var ends []retwis.SessionEnd
			for user := range retwis.UserID(2 * maxEnded) {
				ends = append(ends, retwis.SessionEnd{Session: retwis.SessionKey{Hash: user.String()}})
			}
			return append(ends, e)
		}, true},
		{"of another user's", func(retwis.SessionEnd) []retwis.SessionEnd { return []retwis.SessionEnd{{User: 2, Generation: 1}} }, false},
		{"of the user's older ones", func(retwis.SessionEnd) []retwis.SessionEnd { return []retwis.SessionEnd{{User: 1, Generation: 0}} }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, nil, func(h *harness) {
				token := h.login(1)
				h.accounts.set(nil, func() {
					end := retwis.SessionEnd{User: 2}
					if tt.want {
						end = h.accounts.end(token)
					}
					for _, e := range tt.end(end) {
						h.server.SessionEnded(e)
					}
				})
				c := h.socket()
				c.send(`{"type":"connection_init","payload":{"authorization":"Bearer ` + token + `"}}`)
				if tt.want {
					c.expectClose(4403)
					return
				}
				c.expect(`{"type":"connection_ack"}`)
				c.alive()
			})
		})
	}
}

func TestLogoutOverItsOwnSocketIsAnswered(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		token := h.login(1)
		c := h.ready(token)
		c.subscribe("s", feedA)
		c.subscribe("q", `{ gate(name: "never") }`)
		c.subscribe("m", `mutation { gate(name: "g") }`)
		synctest.Wait()
		h.server.SessionEnded(h.accounts.end(token)) // comes before the mutation's answer
		synctest.Wait()
		if n := h.backend.subscriptions(); n != 0 {
			h.Errorf("%d subscriptions outlive the session", n)
		}
		c.subscribe("late", `{ hello }`) // not answered any more
		synctest.Wait()
		close(h.backend.gate("g"))
		c.expect(`{"type":"next","payload":{"data":{"gate":"through"}},"id":"m"}`, `{"type":"complete","id":"m"}`)
		c.expectClose(4403)
	})
}

func TestMutationHoldsTheEndOfASessionUpForASecond(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		token := h.login(1)
		c := h.ready(token)
		c.subscribe("m", `mutation { gate(name: "never") }`)
		synctest.Wait()
		start := time.Now()
		h.server.SessionEnded(h.accounts.end(token))
		c.expectClose(4403)
		if waited := time.Since(start); waited != lastReply {
			h.Errorf("closed after %v", waited)
		}
	})
}

// slowToPrepare is an executor that does not come to an end with `{ hello }`.
type slowToPrepare struct {
	Executor
	gate chan struct{}
}

func (e slowToPrepare) CreateOperationContext(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	if params.Query == "{ hello }" {
		<-e.gate
	}
	return e.Executor.CreateOperationContext(ctx, params)
}

func TestNothingBeginsOnASocketWhoseSessionHasEnded(t *testing.T) {
	t.Parallel()
	var gate chan struct{}
	inBubble(t, func(o *Options) {
		gate = make(chan struct{})
		o.Executor = slowToPrepare{o.Executor, gate}
	}, func(h *harness) {
		token := h.login(1)
		c := h.ready(token)
		c.subscribe("m", `mutation { gate(name: "g") }`)
		c.subscribe("q", `{ hello }`)
		synctest.Wait()
		h.server.SessionEnded(h.accounts.end(token))
		close(gate)
		synctest.Wait()
		close(h.backend.gate("g"))
		c.expect(`{"type":"next","payload":{"data":{"gate":"through"}},"id":"m"}`, `{"type":"complete","id":"m"}`)
		if _, text, err := c.ws.ReadMessage(); !websocket.IsCloseError(err, closeForbidden) {
			t.Errorf("got %s, %v, want close code %d", text, err, closeForbidden)
		}
	})
}

func TestClosedSocketsLeaveTheIndex(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		token := h.login(1)
		for range 3 {
			c := h.ready(token)
			c.subscribe("1", feedA)
			synctest.Wait()
			c.ws.Close()
		}
		synctest.Wait()
		r := h.server.sockets
		r.mu.Lock()
		defer r.mu.Unlock()
		if n := len(r.open) + len(r.bySession) + len(r.byUser) + len(r.shares.taken) + len(r.subscriptions.taken) + len(r.admissions); n != 0 {
			h.Errorf("%d entries are left behind", n)
		}
	})
}

// A browser that changes its password has a new cookie with the answer. What else it asked
// for before must not take that one away.
func TestStaleCookies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		err     error
		headers []string
		cleared bool
	}{
		{"of a session that ended", retwis.ErrUnauthenticated, []string{"Cookie: retwis_session=old"}, true},
		{"of a session replaced just now", errors.Join(retwis.ErrUnauthenticated, retwis.ErrSessionReplaced),
			[]string{"Cookie: retwis_session=old"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, nil, func(h *harness) {
				h.accounts.set(tt.err, nil)
				for _, accept := range []string{"application/json", "text/event-stream"} {
					got, body := h.do("POST", "", `{"query":"{ whoami }"}`, append(tt.headers, "Content-Type: application/json", "Accept: "+accept)...)
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

func TestALateAnswerClearsNoCookie(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(h *harness) {
		var jar cookieJar
		jar.stale()
		time.Sleep(staleFor + time.Millisecond)
		header := http.Header{}
		jar.write(header, false, time.Hour)
		if len(header) != 0 {
			h.Errorf("a late answer has %v", header)
		}
		jar.put("") // a logout clears it however long it takes
		jar.write(header, false, time.Hour)
		if !strings.Contains(header.Get("Set-Cookie"), "Max-Age=0") {
			h.Errorf("a logout has %v", header)
		}
	})
}

func TestTheCookieOfAnotherSessionStays(t *testing.T) {
	t.Parallel()
	const clear = `{"query":"mutation { login(token: \"\") }"}`
	inBubble(t, nil, func(h *harness) {
		token, other := h.login(1), h.login(2)
		for name, tt := range map[string]struct {
			headers []string
			cleared bool
		}{
			"by its cookie":              {[]string{"Cookie: retwis_session=" + token}, true},
			"by its token":               {[]string{"Authorization: Bearer " + token}, true},
			"by both":                    {[]string{"Authorization: Bearer " + token, "Cookie: retwis_session=" + token}, true},
			"beside the cookie of other": {[]string{"Authorization: Bearer " + token, "Cookie: retwis_session=" + other}, false},
		} {
			got, body := h.do("POST", "", clear, append(tt.headers, "Content-Type: application/json")...)
			if cleared := strings.Contains(got.Header.Get("Set-Cookie"), "Max-Age=0"); cleared != tt.cleared {
				h.Errorf("%s: %s, and the cookie is %q", name, body, got.Header.Get("Set-Cookie"))
			}
		}
	})
}
