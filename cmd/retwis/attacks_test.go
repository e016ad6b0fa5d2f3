package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// load is a set of heavy clients in a process of its own, with the lowest priority.
type load struct {
	Attack                 string
	Addresses, Connections int           // of each address
	Network                string        // the first three bytes of the addresses
	URL                    string        // of the service
	Star, Public           string        // ids of a user and of the public timeline
	Since                  string        // a cursor of the public timeline, with many posts above it
	Gathers                bool          // the attack begins when all clients are ready
	Rise                   time.Duration // until all clients are at work, once it began
}

// loadVariable is the variable of the environment with which the binary of the tests is a load, in JSON.
const loadVariable = "RETWIS_TEST_LOAD"

func (l load) name() string {
	return fmt.Sprintf("%s, %d addresses with %d connections", l.Attack, l.Addresses, l.Connections)
}

// start starts a load and waits until it runs. It returns a function that ends it, and returns how many requests were refused.
func (l load) start(t *testing.T) (end func() (refused int)) {
	t.Helper()
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "nice", "-n", "19", os.Args[0])
	cmd.Env = append(os.Environ(), loadVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(output)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return func() (refused int) {
		_ = input.Close()
		if _, err := fmt.Fscanln(lines, &refused); err != nil {
			t.Errorf("read how many requests were refused: %v", err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		return refused
	}
}

// runLoad is the main function of the process of a load. It prints an empty line when it begins. When its standard input is
// closed, it ends and prints how many requests were refused.
func runLoad(text string) {
	var l load
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		panic(err)
	}
	var gathering sync.WaitGroup
	if l.Gathers {
		gathering.Add(l.Addresses * l.Connections)
	}
	run := map[string]attack{
		"heavy operations":             heavyOperations(l.Star),
		"work without Redis":           workWithoutRedis,
		"files":                        files,
		"slow uploads":                 slowUploads,
		"unread answers":               unreadAnswers,
		"websockets in fragments":      fragments,
		"event streams that reconnect": eventStreams(l.Public),
		"websockets that reconnect":    websockets(l.Public),
		"bursts of small operations":   bursts,
		"posts to event streams":       postsToEventStreams(l.Public),
		"filtered replays":             filteredReplays(l.Public, l.Since),
		"events of many selections":    eventsOfManySelections(l.Public),
		"mutations with large answers": mutationsWithLargeAnswers(),
		"posts of a crowd":             crowd(l.Connections, &gathering),
	}[l.Attack]
	ctx, cancel := context.WithCancel(context.Background())
	var refused atomic.Int64
	var running sync.WaitGroup
	for i := range l.Addresses {
		for j := range l.Connections {
			running.Go(func() { refused.Add(run(ctx, l.URL, fmt.Sprintf("%s.%d", l.Network, i+1), j)) })
		}
	}
	gathering.Wait()
	time.Sleep(l.Rise)
	fmt.Println()
	_, _ = io.Copy(io.Discard, os.Stdin)
	cancel()
	running.Wait()
	fmt.Println(refused.Load())
}

// attack is what one connection of a heavy client does until ctx is done. Connections have different numbers. It returns how
// many requests were refused.
type attack func(ctx context.Context, url, address string, number int) (refused int64)

// heavyOperations returns an attack that sends operations that take much work, without a pause.
func heavyOperations(star string) attack {
	return func(ctx context.Context, url, address string, number int) int64 {
		common := strings.Builder{}
		for i := range 10 {
			fmt.Fprintf(&common, `a%d: user(username: "star") { commonFollowers(first: %d, with: \"%s\") { totalCount } } `, i, 1+(i+number)%50, star)
		}
		operations := []string{
			`{"query": "{ ` + strings.ReplaceAll(common.String(), `"star"`, `\"star\"`) + `}"}`,
			`{"query": "{ publicTimeline { posts(first: 100) { edges { node { text author { username bio followers(first: 20) { edges { node { username } } } } } } } } }"}`,
			`{"query": "{ publicTimeline { posts(first: 100) { edges { node { text entities { start } mentions { username bio } author { bio bioEntities { start } } } } } } }"}`,
			`{"query": "{ a: findUsers(query: \"reader\") { id } b: findUsers(query: \"star\") { id } }"}`,
		}
		return repeat(ctx, address, func(c *http.Client, n int) (*http.Response, error) {
			return c.Do(request(ctx, http.MethodPost, url+"/graphql", strings.NewReader(operations[n%len(operations)])))
		})
	}
}

// workWithoutRedis is an attack that sends small operations for which the service alone works: it makes execution plans for fields
// that are not executed, looks up long names, and validates default values.
func workWithoutRedis(ctx context.Context, url, address string, number int) int64 {
	const (
		conditions = 9
		fields     = "id text createdAt inReplyToId quotedPostId quoteCount replyCount likeCount author { id username displayName bio } "
		posts      = "posts(first: 1) { edges { cursor node { " + fields
	)
	var variables, planned, names strings.Builder
	for i := range conditions {
		fmt.Fprintf(&variables, "$b%d: Boolean! ", i)
		fmt.Fprintf(&planned, "a%d: timeline @include(if: $b%d) { %sauthor { timeline { %s} } } } } } } } } ", i, i, posts, posts)
	}
	for i := range 29 {
		fmt.Fprintf(&names, "a%d: tag(name: $name) { id } ", i)
	}
	documents := []string{
		"query (" + variables.String() + `) { user(username: "nobody") { ` + planned.String() + "} }",
		"query ($name: String!) { " + names.String() + "}",
		"query ($ids: [ID!]! = [" + strings.Repeat("1 ", 1800) + "]) { nodes(ids: $ids) @skip(if: true) { id } }",
	}
	return repeat(ctx, address, func(c *http.Client, n int) (*http.Response, error) {
		values := map[string]any{"name": strings.Repeat("\uFDFA", 50)}
		for i := range conditions {
			values[fmt.Sprintf("b%d", i)] = (n/len(documents)+number)>>i&1 == 1
		}
		body, err := json.Marshal(map[string]any{"query": documents[n%len(documents)], "variables": values})
		if err != nil {
			panic(err)
		}
		return c.Do(request(ctx, http.MethodPost, url+"/graphql", bytes.NewReader(body)))
	})
}

// files is an attack that loads the start page of the web app.
func files(ctx context.Context, url, address string, _ int) int64 {
	return repeat(ctx, address, func(c *http.Client, _ int) (*http.Response, error) {
		return c.Do(request(ctx, http.MethodGet, url+"/", nil))
	})
}

// slowUploads is an attack that announces a large body, and sends a byte of it at a time.
func slowUploads(ctx context.Context, url, address string, _ int) int64 {
	return repeat(ctx, address, func(c *http.Client, _ int) (*http.Response, error) {
		reader, writer := io.Pipe()
		go func() {
			var err error
			for _, b := range []byte(`{"query": "{ ` + strings.Repeat("viewer { id } ", 4000) + `}"}`) {
				if _, err = writer.Write([]byte{b}); err != nil || ctx.Err() != nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
			_ = writer.CloseWithError(err)
		}()
		return c.Do(request(ctx, http.MethodPost, url+"/graphql", reader))
	})
}

// unreadAnswers is an attack that sends operations with large answers over one connection, and reads none of them.
func unreadAnswers(ctx context.Context, url, address string, _ int) int64 {
	const body = `{"query": "{ publicTimeline { posts(first: 100) { edges { node { text author { username bio } } } } } }"}`
	message := fmt.Sprintf("POST /graphql HTTP/1.1\r\nHost: retwis\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		len(body), body)
	for ctx.Err() == nil {
		conn, err := dialer(address).DialContext(ctx, "tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			continue
		}
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		for err == nil {
			_, err = io.WriteString(conn, message) // until the buffers are full
		}
		_ = conn.Close()
	}
	return 0
}

// fragments is an attack that sends an operation over a websocket in frames of one byte.
func fragments(ctx context.Context, url, address string, _ int) (refused int64) {
	for ctx.Err() == nil {
		ws := connect(ctx, url, address, "")
		if ws == nil {
			refused++
			continue
		}
		frame := []byte{0x01, 0x81, 0, 0, 0, 0, ' '} // the start of a text message, with a mask of zeros
		for n := 0; ctx.Err() == nil; n++ {
			if _, err := ws.NetConn().Write(frame); err != nil {
				break
			}
			frame[0] = 0x00 // a continuation
		}
		_ = ws.Close()
	}
	return refused
}

// eventStreams returns an attack that subscribes with an event stream, ends it after the first bytes, and begins again.
func eventStreams(timeline string) attack {
	return func(ctx context.Context, url, address string, _ int) int64 {
		return readStreams(ctx, url, address, subscription(timeline), func(events io.Reader) { _, _ = bufio.NewReader(events).ReadByte() })
	}
}

// readToEnd reads the events of a subscription until it ends.
func readToEnd(events io.Reader) { _, _ = io.Copy(io.Discard, events) }

// readStreams subscribes with one event stream after the other. body is the request of each.
func readStreams(ctx context.Context, url, address, body string, read func(events io.Reader)) (refused int64) {
	return repeat(ctx, address, func(c *http.Client, _ int) (*http.Response, error) {
		r := request(ctx, http.MethodPost, url+"/graphql", strings.NewReader(body))
		r.Header.Set("Accept", "text/event-stream")
		response, err := c.Do(r)
		if err == nil {
			read(response.Body)
		}
		return response, err
	})
}

// websockets returns an attack that subscribes over a websocket, closes it, and begins again.
func websockets(timeline string) attack {
	return func(ctx context.Context, url, address string, _ int) (refused int64) {
		for ctx.Err() == nil {
			ws := connect(ctx, url, address, "")
			if ws == nil {
				refused++
				continue
			}
			_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"type": "subscribe", "id": "1", "payload": `+subscription(timeline)+`}`))
			_, _, _ = ws.ReadMessage()
			_ = ws.Close()
		}
		return refused
	}
}

// bursts is an attack that sends as many operations as a websocket may have, all in the same moment, twice a second.
func bursts(ctx context.Context, url, address string, _ int) (refused int64) {
	const operations = 99
	for ctx.Err() == nil {
		ws := connect(ctx, url, address, "")
		if ws == nil {
			refused++
			continue
		}
		for ctx.Err() == nil {
			time.Sleep(time.Until(time.Now().Truncate(500 * time.Millisecond).Add(500 * time.Millisecond)))
			for n := range operations {
				_ = ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"type": "subscribe", "id": "%d", "payload": {"query": "{ __typename }"}}`, n))
			}
			if !readAnswers(ws, operations) {
				break
			}
		}
		_ = ws.Close()
	}
	return refused
}

// readAnswers reads until a number of operations have ended. It reports false if the server closes the websocket.
func readAnswers(ws *websocket.Conn, operations int) bool {
	for operations > 0 {
		_, text, err := ws.ReadMessage()
		if err != nil {
			return false
		}
		if !bytes.Contains(text, []byte(`"next"`)) { // but "complete" or "error"
			operations--
		}
	}
	return true
}

// postsToEventStreams returns an attack whose first connection posts five times a second, and whose others read event streams
// with these posts.
func postsToEventStreams(timeline string) attack {
	return func(ctx context.Context, url, address string, number int) int64 {
		if number > 0 {
			return readStreams(ctx, url, address, subscription(timeline), readToEnd)
		}
		token, _ := registerAt(ctx, url, address)
		return postSlowly(ctx, url, address, token, "hi")
	}
}

// eventsOfManySelections returns an attack whose first connection posts five times a second, and whose others read event streams with
// these posts. Each of them selects something else that takes much work, so that no two share the events.
func eventsOfManySelections(timeline string) attack {
	registered := make(chan struct{})
	begin := sync.OnceFunc(func() { close(registered) })
	return func(ctx context.Context, url, address string, number int) int64 {
		if number > 0 {
			<-registered // before the subscriptions use up the budget of the network
			selected := muchOfAPost(fmt.Sprintf("c%d", number))
			return readStreams(ctx, url, address, `{"query": "subscription { timelineEvents(timelineId: \"`+timeline+
				`\") { ... on PostAdded { edge { node { `+selected+` } } } } }"}`, readToEnd)
		}
		token, _ := registerAt(ctx, url, address)
		begin()
		return postSlowly(ctx, url, address, token, manyTags())
	}
}

// filteredReplays returns an attack that resumes subscriptions from an old position. No post passes their filters.
func filteredReplays(timeline, since string) attack {
	var words strings.Builder
	for i := range 20 {
		fmt.Fprintf(&words, `\"zz%d qq%d xx%d yy%d vv%d\" `, i, i, i, i, i)
	}
	body := `{"query": "subscription { timelineEvents(timelineId: \"` + timeline + `\", after: \"` + since +
		`\", filter: { track: [` + words.String() + `] }) { cursor } }"}`
	return func(ctx context.Context, url, address string, _ int) int64 {
		return readStreams(ctx, url, address, body, func(events io.Reader) {
			lines := bufio.NewScanner(events)
			for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: {") { // until the first event, behind the replay
			}
		})
	}
}

// mutationsWithLargeAnswers returns an attack that posts without a pause, and selects much of each post.
func mutationsWithLargeAnswers() attack {
	var tokens sync.Map // functions that return one, by address
	return func(ctx context.Context, url, address string, _ int) int64 {
		registered, _ := tokens.LoadOrStore(address, sync.OnceValue(func() string {
			token, _ := registerAt(ctx, url, address)
			return token
		}))
		token := registered.(func() string)() //nolint:forcetypeassert // nothing else is stored
		selected := muchOfAPost("m")
		return repeat(ctx, address, func(c *http.Client, _ int) (*http.Response, error) {
			return post(ctx, c, url, token, manyTags(), selected)
		})
	}
}

// muchOfAPost returns fields of a post that take much work, under names with a prefix.
func muchOfAPost(prefix string) string {
	var selected strings.Builder
	for i := range 40 {
		fmt.Fprintf(&selected, "%s_%d: entities { start ... on TextHashtag { tag { id name timeline { kind } } } } ", prefix, i)
	}
	return selected.String()
}

// manyTags returns the text of a post with as many hashtags as a post can be found by.
func manyTags() string {
	var text strings.Builder
	for i := range 10 {
		fmt.Fprintf(&text, "#tag%d ", i)
	}
	return text.String()
}

// postSlowly posts five times a second.
func postSlowly(ctx context.Context, url, address, token, text string) (refused int64) {
	return repeat(ctx, address, func(c *http.Client, _ int) (*http.Response, error) {
		time.Sleep(200 * time.Millisecond)
		return post(ctx, c, url, token, text, "__typename")
	})
}

// post sends a post, and selects fields of it.
func post(ctx context.Context, c *http.Client, url, token, text, selected string) (*http.Response, error) {
	return operate(ctx, c, url, token, `mutation { createPost(input: {text: \"`+text+`\"}) { edge { node { `+selected+` } } } }`)
}

// operate sends an operation of a user. Quotes in its document have to be escaped.
func operate(ctx context.Context, c *http.Client, url, token, document string) (*http.Response, error) {
	r := request(ctx, http.MethodPost, url+"/graphql", strings.NewReader(`{"query": "`+document+`"}`))
	r.Header.Set("Authorization", "Bearer "+token)
	return c.Do(r)
}

// registerAt registers a user from an address and returns a token of a session and the id of the user. It panics if the service refuses it.
func registerAt(ctx context.Context, url, address string) (token, id string) {
	c := &http.Client{Transport: &http.Transport{DialContext: dialer(address).DialContext}}
	response, err := c.Do(request(ctx, http.MethodPost, url+"/graphql", strings.NewReader(fmt.Sprintf(
		`{"query": "mutation { register(input: {username: \"u%d\", password: \"a long phrase 7x\"}) { token user { id } } }"}`, time.Now().UnixNano()%1e12))))
	if err != nil {
		panic(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	var got answer
	if err := json.Unmarshal(text, &got); err != nil || got.Data.Register.Token == "" {
		panic(fmt.Sprintf("cannot register: %s", text))
	}
	return got.Data.Register.Token, got.Data.Register.User.ID
}

func subscription(timeline string) string {
	return `{"query": "subscription { timelineEvents(timelineId: \"` + timeline + `\") { __typename } }"}`
}

// connect opens a websocket and its session, of a user if there is a token. It returns nil if the service refuses it.
func connect(ctx context.Context, url, address, token string) *websocket.Conn {
	websockets := websocket.Dialer{
		Subprotocols: []string{"graphql-transport-ws"}, HandshakeTimeout: patience, NetDialContext: dialer(address).DialContext,
	}
	header := http.Header{}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	ws, response, err := websockets.DialContext(ctx, "ws"+strings.TrimPrefix(url, "http")+"/graphql", header)
	if response != nil {
		_ = response.Body.Close()
	}
	if err != nil {
		return nil
	}
	_ = ws.SetReadDeadline(time.Now().Add(patience))
	_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"type": "connection_init"}`))
	if _, _, err := ws.ReadMessage(); err != nil {
		_ = ws.Close()
		return nil
	}
	return ws
}

// dialer returns a dialer for connections from an address of this machine.
func dialer(address string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
}

// repeat sends requests from an address without a pause until ctx is done, and returns how many were refused.
func repeat(ctx context.Context, address string, send func(c *http.Client, n int) (*http.Response, error)) (refused int64) {
	transport := &http.Transport{DialContext: dialer(address).DialContext}
	defer transport.CloseIdleConnections()
	c := &http.Client{Transport: transport}
	for n := 0; ctx.Err() == nil; n++ {
		response, err := send(c, n)
		if err != nil {
			continue // ctx is done
		}
		if response.StatusCode == http.StatusTooManyRequests {
			refused++
		}
		_ = response.Body.Close()
	}
	return refused
}

// request returns a request. It panics if the URL is malformed.
func request(ctx context.Context, method, url string, body io.Reader) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return r
}
