package main

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"retwis/internal/redistest"
)

func TestHealthAndReadiness(t *testing.T) {
	t.Parallel()
	node := redistest.Server(t)
	p := serve(t, environment("RETWIS_REDIS_URL="+node.URL(), "RETWIS_METRICS_LISTEN=127.0.0.1:0"))
	operators := metricsOf(p)
	c := register(t, p.url, "reader")
	live := c.watchNow()
	eventually(t, "ready", func() bool {
		status, body := c.get("/readyz")
		return status == http.StatusOK && strings.Contains(body, `{"ready":true,"checks":{"live":"ok","outbox":"ok","redis":"ok"}}`)
	})
	node.Pause()
	if status, body := c.get("/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, `"redis":"failing"`) {
		t.Errorf("/readyz of a service without Redis: %d %s", status, body)
	} else if strings.Contains(body, "reasons") {
		t.Errorf("everybody is told why: %s", body)
	}
	if status, body := get(t, operators+"/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, `"reasons":{`) || !strings.Contains(body, `"redis":"ping Redis`) {
		t.Errorf("operators are not told why: %d %s", status, body)
	}
	if got := sum(scrape(t, operators), "retwis_redis_up"); got != 0 {
		t.Errorf("retwis_redis_up is %v without Redis", got)
	}
	if status, body := c.get("/healthz"); status != http.StatusOK {
		t.Errorf("/healthz of a service without Redis: %d %s", status, body)
	}
	node.Resume()
	eventually(t, "ready again", func() bool {
		status, _ := c.get("/readyz")
		return status == http.StatusOK
	})

	request := begin(t, p.url, c.token) // it is waited for
	p.signal(syscall.SIGTERM)
	eventually(t, "it says that it drains", func() bool {
		status, body := get(t, operators+"/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, `{"ready":false,"draining":true`)
	})
	if got := sum(scrape(t, operators), "retwis_draining"); got != 1 {
		t.Errorf("retwis_draining is %v while it stops", got)
	}
	request.finish()
	live.expectClose(1012)
	if code := p.code(); code != 0 {
		t.Errorf("it ended with code %d", code)
	}
}

func TestAProcessIsNotReadyWhileFanOutLags(t *testing.T) {
	t.Parallel()
	env := environment("RETWIS_REDIS_URL="+redistest.Server(t).URL(), "RETWIS_METRICS_LISTEN=127.0.0.1:0", "RETWIS_READY_MAX_LAG=1ms")
	api := serve(t, env, "--no-worker")
	operators := metricsOf(api)
	author := register(t, api.url, "author")
	author.createPost("not delivered yet")
	eventually(t, "the API is not ready", func() bool {
		status, body := get(t, operators+"/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, `"outbox":"the oldest of `) && strings.Contains(body, "see that workers run")
	})
	if got := scrape(t, operators); sum(got, "retwis_outbox_oldest_seconds") <= 0 || sum(got, "retwis_outbox_entries") < 1 {
		t.Error("the metrics do not tell of the lag")
	}

	worker := launch(t, env, "worker")
	of := metricsOf(worker)
	eventually(t, "both are ready", func() bool {
		ours, _ := get(t, operators+"/readyz")
		theirs, body := get(t, of+"/readyz")
		return ours == http.StatusOK && theirs == http.StatusOK && strings.Contains(body, `"checks":{"outbox":"ok","redis":"ok"}`)
	})
	if got := scrape(t, of); sum(got, "retwis_fanout_pushes_total") < 1 {
		t.Error("the worker does not tell of its deliveries")
	}
	worker.stop()
	api.stop()
}

func TestPagesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL=memory", "RETWIS_ALLOWED_ORIGINS=https://app.example,http://localhost:5173"))
	c := newClient(t, p.url)
	for origin, allowed := range map[string]bool{
		"https://app.example": true, "http://localhost:5173": true, "https://evil.example": false, "null": false,
	} {
		got, _ := c.request(http.MethodOptions, "/graphql", nil, "Origin: "+origin,
			"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type")
		h := got.header
		if allowed && (got.status != http.StatusNoContent || h.Get("Access-Control-Allow-Origin") != origin ||
			h.Get("Access-Control-Allow-Credentials") != "true" || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Authorization")) {
			t.Errorf("preflight from %s: %d %v", origin, got.status, h)
		}
		if !allowed && (got.status != http.StatusForbidden || h.Get("Access-Control-Allow-Origin") != "") {
			t.Errorf("preflight from %s: %d %v", origin, got.status, h)
		}

		got, _ = c.post(`{ viewer { id } }`, nil, "Origin: "+origin, "Sec-Fetch-Site: cross-site")
		if shown := got.header.Get("Access-Control-Allow-Origin"); (shown == origin) != allowed || (got.status == http.StatusOK) != allowed {
			t.Errorf("POST from %s: status %d, allowed is %q", origin, got.status, shown)
		}

		ws, status := c.dial("Origin: " + origin)
		if ws != nil {
			ws.Close()
		}
		if (ws != nil) != allowed || (!allowed && status != http.StatusForbidden) {
			t.Errorf("websocket from %s: status %d", origin, status)
		}
	}
	for _, headers := range [][]string{nil, {"Origin: " + p.url}} { // not a browser; the service's own pages
		ws, status := c.dial(headers...)
		if ws == nil {
			t.Fatalf("websocket with %q: status %d", headers, status)
		}
		ws.Close()
	}
	p.stop()
}

func TestSessionsInCookies(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL=memory", "RETWIS_TRUSTED_PROXIES=127.0.0.1"))
	register(t, p.url, "reader")
	const login = `mutation ($password: String!) { login(input: {username: "reader", password: $password}) { token userErrors { code message } } }`
	const viewer = `{ viewer { user { username } } }`
	for _, over := range []struct {
		name    string
		headers []string
		cookie  string
		secure  bool
	}{
		{"HTTP", nil, "retwis_session", false},
		{"TLS, as the proxy says", []string{"X-Forwarded-Proto: https"}, "__Host-retwis_session", true},
	} {
		c := newClient(t, p.url)
		got, a := c.post(login, map[string]any{"password": somePassword}, over.headers...)
		if len(got.cookies) != 1 || len(a.Errors) > 0 {
			t.Fatalf("over %s: cookies %v, errors %v", over.name, got.cookies, a.Errors)
		}
		cookie := got.cookies[0]
		if cookie.Name != over.cookie || !cookie.HttpOnly || cookie.Secure != over.secure || cookie.SameSite != http.SameSiteLaxMode ||
			cookie.Value != a.Data.Login.Token || cookie.Path != "/" {
			t.Errorf("over %s: the cookie is %v", over.name, cookie)
		}
		headers := append([]string{"Cookie: " + cookie.Name + "=" + cookie.Value}, over.headers...)
		if _, a := c.post(viewer, nil, headers...); a.Data.Viewer == nil || a.Data.Viewer.User.Username != "reader" {
			t.Errorf("over %s: the cookie gives %+v", over.name, a)
		}
		got, _ = c.post(`mutation { logout { userErrors { code message } } }`, nil, headers...)
		if cookies := got.cookies; len(cookies) != 1 || cookies[0].MaxAge >= 0 {
			t.Errorf("over %s: after logging out the cookies are %v", over.name, cookies)
		}
		got, a = c.post(viewer, nil, headers...)
		if cookies := got.cookies; a.Data.Viewer != nil || len(a.Errors) > 0 || len(cookies) != 1 || cookies[0].MaxAge >= 0 {
			t.Errorf("over %s: a stale cookie gives %+v and the cookies %v", over.name, a, cookies)
		}
	}
	p.stop()
}

func TestAChangedPasswordEndsOtherSessions(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL=memory"))
	mine := register(t, p.url, "reader")
	other := mine.login("reader", somePassword)
	live := other.watchNow()
	const changed = "battery staple"
	made := mine.do(`mutation ($old: String!, $new: String!) {
		changePassword(input: {currentPassword: $old, newPassword: $new}) { token userErrors { code message } }
	}`, map[string]any{"old": somePassword, "new": changed}).Data.ChangePassword
	live.expectClose(4403)

	const viewer = `{ viewer { user { username } } }`
	for name, c := range map[string]*client{"another session": other, "the session before": mine} {
		if got, a := c.post(viewer, nil); got.status != http.StatusUnauthorized || len(a.Errors) != 1 {
			t.Errorf("%s gets %d %+v", name, got.status, a)
		}
	}
	mine.token = made.Token
	if a := mine.do(viewer, nil); a.Data.Viewer == nil {
		t.Error("the new session is nobody's")
	}
	const login = `mutation ($password: String!) { login(input: {username: "reader", password: $password}) { token userErrors { code message } } }`
	_, a := newClient(t, p.url).post(login, map[string]any{"password": somePassword})
	if errs := a.Data.Login.UserErrors; len(errs) != 1 || errs[0].Code != "WRONG_CREDENTIALS" {
		t.Errorf("the old password gives %+v", a)
	}
	mine.login("reader", changed)
	p.stop()
}

func TestSessionsAreListedAndRevoked(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL=memory"))
	laptop := register(t, p.url, "reader")
	const login = `mutation ($password: String!) { login(input: {username: "reader", password: $password}) { token userErrors { code message } } }`
	phone := newClient(t, p.url)
	_, a := phone.post(login, map[string]any{"password": somePassword}, "User-Agent: Phone/1.0\x80 (\x9b31m)")
	phone.token = a.Data.Login.Token
	live, stays := phone.watchNow(), laptop.watchNow()

	const sessions = `{ viewer { sessions { id userAgent current } } }`
	listed := laptop.do(sessions, nil).Data.Viewer.Sessions
	if len(listed) != 2 {
		t.Fatalf("the sessions are %+v", listed)
	}
	other := listed[0]
	if other.Current {
		other = listed[1]
	}
	if other.Current || other.UserAgent != "Phone/1.0 ( 31m)" {
		t.Errorf("the sessions are %+v", listed)
	}
	const revoke = `mutation ($id: ID!) { revokeSession(input: {sessionId: $id}) { revokedSessionId userErrors { code message } } }`
	for range 2 {
		if got := laptop.do(revoke, map[string]any{"id": other.ID}).Data.RevokeSession; got.RevokedSessionID != other.ID || len(got.UserErrors) > 0 {
			t.Errorf("revoking gives %+v", got)
		}
	}
	live.expectClose(4403)
	if got, _ := phone.post(sessions, nil); got.status != http.StatusUnauthorized {
		t.Errorf("the revoked session gets %d", got.status)
	}
	if left := laptop.do(sessions, nil).Data.Viewer.Sessions; len(left) != 1 || !left[0].Current {
		t.Errorf("these are left: %+v", left)
	}
	laptop.createPost("still here")
	stays.expectPost("still here")
	p.stop()
}

func TestTheSchemaCanBeHidden(t *testing.T) {
	t.Parallel()
	const introspection = `{ __schema { queryType { name } } }`
	open, hidden := serve(t, environment("RETWIS_REDIS_URL=memory")), serve(t, environment("RETWIS_REDIS_URL=memory", "RETWIS_INTROSPECTION=false"))
	if _, a := newClient(t, open.url).post(introspection, nil); len(a.Errors) > 0 {
		t.Errorf("introspection: %v", a.Errors)
	}
	if _, a := newClient(t, hidden.url).post(introspection, nil); len(a.Errors) != 1 {
		t.Errorf("introspection that is switched off: %+v", a)
	}
	open.stop()
	hidden.stop()
}

func TestLimitsCanBeLifted(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL=memory", "RETWIS_RATE_LIMITS=off"))
	reader := register(t, p.url, "reader")
	for range 11 { // sockets of 100 each are more than the 1000 of one user
		s := reader.watchNow()
		for i := range 99 {
			s.send(map[string]any{"type": "subscribe", "id": fmt.Sprint("more", i), "payload": map[string]any{
				"query": `subscription { timelineEvents { cursor } }`,
			}})
		}
		for range 99 {
			if m := s.read(); m.Type != "next" {
				t.Fatalf("got %s %s", m.Type, m.Payload)
			}
		}
	}
	p.stop()
}

func TestWebsocketsMayBeCompressed(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{false, true} {
		p := serve(t, environment("RETWIS_REDIS_URL=memory", fmt.Sprint("RETWIS_COMPRESSION=", on)))
		reader := register(t, p.url, "reader")
		ws, _, header := reader.handshake()
		if got := header.Get("Sec-WebSocket-Extensions"); strings.HasPrefix(got, "permessage-deflate") != on {
			t.Errorf("with compression %v the extensions are %q", on, got)
		}
		_ = ws.Close()
		live := reader.watchNow()
		text := strings.Repeat("again, ", 30) + "end"
		reader.createPost(text)
		live.expectPost(text)
		p.stop()
	}
}
