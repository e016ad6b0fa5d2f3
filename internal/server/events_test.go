package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/retwis"
)

const acceptEvents = "Accept: " + mediaEvents

// sseClient reads a stream of events.
type sseClient struct {
	t      *testing.T
	body   io.ReadCloser
	lines  *bufio.Reader
	header http.Header
	close  context.CancelFunc
}

func (h *harness) events(query string, headers ...string) *sseClient {
	h.Helper()
	ctx, cancel := context.WithCancel(h.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url+"/graphql", strings.NewReader(`{"query":"`+query+`"}`))
	if err != nil {
		h.Fatal(err)
	}
	for _, header := range append([]string{acceptEvents, "Content-Type: application/json"}, headers...) {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	w, err := h.client.Do(r)
	if err != nil {
		h.Fatal(err)
	}
	if w.StatusCode != http.StatusOK || w.Header.Get("Content-Type") != mediaEvents+"; charset=utf-8" {
		h.Fatalf("got status %d with %q", w.StatusCode, w.Header.Get("Content-Type"))
	}
	h.Cleanup(func() {
		cancel()
		w.Body.Close()
	})
	return &sseClient{h.T, w.Body, bufio.NewReader(w.Body), w.Header, cancel}
}

// expect compares the next events; an empty one is the end.
func (c *sseClient) expect(want ...string) {
	c.t.Helper()
	for _, w := range want {
		var got strings.Builder
		for {
			line, err := c.lines.ReadString('\n')
			got.WriteString(line)
			if err != nil || line == "\n" {
				break
			}
		}
		if strings.TrimSuffix(got.String(), "\n\n") != w {
			c.t.Fatalf("got event\n%s\nwant\n%s", got.String(), w)
		}
	}
}

func eventOf(text, cursor, viewer string) string {
	return "event: next\nid: " + cursor + "\ndata: " + `{"data":{"cursor":"` + cursor + `","text":"` + text +
		`","again":"` + cursor + `","viewer":"` + viewer + `"}}`
}

const complete = "event: complete\ndata:"

func TestStreamsOfEvents(t *testing.T) {
	inBubble(t, nil, func(h *harness) {
		c, other := h.events(watchNews), h.ready("")
		c.expect(eventOf("caught up", "start", "0"))
		other.watch("s", watchNews)
		other.expect(happened("s", "caught up", "start", "0"))
		before := h.backend.timelines.executions()
		h.backend.timelines.publish("news", 7, "post")
		c.expect(eventOf("post", "c0-7", "0"))
		other.expect(happened("s", "post", "cursor1-7", "0"))
		if got := h.backend.timelines.executions() - before; got != 1 {
			t.Errorf("%d executions for a stream and a socket", got)
		}
		c.close()
		synctest.Wait()
		if n := h.backend.timelines.subscribers("news"); n != 1 {
			t.Errorf("%d subscribers after one of two left", n)
		}
	})
}

func TestStreamsResume(t *testing.T) {
	inBubble(t, nil, func(h *harness) {
		query := `subscription { timeline(name: \"news\", after: \"old\") { text } }`
		h.events(query).expect(eventOf("caught up", "start", "0"))
		h.events(query, "Last-Event-ID: newer").expect(eventOf("caught up", "start", "0"))
		for i, want := range []retwis.Cursor{"old", "newer"} {
			if got := h.backend.timelines.sink("news", i).after; got != want {
				t.Errorf("stream %d began after %q, want %q", i, got, want)
			}
		}
		h.events(query, "Last-Event-ID: broken").expect(
			`event: next`+"\n"+`data: {"errors":[{"message":"`+retwis.ErrBadCursor.Error()+`","extensions":{"code":"BAD_USER_INPUT"}}]}`, complete, "")
	})
}

func TestWhatEndsAStreamOfEvents(t *testing.T) {
	inBubble(t, func(o *Options) { o.SubscriptionsPerUser = 1 }, func(h *harness) {
		h.events(`{ hello }`).expect("event: next\ndata: {\"data\":{\"hello\":\"world\"}}", complete, "")
		h.events(`subscription { count(to: 2) }`).expect(
			"event: next\nid: at-1\ndata: {\"data\":{\"count\":0}}", "event: next\nid: at-2\ndata: {\"data\":{\"count\":1}}", complete, "")

		c := h.events(watchNews)
		c.expect(eventOf("caught up", "start", "0"))
		h.backend.timelines.sink("news", 0).cancel(retwis.ErrSlowConsumer)
		c.expect("") // without "complete": to come back

		token := h.login(1025)
		c = h.events(watchNews, "Authorization: Bearer "+token)
		c.expect(eventOf("caught up", "start", "0"))
		second := h.events(watchNews, "Authorization: Bearer "+token)
		if line, _ := second.lines.ReadString(0); !strings.Contains(line, "RATE_LIMITED") || !strings.HasSuffix(line, complete+"\n\n") {
			t.Errorf("one stream too many got %s", line)
		}
		h.server.SessionEnded(h.accounts.end(token))
		c.expect("")

		c = h.events(watchNews)
		c.expect(eventOf("caught up", "start", "0"))
		stopped := make(chan struct{})
		go func() {
			h.stop()
			close(stopped)
		}()
		c.expect("")
		<-stopped
	})
}

func TestRequestsForEventsThatAreRefused(t *testing.T) {
	inBubble(t, nil, func(h *harness) {
		for name, tt := range map[string]struct {
			body, want string
			status     int
			headers    []string
		}{
			"no JSON":       {"{", "malformed", http.StatusBadRequest, nil},
			"no session":    {`{"query":"{ hello }"}`, "UNAUTHENTICATED", http.StatusUnauthorized, []string{"Authorization: Bearer x"}},
			"no such field": {`{"query":"{ nothing }"}`, "event: next\ndata: {\"errors\":", http.StatusOK, nil},
			"not allowed":   {`{"query":"subscription { timeline(name: \"private\") { text } }"}`, "FORBIDDEN", http.StatusOK, nil},
		} {
			w, body := h.do(http.MethodPost, "", tt.body, append(tt.headers, acceptEvents, "Content-Type: application/json")...)
			if w.StatusCode != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("%s: got %d %s", name, w.StatusCode, body)
			}
		}
		w, _ := h.do(http.MethodGet, "query=mutation{hello}", "", acceptEvents)
		if w.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("a mutation by GET got %d", w.StatusCode)
		}
	})
}

func TestOnlySubscriptionsAreStreamsForClientsThatTakeJSON(t *testing.T) {
	inBubble(t, nil, func(h *harness) {
		const both = "application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed"
		for name, tt := range map[string]struct {
			method, query, body, accept string
			media                       string
			status                      int
		}{
			"query":            {http.MethodPost, "", `{"query":"{ hello }"}`, both, mediaGraphQL, http.StatusOK},
			"query by GET":     {http.MethodGet, "query={hello}", "", both, mediaGraphQL, http.StatusOK},
			"older JSON":       {http.MethodPost, "", `{"query":"{ hello }"}`, "text/event-stream, application/json", mediaJSON, http.StatusOK},
			"invalid":          {http.MethodPost, "", `{"query":"{ nothing }"}`, both, mediaGraphQL, http.StatusBadRequest},
			"older, invalid":   {http.MethodPost, "", `{"query":"{ nothing }"}`, "application/json, text/event-stream", mediaJSON, http.StatusOK},
			"events preferred": {http.MethodPost, "", `{"query":"{ hello }"}`, "application/json;q=0.5, text/event-stream", mediaEvents, http.StatusOK},
			"JSON preferred":   {http.MethodPost, "", `{"query":"{ hello }"}`, "application/json, text/event-stream;q=0.9", mediaJSON, http.StatusOK},
			"anything else":    {http.MethodPost, "", `{"query":"{ hello }"}`, "text/event-stream, */*", mediaEvents, http.StatusOK},
			"mutation by GET":  {http.MethodGet, "query=mutation{hello}", "", both, mediaJSON, http.StatusMethodNotAllowed},
		} {
			w, body := h.do(tt.method, tt.query, tt.body, "Accept: "+tt.accept, "Content-Type: application/json")
			if w.StatusCode != tt.status || w.Header.Get("Content-Type") != tt.media+"; charset=utf-8" {
				t.Errorf("%s: got %d with %s: %s", name, w.StatusCode, w.Header.Get("Content-Type"), body)
			}
		}
		h.events(watchNews, "Accept: "+both).expect(eventOf("caught up", "start", "0"))
	})
}

// presented is an executor that tells with what contexts errors are presented.
type presented struct {
	Executor
	ended chan error
}

func (p presented) DispatchError(ctx context.Context, errs gqlerror.List) *graphql.Response {
	p.ended <- ctx.Err()
	return p.Executor.DispatchError(ctx, errs)
}

// Who presents an error has to know that its client went away, which is no failure of ours.
func TestAStreamWhoseReaderLeavesBeforeItBegins(t *testing.T) {
	t.Parallel()
	var ended chan error
	inBubble(t, func(o *Options) {
		ended = make(chan error, 1)
		o.Executor = presented{o.Executor, ended}
	}, func(h *harness) {
		conn := h.connect()
		const body = `{"query":"subscription { timeline(name: \"never\") { text } }"}`
		fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost: x\r\n%s\r\n%s\r\nContent-Length: %d\r\n\r\n%s", acceptEvents, typeJSON, len(body), body)
		if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil { //nolint:bodyclose // it has no end
			t.Fatal(err)
		}
		conn.Close()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("its error is presented in a context that ended by %v", err)
		}
	})
}

func TestStreamsAreKeptAlive(t *testing.T) {
	inBubble(t, nil, func(h *harness) {
		c := h.events(watchNews)
		c.expect(eventOf("caught up", "start", "0"))
		start := time.Now()
		c.expect(":", ":")
		if d := time.Since(start); d < 40*time.Second || d > time.Minute {
			t.Errorf("two signs of life took %s", d)
		}
	})
}

func TestAStreamWhoseReaderStops(t *testing.T) {
	inBubble(t, nil, func(h *harness) {
		c := h.events(watchNews)
		c.expect(eventOf("caught up", "start", "0"))
		text := strings.Repeat("x", 100_000)
		for post := range retwis.PostID(20) {
			h.backend.timelines.publish("news", post, text)
			synctest.Wait()
		}
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if n := h.backend.timelines.subscribers("news"); n != 0 {
			t.Errorf("%d subscribers: it was not cut off", n)
		}
	})
}

func TestStreamsOfMutationsAreAnswered(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(h *harness, token string){
		"the session ends": func(h *harness, token string) { h.server.SessionEnded(h.accounts.end(token)) },
		"the server stops": func(h *harness, _ string) { h.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(h *harness) {
				token := h.login(1025)
				answered, ended := make(chan string), make(chan struct{})
				go func() {
					_, body := h.do(http.MethodPost, "", `{"query":"mutation { gate(name: \"g\") }"}`,
						acceptEvents, typeJSON, "Authorization: Bearer "+token)
					answered <- body
				}()
				synctest.Wait()
				go func() {
					end(h, token)
					close(ended)
				}()
				synctest.Wait()
				close(h.backend.gate("g"))
				if got, want := <-answered, "event: next\ndata: {\"data\":{\"gate\":\"through\"}}\n\n"+complete+"\n\n"; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				<-ended
			})
		})
	}
}
