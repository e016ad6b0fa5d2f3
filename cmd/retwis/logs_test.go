package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"retwis/internal/redistest"
)

// The planted texts must not appear in any log.
const (
	plantedPassword = "Planted-Passw0rd-7d41"
	plantedAttempt  = "Planted-Attempt-55c0"
	plantedText     = "planted text 0f2b of a post"
	plantedBio      = "planted bio 9a3e"
	plantedQuery    = "plantedquery4c66"
	plantedToken    = "planted-token-e81f"
)

func planted() []string {
	return []string{plantedPassword, plantedAttempt, plantedText, plantedBio, plantedQuery, plantedToken, "Planted", "planted"}
}

// TestLog_ContainsNoUserData uses secrets in valid and invalid requests, with and without Redis, and searches the logs for
// them.
func TestLog_ContainsNoUserData(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			node := redistest.Server(t)
			if err := node.Client().Do(t.Context(), "ACL", "SETUSER", "service", "on", ">"+plantedPassword, "~*", "&*", "+@all").Err(); err != nil {
				t.Fatal(err)
			}
			env := environment("RETWIS_REDIS_URL="+withPassword(t, node.URL(), plantedPassword), "RETWIS_LOG_LEVEL=debug", "RETWIS_LOG_FORMAT="+format)
			p := launch(t, env, "serve", "--listen", "127.0.0.1:0")
			p.url = readyURL(p, format)
			worker := launch(t, env, "worker")
			worker.await(worker.stdout, map[string]string{"json": `"msg":"ready"`, "text": "The fan-out worker is ready"}[format])

			c := newClient(t, p.url)
			secrets := append(planted(), useSecrets(c)...)
			node.Pause()
			c.post(`mutation ($text: String!) { createPost(input: {text: $text}) { userErrors { code } } }`, map[string]any{"text": plantedText})
			c.post(`mutation ($p: String!) { login(input: {username: "owner", password: $p}) { userErrors { code } } }`, map[string]any{"p": plantedPassword})
			node.Resume()
			c.request(http.MethodGet, "/graphql?query="+url.QueryEscape(`{ user(username: "`+plantedQuery+`") { id } }`), nil)
			c.request(http.MethodGet, "/"+"?token="+plantedToken, nil)
			worker.stop()
			p.stop()

			logged := p.stdout.String() + p.stderr.String() + worker.stdout.String() + worker.stderr.String()
			for _, secret := range secrets {
				if at := strings.Index(logged, secret); at >= 0 {
					t.Errorf("%q is in the log:\n%s", secret, logged[max(0, at-300):min(len(logged), at+300)])
				}
			}
			if !strings.Contains(logged, "internal") && !strings.Contains(logged, "operation failed") {
				t.Errorf("failures of Redis are not in the log:\n%s", logged)
			}
		})
	}
}

// useSecrets sends the planted texts in every place that accepts text, and returns the tokens that it received.
func useSecrets(c *client) (tokens []string) {
	c.t.Helper()
	made := c.do(`mutation ($p: String!) { register(input: {username: "owner", password: $p}) { token user { id } userErrors { code } } }`,
		map[string]any{"p": plantedPassword}).Data.Register
	c.token, c.id = made.Token, made.User.ID
	if c.token == "" {
		c.t.Fatal("no token")
	}
	c.post(`mutation ($b: String!) { updateProfile(input: {bio: $b}) { userErrors { code } } }`, map[string]any{"b": plantedBio})
	c.createPost(plantedText)
	c.awaitHome(plantedText)
	c.post(`mutation { createPost(input: {text: "`+plantedText+`"}) { nothing } }`, nil)
	c.post(`query `+plantedQuery+` { `+plantedQuery+` }`, nil)
	c.post(`{ user(username: "`+plantedQuery, nil)
	c.post(`query ($a: Int!) { node(id: $a) { id } }`, map[string]any{"a": plantedText})
	c.post(`{ node(id: "`+plantedQuery+`") { id } }`, nil)
	c.post(`{ publicTimeline { posts(first: 3, after: "`+plantedQuery+`") { edges { cursor } } } }`, nil)
	c.post(`mutation { login(input: {username: "owner", password: "`+plantedAttempt+`"}) { token userErrors { code } } }`, nil)

	stranger := newClient(c.t, c.url)
	stranger.token = plantedToken
	stranger.post(`{ viewer { id } }`, nil)
	stranger.request(http.MethodPost, "/graphql", []byte(`{"query": "`+plantedText), "Content-Type: application/json", "Cookie: retwis_session="+plantedToken)
	stranger.request(http.MethodPost, "/graphql", []byte(`{"query":"{ viewer { id } }"}`), "Content-Type: application/json",
		"Authorization: Basic "+plantedToken, "X-Request-Id: "+plantedToken+" with a space")

	ws, _ := stranger.dial("Cookie: retwis_session=" + plantedToken)
	if ws == nil {
		c.t.Fatal("no websocket")
	}
	_ = ws.WriteJSON(map[string]any{"type": "connection_init", "payload": map[string]any{"authorization": "Bearer " + plantedToken}})
	_, _, _ = ws.ReadMessage()
	ws.Close()
	live := c.watchNow()
	c.createPost(plantedText + " again")
	live.expectPost(plantedText + " again")
	live.close()

	again := c.login("owner", plantedPassword)
	again.do(`mutation { logout { userErrors { code message } } }`, nil)
	again.post(`{ viewer { id } }`, nil)
	return []string{c.token, again.token}
}

func withPassword(t *testing.T, node, password string) string {
	t.Helper()
	u, err := url.Parse(node)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("service", password)
	return u.String()
}

// readyURL waits until a service is ready.
func readyURL(p *process, format string) string {
	p.t.Helper()
	if format != "json" {
		_, rest, _ := strings.Cut(p.await(p.stdout, "Retwis is ready at "), "ready at ")
		at, _, _ := strings.Cut(rest, " ")
		return at
	}
	var line struct{ URL string }
	if err := json.Unmarshal([]byte(p.await(p.stdout, `"msg":"ready"`)), &line); err != nil {
		p.t.Fatal(err)
	}
	return line.URL
}

// TestLog_LinesHaveTheRequestID finds the log lines of a request and of a websocket.
func TestLog_LinesHaveTheRequestID(t *testing.T) {
	t.Parallel()
	node := redistest.Server(t)
	p := launch(t, environment("RETWIS_REDIS_URL="+node.URL(), "RETWIS_LOG_LEVEL=debug", "RETWIS_LOG_FORMAT=json"),
		"serve", "--listen", "127.0.0.1:0")
	p.url = readyURL(p, "json")
	c := register(t, p.url, "reader")

	got, _ := c.post(`{ viewer { id } }`, nil, "X-Request-Id: from-the.proxy_1")
	if id := got.header.Get("X-Request-Id"); id != "from-the.proxy_1" {
		t.Errorf("the id of the proxy is returned as %q", id)
	}
	eventually(t, "the request is in the log", func() bool {
		lines := logLines(t, p, "from-the.proxy_1")
		return len(lines) > 0 && lines[len(lines)-1]["msg"] == "server: request"
	})

	for _, bad := range []string{"a b", `x" level=ERROR msg="forged`, "é", strings.Repeat("x", 65), "{}"} {
		got, _ := c.post(`{ viewer { id } }`, nil, "X-Request-Id: "+bad)
		if id := got.header.Get("X-Request-Id"); id == bad || len(id) != 16 {
			t.Errorf("the id %q is returned as %q", bad, id)
		}
	}

	// The log line of a failure has the id of the request.
	node.Pause()
	got, _ = c.post(`{ viewer { id } }`, nil, "X-Request-Id: fails-inside")
	node.Resume()
	if got.status == http.StatusOK {
		t.Fatalf("status %d without Redis", got.status)
	}
	eventually(t, "the failure is logged with the id of the request", func() bool {
		return slices.ContainsFunc(logLines(t, p, "fails-inside"), func(line map[string]any) bool {
			return line["level"] == "WARN" && line["err"] != nil
		})
	})

	ws, status, header := c.handshake("X-Request-Id: of-a-socket")
	if ws == nil || header.Get("X-Request-Id") != "of-a-socket" {
		t.Errorf("status %d, the id of a websocket is returned as %q", status, header.Get("X-Request-Id"))
	} else {
		ws.Close()
		eventually(t, "the websocket is in the log", func() bool { return len(logLines(t, p, "of-a-socket")) > 0 })
	}
	p.stop()
}

// TestLog_EscapesPaths sends line breaks and quotes in paths and queries.
func TestLog_EscapesPaths(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL=memory", "RETWIS_LOG_LEVEL=debug"))
	c := newClient(t, p.url)
	for _, path := range []string{"/a%0Alevel=ERROR%20msg=forged", "/%22%20level=ERROR%20msg=forged", "/%1b[31mforged"} {
		c.request(http.MethodGet, path, nil)
	}
	c.post("query { nothing\n}\nlevel=ERROR msg=forged", nil)
	p.stop()
	for line := range strings.Lines(p.stderr.String()) {
		if !strings.HasPrefix(line, "time=") || strings.Contains(line, " level=ERROR msg=forged") && !strings.Contains(line, `path="`) || strings.Contains(line, "\x1b") {
			t.Errorf("a client forged the log line %q", line)
		}
	}
}

// logLines returns the log lines of a request.
func logLines(t *testing.T, p *process, id string) (found []map[string]any) {
	t.Helper()
	for line := range strings.Lines(p.stderr.String()) {
		if !strings.HasSuffix(line, "\n") {
			break // the line is incomplete
		}
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(fmt.Errorf("%q: %w", line, err))
		}
		if record["request"] == id {
			found = append(found, record)
		}
	}
	return found
}

// TestLog_EscapesClientText sends line breaks, escape sequences and imitations of log lines in every place that accepts
// text.
func TestLog_EscapesClientText(t *testing.T) {
	t.Parallel()
	const mark = "forged-entry"
	lie := "\n\r\x1b[31m\u2028time=2026-01-01T00:00:00Z level=ERROR msg=\"" + mark + "\"\n{\"level\":\"ERROR\",\"msg\":\"" + mark + "\"}\n"
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			p := launch(t, environment("RETWIS_REDIS_URL=memory", "RETWIS_LOG_FORMAT="+format, "RETWIS_LOG_LEVEL=debug"), "serve", "--listen", "127.0.0.1:0")
			_, address, _ := strings.Cut(p.await(p.stderr, "listening"), "127.0.0.1:")
			p.url = "http://127.0.0.1:" + strings.TrimRight(address, "\"}")
			c := register(t, p.url, "reader")
			operation := mustJSON(t, map[string]any{"query": lie, "operationName": lie, "variables": map[string]any{lie: lie}})
			c.request("POST", "/graphql", operation, "Content-Type: application/json")
			c.post(`mutation ($x: String!) { login(input: {username: $x, password: $x}) { token } register(input: {username: $x, password: $x, displayName: $x}) { token }
				createPost(input: {text: $x, idempotencyKey: $x}) { edge { cursor } } updateProfile(input: {bio: $x}) { user { bio } } }`, map[string]any{"x": lie})
			escaped := "/%0a%0d%1b%5b31mtime=x%20level=ERROR%20msg=" + mark
			c.request("GET", escaped, nil)
			c.request("GET", "/graphql?query="+escaped[1:], nil)
			// A standard client would not send these.
			for _, line := range []string{
				"X-Request-Id: a\x1b[31m" + mark, "X-Forwarded-For: " + mark + "\x1b[31m", "User-Agent: \x1b[31m" + mark, "Authorization: Bearer \x1b[31m" + mark,
				"Origin: http://" + mark + "\x1b[31m", "Cookie: retwis_session=\x1b[31m" + mark, "Accept: \x1b" + mark, "Content-Type: \x1b" + mark,
			} {
				conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.WriteString(conn, "POST /graphql HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n"+line+"\r\n\r\n")
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
			}
			ws := c.open()
			ws.send(map[string]any{"type": "subscribe", "id": lie, "payload": map[string]any{"query": "{ " + lie, "operationName": lie}})
			ws.read()
			ws.send(map[string]any{"type": lie})
			ws.expectClose(4400)
			p.stop()

			for line := range strings.Lines(p.stderr.String()) {
				line = strings.TrimSuffix(line, "\n")
				forged := strings.HasPrefix(line, "time=2026-01-01") || strings.HasPrefix(line, mark)
				if format == "json" {
					var entry struct{ Msg string }
					forged = json.Unmarshal([]byte(line), &entry) != nil || entry.Msg == mark
				} else if !strings.HasPrefix(line, "time=") {
					forged = true
				}
				if forged || strings.ContainsAny(line, "\x1b\r\u2028") {
					t.Errorf("the log has the forged line %q", line)
				}
			}
		})
	}
}
