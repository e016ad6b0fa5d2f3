package main

import (
	"net/http"
	"testing"
)

func TestSessionCookie_IsSetAndCleared(t *testing.T) {
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

func TestChangePassword_EndsOtherSessions(t *testing.T) {
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

func TestSessions_AreListedAndRevoked(t *testing.T) {
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
