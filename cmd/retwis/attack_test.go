package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"retwis/internal/auth"
	"retwis/internal/redistest"
)

// What attackers try, against the program on a real Redis. Attacks by expensive operations
// are in package graph, by slow connections and endless bodies in package server.

// TestForgeriesAcrossSites has a browser, with the victim's cookie, send what pages of
// other sites can make it send.
func TestForgeriesAcrossSites(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL="+redistest.Server(t).URL()))
	victim := register(t, p.url, "victim")
	cookie := "Cookie: retwis_session=" + victim.token
	const forged = `mutation { createPost(input: {text: "forged"}) { edge { cursor } } }`
	body := `{"query":` + strconv.Quote(forged) + `}`
	form := "query=" + strings.ReplaceAll(forged, " ", "+")
	browser := newClient(t, p.url)
	for _, tt := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
	}{
		{"a form", "POST", "/graphql", form, []string{"Content-Type: application/x-www-form-urlencoded"}, 415},
		{"a form with a file", "POST", "/graphql", "--b\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n" + body + "\r\n--b--", []string{"Content-Type: multipart/form-data; boundary=b"}, 415},
		{"a form of text", "POST", "/graphql", body, []string{"Content-Type: text/plain"}, 415},
		{"no type", "POST", "/graphql", body, nil, 415},
		{"two types", "POST", "/graphql", body, []string{"Content-Type: text/plain, application/json"}, 415},
		{"a link", "GET", "/graphql?" + form, "", nil, 405},
		{"an image", "GET", "/graphql?" + form, "", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: image"}, 405},
		{"a stream of events", "GET", "/graphql?" + form, "", []string{"Accept: text/event-stream"}, 405},
		{"a method in a header", "GET", "/graphql?" + form, "", []string{"X-HTTP-Method-Override: POST"}, 405},
		{"JSON from another site", "POST", "/graphql", body, []string{"Content-Type: application/json", "Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, 403},
		{"JSON from another site, by an old browser", "POST", "/graphql", body, []string{"Content-Type: application/json", "Origin: https://evil.example"}, 403},
		{"JSON from a frame without an origin", "POST", "/graphql", body, []string{"Content-Type: application/json", "Origin: null"}, 403},
		{"JSON from a neighbour", "POST", "/graphql", body, []string{"Content-Type: application/json", "Origin: http://localhost:1", "Sec-Fetch-Site: same-site"}, 403},
		{"a stream from another site", "POST", "/graphql", body, []string{"Content-Type: application/json", "Accept: text/event-stream", "Origin: https://evil.example"}, 403},
	} {
		got, text := browser.request(tt.method, tt.path, []byte(tt.body), append(tt.headers, cookie)...)
		if got.status != tt.status || len(text) > 4<<10 {
			t.Errorf("%s: %d %s", tt.name, got.status, text)
		}
		if got.status == 405 && got.header.Get("Allow") != "POST" {
			t.Errorf("%s: allowed is %q", tt.name, got.header.Get("Allow"))
		}
		if allowed := got.header.Get("Access-Control-Allow-Origin"); allowed != "" {
			t.Errorf("%s: pages of %s may read it", tt.name, allowed)
		}
	}
	for _, origin := range []string{"https://evil.example", "null", "http://localhost:1", p.url + ".evil.example"} {
		if ws, status := browser.dial("Origin: "+origin, cookie); ws != nil || status != http.StatusForbidden {
			t.Errorf("a socket for a page of %s: status %d", origin, status)
		}
	}
	if texts, _ := victim.home(); len(texts) != 0 {
		t.Errorf("these posts were forged: %q", texts)
	}
	got, text := browser.request("POST", "/graphql", []byte(body), "Content-Type: application/json", "Origin: "+p.url, "Sec-Fetch-Site: same-origin", cookie)
	if got.status != http.StatusOK || !strings.Contains(string(text), `"cursor"`) {
		t.Errorf("the service's own page: %d %s", got.status, text)
	}
	p.stop()
}

// TestPasswordsAreNotGuessed tries many passwords, of somebody who is there and of
// somebody who is not.
func TestPasswordsAreNotGuessed(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL="+redistest.Server(t).URL(), "RETWIS_RATE_LIMITS=on", "RETWIS_TRUSTED_PROXIES=127.0.0.1",
		"RETWIS_LIMIT_LOGINS=10/24h")) // nothing comes back while they guess
	register(t, p.url, "victim")
	const login = `mutation ($name: String!, $password: String!) {
		login(input: {username: $name, password: $password}) { token userErrors { code message } } }`
	answers := map[string][]string{}
	for n, name := range []string{"victim", "nobody_here"} {
		for i := range 30 {
			// Each guess comes from a network of its own.
			address := fmt.Sprintf("X-Forwarded-For: 203.%d.%d.9", n, i)
			got, a := newClient(t, p.url).post(login, map[string]any{"name": name, "password": fmt.Sprint("guess number ", i)}, address)
			said := fmt.Sprint(got.status, a.Data.Login.UserErrors)
			for _, err := range a.Errors {
				said += err.Extensions.Code + err.Message
			}
			answers[name] = append(answers[name], said)
			if got.status == http.StatusTooManyRequests && got.header.Get("Retry-After") == "" {
				t.Error("nobody says when to come back")
			}
		}
	}
	known, unknown := answers["victim"], answers["nobody_here"]
	tried := slices.IndexFunc(known, func(said string) bool { return strings.Contains(said, "RATE_LIMITED") })
	if tried < 1 || tried > 20 || !strings.Contains(known[0], "WRONG_CREDENTIALS") {
		t.Errorf("of 30 guesses %d were tried: %q", tried, known)
	}
	if known[0] != unknown[0] || tried != slices.IndexFunc(unknown, func(said string) bool { return strings.Contains(said, "RATE_LIMITED") }) {
		t.Errorf("a name that is there can be told from one that is not:\n%q\n%q", known, unknown)
	}

	// Many guesses in one request are one request too many.
	var many strings.Builder
	for i := range 15 {
		fmt.Fprintf(&many, `a%d: login(input: {username: "victim", password: "guess %d"}) { token } `, i, i)
	}
	got, a := newClient(t, p.url).post("mutation { "+many.String()+"}", nil, "X-Forwarded-For: 203.0.200.1")
	if len(a.Errors) == 0 || a.Data.Login.Token != "" {
		t.Errorf("15 guesses at once: %d %+v", got.status, a)
	}
	p.stop()
}

// TestTokensAreNotGuessed tries tokens that could be some, and what looks like them.
func TestTokensAreNotGuessed(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL="+redistest.Server(t).URL()))
	victim := register(t, p.url, "victim")
	guesses := []string{
		"", " ", "null", "undefined", "admin", victim.token[:len(victim.token)-1], victim.token + "A", strings.ToLower(victim.token),
		"{" + victim.token + "}", victim.token + "," + victim.token, "../" + victim.token,
		base64.StdEncoding.EncodeToString([]byte("retwis:session:" + victim.id)), strings.Repeat("A", 30_000),
	}
	raw, err := base64.RawURLEncoding.DecodeString(victim.token)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 64 { // of the same user, but for one bit
		changed := slices.Clone(raw)
		changed[2+bit/2] ^= 1 << (bit % 8)
		guesses = append(guesses, base64.RawURLEncoding.EncodeToString(changed))
	}
	for range 64 {
		token, _ := auth.NewToken(int(raw[0])<<8 | int(raw[1]))
		guesses = append(guesses, token)
	}
	c := newClient(t, p.url)
	for _, guess := range guesses {
		got, text := c.request("POST", "/graphql", []byte(`{"query":"{ viewer { id } }"}`), "Content-Type: application/json", "Authorization: Bearer "+guess)
		if got.status != http.StatusUnauthorized || !strings.Contains(string(text), "UNAUTHENTICATED") || len(text) > 4<<10 {
			t.Errorf("the token %.60q: %d %.200s", guess, got.status, text)
		}
	}
	if a := victim.do(`{ viewer { user { username } } }`, nil); a.Data.Viewer == nil {
		t.Error("the token itself is not good any more")
	}
	p.stop()
}

// TestForgedCursorsAndIDs hands in what somebody else was given, and what nobody was.
func TestForgedCursorsAndIDs(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL="+redistest.Server(t).URL()))
	victim, thief := register(t, p.url, "victim"), register(t, p.url, "thief")
	victim.follow(thief)
	var seen struct {
		Data struct {
			Viewer struct {
				ID, HomeID   string
				HomeTimeline timeline
				Sessions     []openSession
			}
			User       struct{ ID string }
			CreateList struct{ List struct{ ID string } }
		}
	}
	for _, text := range []string{"one", "two", "three"} {
		victim.createPost(text)
	}
	victim.decode(&seen, `mutation { createList(input: {name: "secret"}) { list { id } } }`, nil)
	victim.decode(&seen, `{ viewer { id sessions { id } homeTimeline { id posts { edges { cursor node { id } } liveCursor } } } user(username: "victim") { id } }`, nil)
	home := seen.Data.Viewer.HomeTimeline

	cursors := []string{"", "x", "null", "0", strings.Repeat("A", 10_000), home.Posts.LiveCursor, home.Posts.Edges[0].Cursor}
	for _, cursor := range cursors[5:] {
		for i := range len(cursor) {
			cursors = append(cursors, cursor[:i], cursor[:i]+"A"+cursor[i+1:], cursor[:i]+"\x00"+cursor[i:])
		}
		if raw, err := base64.RawURLEncoding.DecodeString(cursor); err == nil {
			for i := range raw {
				changed := slices.Clone(raw)
				changed[i] ^= 0x11
				cursors = append(cursors, base64.RawURLEncoding.EncodeToString(changed))
			}
		}
	}
	const pages = `query ($c: Cursor) {
		viewer { homeTimeline { posts(after: $c) { edges { node { text } } } } mentions: mentionsTimeline { posts(before: $c) { liveCursor } } lists(after: $c) { edges { cursor } } }
		publicTimeline { posts(before: $c) { liveCursor } }
		user(username: "victim") { timeline { posts(after: $c) { liveCursor } } followers(after: $c) { totalCount } following(before: $c) { totalCount } }
		newestUsers(after: $c) { totalCount }
	}`
	for _, cursor := range cursors {
		_, a := thief.post(pages, map[string]any{"c": cursor})
		for _, err := range a.Errors {
			if err.Extensions.Code != "BAD_USER_INPUT" {
				t.Errorf("the cursor %.80q: %s: %s", cursor, err.Extensions.Code, err.Message)
			}
		}
		if a.Data.Viewer != nil && len(a.Data.Viewer.HomeTimeline.Posts.Edges) > 0 {
			t.Errorf("the cursor %.80q shows the thief %+v", cursor, a.Data.Viewer.HomeTimeline)
		}
	}
	s := thief.open()
	for i, cursor := range []string{home.Posts.LiveCursor, home.Posts.Edges[0].Cursor, "x", home.Posts.LiveCursor[:10]} {
		for j, timeline := range []*string{nil, &home.ID} {
			s.send(map[string]any{"type": "subscribe", "id": fmt.Sprint(i, j), "payload": map[string]any{
				"query":     `subscription ($id: ID, $after: Cursor) { timelineEvents(timelineId: $id, after: $after) { cursor } }`,
				"variables": map[string]any{"id": timeline, "after": cursor},
			}})
			want := "BAD_USER_INPUT"
			if timeline != nil {
				want = "FORBIDDEN"
			}
			if m := s.read(); m.Type != "error" || !strings.Contains(string(m.Payload), want) {
				t.Errorf("subscribing after %s gives %s %s", cursor, m.Type, m.Payload)
			}
		}
	}

	private := []string{home.ID, seen.Data.Viewer.ID, seen.Data.CreateList.List.ID, seen.Data.Viewer.Sessions[0].ID}
	ids := slices.Clone(private)
	for _, id := range append(private, seen.Data.User.ID, home.Posts.Edges[0].Node.ID) {
		for i := range len(id) {
			ids = append(ids, id[:i], id[:i]+"A"+id[i+1:])
		}
	}
	for _, kind := range []string{"Viewer", "Timeline", "List", "Session", "Outbox", "SessionKey", ""} {
		for _, key := range []string{"0", "-1", "1", "h1", "9223372036854775807", "99999999999999999999", "*", "\n", "1:2", "..", "{}"} {
			ids = append(ids, base64.RawURLEncoding.EncodeToString([]byte(kind+":"+key)))
		}
	}
	for chunk := range slices.Chunk(ids, 100) {
		var got struct {
			Data struct {
				Nodes []*struct {
					Typename string `json:"__typename"`
					ID       string
				}
			}
		}
		thief.decode(&got, `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }`, map[string]any{"ids": chunk})
		for i, node := range got.Data.Nodes {
			if node != nil && (node.ID != chunk[i] || slices.Contains(private, node.ID) || slices.Contains([]string{"Viewer", "List", "Session"}, node.Typename)) {
				t.Errorf("the id %q shows the thief %+v", chunk[i], node)
			}
		}
	}
	const writes = `mutation ($id: ID!) {
		deletePost(input: {postId: $id}) { userErrors { code } } followUser(input: {userId: $id}) { userErrors { code } }
		deleteList(input: {listId: $id}) { userErrors { code } } revokeSession(input: {sessionId: $id}) { userErrors { code } }
	}`
	for _, id := range append(private, "", "x", strings.Repeat("A", 10_000)) {
		got, text := thief.request("POST", "/graphql", mustJSON(t, map[string]any{"query": writes, "variables": map[string]any{"id": id}}),
			"Content-Type: application/json", "Authorization: Bearer "+thief.token)
		if got.status != http.StatusOK || strings.Count(string(text), "NOT_FOUND") != 4 || len(text) > 4<<10 {
			t.Errorf("changing %.80q: %d %.300s", id, got.status, text)
		}
	}
	victim.do(`{ viewer { id } }`, nil) // the session is still there
	victim.awaitHome("three", "two", "one")
	p.stop()
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTheLogCannotBeForged sends line ends, colours and what looks like a line of the log
// wherever a client can put a text.
func TestTheLogCannotBeForged(t *testing.T) {
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
			// Past what a well-behaved client would send.
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
					t.Errorf("the log has the line %q", line)
				}
			}
		})
	}
}

// TestAFloodOfRegistrations has many register at once. Passwords are hashed a few at a
// time: everybody gets an answer, memory is bounded, and others can go on reading.
func TestAFloodOfRegistrations(t *testing.T) {
	t.Parallel()
	many, atOnce := 40, 40
	if os.Getenv("RETWIS_SOAK") != "" {
		many, atOnce = 10_000, 100
	}
	p := serve(t, environment("RETWIS_REDIS_URL="+redistest.Server(t).URL()))
	reader := register(t, p.url, "reader")
	before := p.peakMemory()
	const document = `mutation ($name: String!) {
		register(input: {username: $name, password: "correct horse"}) { token userErrors { code message } } }`
	var mu sync.Mutex
	made, busy := 0, 0
	names := make(chan int)
	var group sync.WaitGroup
	for range atOnce {
		c := newClient(t, p.url)
		group.Go(func() {
			for name := range names {
				for {
					got, a := c.post(document, map[string]any{"name": fmt.Sprint("flood", name)})
					turned := len(a.Errors) == 1 && a.Errors[0].Extensions.Code == "RATE_LIMITED" && got.status == http.StatusOK
					mu.Lock()
					if turned {
						busy++
					} else if a.Data.Register.Token != "" {
						made++
					} else {
						t.Errorf("registering %d gives %d %+v", name, got.status, a)
					}
					mu.Unlock()
					if !turned {
						break
					}
					time.Sleep(time.Second) // as the answer asks
				}
			}
		})
	}
	for i := range many {
		names <- i
		if i%10 == 0 {
			if a := reader.do(`{ viewer { user { username } } }`, nil); a.Data.Viewer == nil {
				t.Error("nobody can read meanwhile")
			}
		}
	}
	close(names)
	group.Wait()
	t.Logf("%d registered; %d times somebody was told to come back; %d MB at the most, %d MB before", made, busy, p.peakMemory()>>20, before>>20)
	if made != many {
		t.Errorf("%d of %d registered", made, many)
	}
	// A hash takes 19 MB: forty at once would take 760 MB more than one, and several times
	// as much with the race detector.
	most := 640 << 20
	if raceDetector {
		most *= 2
	}
	if more := p.peakMemory() - before; more > most {
		t.Errorf("it took %d MB more", more>>20)
	}
	p.stop()
}

// peakMemory returns how much memory the process has had, at the most, in bytes. It is 0
// where the system does not say.
func (p *process) peakMemory() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmHWM:" {
			kilobytes, _ := strconv.Atoi(fields[1])
			return kilobytes << 10
		}
	}
	return 0
}

// TestAFloodOfSubscriptions opens more than one socket and one user may have.
func TestAFloodOfSubscriptions(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL="+redistest.Server(t).URL(), "RETWIS_RATE_LIMITS=on"))
	reader := register(t, p.url, "reader")
	opened, refused := 0, 0
	for range 11 {
		s := reader.open()
		for i := range 101 {
			s.send(map[string]any{"type": "subscribe", "id": fmt.Sprint(i), "payload": map[string]any{
				"query": `subscription { timelineEvents { __typename } }`,
			}})
		}
		for range 101 {
			switch m := s.read(); {
			case m.Type == "next":
				opened++
			case m.Type == "error" && strings.Contains(string(m.Payload), "RATE_LIMITED") && len(m.Payload) < 4<<10:
				refused++
			default:
				t.Fatalf("got %s %s", m.Type, m.Payload)
			}
		}
	}
	if opened != 1000 || refused != 111 {
		t.Errorf("%d were opened and %d refused", opened, refused)
	}
	reader.createPost("still alive")
	p.stop()
}
