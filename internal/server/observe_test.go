package server_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"retwis/internal/server"
	"retwis/internal/server/servertest"
)

func TestServer_ReturnsRequestIDs(t *testing.T) {
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		own := regexp.MustCompile(`^[0-9a-f]{16}$`)
		for _, tt := range []struct {
			sent string
			kept bool
		}{
			{"", false},
			{"a-B_9.z", true},
			{"with space", false},
			{`with"quote`, false},
			{strings.Repeat("x", 65), false},
		} {
			w, _ := h.Request("GET", h.URL+"/healthz", "", "X-Request-Id: "+tt.sent)
			got := w.Header.Get("X-Request-Id")
			if tt.kept != (got == tt.sent) || (!tt.kept && !own.MatchString(got)) {
				h.Errorf("sent %q, got %q", tt.sent, got)
			}
			if !strings.Contains(h.Logs.String(), "request="+got) {
				h.Errorf("%q is not in the log", got)
			}
		}
	})
}

func TestServer_LogsNoSecrets(t *testing.T) {
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		token := h.Login(1)
		h.Do("POST", "", `{"query":"{ echo(value: 271828) }"}`, servertest.JSON, "Authorization: Bearer "+token)
		h.Do("GET", "query=%7Becho(value:271828)%7D", "", "Cookie: retwis_session="+token)
		c := h.Ready(token)
		c.Subscribe("1", `{ echo(value: 271828) }`)
		c.Read()
		log := h.Logs.String()
		if strings.Contains(log, token) || strings.Contains(log, "271828") {
			h.Errorf("the log contains secrets:\n%s", log)
		}
		if !strings.Contains(log, "status=200") || !strings.Contains(log, "path=/graphql") {
			h.Errorf("the log lacks attributes:\n%s", log)
		}
	})
}

func TestServer_ServesHealthPages(t *testing.T) {
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		for path, want := range map[string]int{"/": 200, "/healthz": 200, "/readyz": 200, "/nowhere": 404, "/metrics": 404} {
			if w, _ := h.Request("GET", h.URL+path, ""); w.StatusCode != want {
				h.Errorf("%s: got status %d", path, w.StatusCode)
			}
		}
		if _, body := h.Request("GET", h.URL+"/", ""); !strings.Contains(body, "/graphql") {
			h.Errorf("got page %s", body)
		}
	})
}

func TestServer_PassesOtherPathsToTheWebApp(t *testing.T) {
	web := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			panic("broken page")
		}
		_, _ = io.WriteString(w, "web "+r.URL.Path)
	})
	servertest.OnTCP(t, func(o *server.Options) { o.Web = web }, func(h *servertest.Harness) {
		for _, path := range []string{"/", "/playground", "/a/b"} {
			if _, body := h.Request("GET", h.URL+path, ""); body != "web "+path {
				h.Errorf("%s: got %s", path, body)
			}
		}
		w, body := h.Request("GET", h.URL+"/broken", "")
		if w.StatusCode != http.StatusInternalServerError || strings.Contains(body, "broken page") {
			h.Errorf("got status %d, %s", w.StatusCode, body)
		}
		if !strings.Contains(h.Logs.String(), "broken page") {
			h.Error("the log lacks the cause")
		}
	})
}
