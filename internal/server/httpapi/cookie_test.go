package httpapi

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestALateAnswerClearsNoCookie(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var jar cookieJar
		jar.clearStale()
		time.Sleep(staleFor + time.Millisecond)
		header := http.Header{}
		jar.write(header, false, time.Hour)
		if len(header) != 0 {
			t.Errorf("a late answer has %v", header)
		}
		jar.put("") // a logout clears it however long it takes
		jar.write(header, false, time.Hour)
		if !strings.Contains(header.Get("Set-Cookie"), "Max-Age=0") {
			t.Errorf("a logout has %v", header)
		}
	})
}
