package httpapi

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCookieJar_LateResponseKeepsTheCookie(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var jar cookieJar
		jar.clearStale()
		time.Sleep(staleFor + time.Millisecond)
		header := http.Header{}
		jar.write(header, false, time.Hour)
		if len(header) != 0 {
			t.Errorf("a late response has %v", header)
		}
		jar.put("") // a logout clears the cookie, however late
		jar.write(header, false, time.Hour)
		if !strings.Contains(header.Get("Set-Cookie"), "Max-Age=0") {
			t.Errorf("a logout has %v", header)
		}
	})
}
