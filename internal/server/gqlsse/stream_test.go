package gqlsse_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/retwis"
	"retwis/internal/server"
	"retwis/internal/server/operation"
	"retwis/internal/server/servertest"
)

func TestStream_DeliversEvents(t *testing.T) {
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c, other := h.Events(servertest.News), h.Ready("")
		c.Expect(servertest.Event("caught up", "start", "0"))
		other.Subscribe("s", servertest.News)
		other.Expect(servertest.Next("s", "caught up", "start", "0"))
		before := h.Backend.Timelines.Rendered()
		h.Backend.Timelines.Publish("news", 7, "post")
		c.Expect(servertest.Event("post", "c0-7", "0"))
		other.Expect(servertest.Next("s", "post", "cursor1-7", "0"))
		if got := h.Backend.Timelines.Rendered() - before; got != 1 {
			t.Errorf("%d executions for a stream and a socket", got)
		}
		c.Close()
		synctest.Wait()
		if n := h.Backend.Timelines.Subscribers("news"); n != 1 {
			t.Errorf("%d subscribers after one of two left", n)
		}
	})
}

func TestStream_Resumes(t *testing.T) {
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		query := `subscription { timeline(name: "news", after: "old") { text } }`
		h.Events(query).Expect(servertest.Event("caught up", "start", "0"))
		h.Events(query, "Last-Event-ID: newer").Expect(servertest.Event("caught up", "start", "0"))
		for i, want := range []retwis.Cursor{"old", "newer"} {
			if got := h.Backend.Timelines.Subscriber("news", i).After; got != want {
				t.Errorf("stream %d began after %q, want %q", i, got, want)
			}
		}
		h.Events(query, "Last-Event-ID: broken").Expect(
			`event: next`+"\n"+`data: {"errors":[{"message":"`+retwis.ErrBadCursor.Error()+`","extensions":{"code":"BAD_USER_INPUT"}}]}`, servertest.Complete, "")
	})
}

func TestStream_Ends(t *testing.T) {
	servertest.InBubble(t, func(o *server.Options) { o.SubscriptionsPerUser = 1 }, func(h *servertest.Harness) {
		h.Events(`{ hello }`).Expect("event: next\ndata: {\"data\":{\"hello\":\"world\"}}", servertest.Complete, "")
		h.Events(`subscription { count(to: 2) }`).Expect(
			"event: next\nid: at-1\ndata: {\"data\":{\"count\":0}}", "event: next\nid: at-2\ndata: {\"data\":{\"count\":1}}", servertest.Complete, "")

		c := h.Events(servertest.News)
		c.Expect(servertest.Event("caught up", "start", "0"))
		h.Backend.Timelines.Subscriber("news", 0).Cancel(retwis.ErrSlowConsumer)
		c.Expect("") // without "complete", so that the client reconnects

		token := h.Login(1025)
		c = h.Events(servertest.News, "Authorization: Bearer "+token)
		c.Expect(servertest.Event("caught up", "start", "0"))
		second := h.Events(servertest.News, "Authorization: Bearer "+token)
		if line := second.Rest(); !strings.Contains(line, "RATE_LIMITED") || !strings.HasSuffix(line, servertest.Complete+"\n\n") {
			t.Errorf("a stream above the limit received %s", line)
		}
		h.Server.SessionEnded(h.Accounts.End(token))
		c.Expect("")

		c = h.Events(servertest.News)
		c.Expect(servertest.Event("caught up", "start", "0"))
		stopped := make(chan struct{})
		go func() {
			h.Stop()
			close(stopped)
		}()
		c.Expect("")
		<-stopped
	})
}

func TestHandler_RefusesRequests(t *testing.T) {
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		for name, tt := range map[string]struct {
			body, want string
			status     int
			headers    []string
		}{
			"no JSON":       {"{", "malformed", http.StatusBadRequest, nil},
			"no session":    {`{"query":"{ hello }"}`, "UNAUTHENTICATED", http.StatusUnauthorized, []string{"Authorization: Bearer x"}},
			"no such field": {`{"query":"{ nothing }"}`, "event: next\ndata: {\"errors\":", http.StatusOK, nil},
			"a panic": {`{"query":"subscription { timeline(name: \"news\") { text } } # panics when it starts"}`,
				`"message":"internal error"`, http.StatusOK, nil},
			"not allowed": {`{"query":"subscription { timeline(name: \"private\") { text } }"}`, "FORBIDDEN", http.StatusOK, nil},
		} {
			w, body := h.Do(http.MethodPost, "", tt.body, append(tt.headers, servertest.AcceptEvents, "Content-Type: application/json")...)
			if w.StatusCode != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("%s: got %d %s", name, w.StatusCode, body)
			}
		}
		w, _ := h.Do(http.MethodGet, "query=mutation{hello}", "", servertest.AcceptEvents)
		if w.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("a mutation by GET got %d", w.StatusCode)
		}
	})
}

func TestHandler_AnswersWithJSONIfAccepted(t *testing.T) {
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		const both = "application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed"
		for name, tt := range map[string]struct {
			method, query, body, accept string
			media                       string
			status                      int
		}{
			"query":            {http.MethodPost, "", `{"query":"{ hello }"}`, both, "application/graphql-response+json", http.StatusOK},
			"query by GET":     {http.MethodGet, "query={hello}", "", both, "application/graphql-response+json", http.StatusOK},
			"older JSON":       {http.MethodPost, "", `{"query":"{ hello }"}`, "text/event-stream, application/json", "application/json", http.StatusOK},
			"invalid":          {http.MethodPost, "", `{"query":"{ nothing }"}`, both, "application/graphql-response+json", http.StatusBadRequest},
			"older, invalid":   {http.MethodPost, "", `{"query":"{ nothing }"}`, "application/json, text/event-stream", "application/json", http.StatusOK},
			"events preferred": {http.MethodPost, "", `{"query":"{ hello }"}`, "application/json;q=0.5, text/event-stream", servertest.MediaEvents, http.StatusOK},
			"JSON preferred":   {http.MethodPost, "", `{"query":"{ hello }"}`, "application/json, text/event-stream;q=0.9", "application/json", http.StatusOK},
			"any media type":   {http.MethodPost, "", `{"query":"{ hello }"}`, "text/event-stream, */*", servertest.MediaEvents, http.StatusOK},
			"mutation by GET":  {http.MethodGet, "query=mutation{hello}", "", both, "application/json", http.StatusMethodNotAllowed},
		} {
			w, body := h.Do(tt.method, tt.query, tt.body, "Accept: "+tt.accept, "Content-Type: application/json")
			if w.StatusCode != tt.status || w.Header.Get("Content-Type") != tt.media+"; charset=utf-8" {
				t.Errorf("%s: got %d with %s: %s", name, w.StatusCode, w.Header.Get("Content-Type"), body)
			}
		}
		h.Events(servertest.News, "Accept: "+both).Expect(servertest.Event("caught up", "start", "0"))
	})
}

// presented is an executor that reports the state of the context in which an error is presented.
type presented struct {
	operation.Executor
	ended chan error
}

func (p presented) DispatchError(ctx context.Context, errs gqlerror.List) *graphql.Response {
	p.ended <- ctx.Err()
	return p.Executor.DispatchError(ctx, errs)
}

// The error presenter must see that the client has disconnected, because this is not an internal error.
func TestStream_ClientDisconnectsBeforeTheStart(t *testing.T) {
	t.Parallel()
	var ended chan error
	servertest.InBubble(t, func(o *server.Options) {
		ended = make(chan error, 1)
		o.Executor = presented{o.Executor, ended}
	}, func(h *servertest.Harness) {
		conn := h.Connect()
		const body = `{"query":"subscription { timeline(name: \"never\") { text } }"}`
		fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost: x\r\n%s\r\n%s\r\nContent-Length: %d\r\n\r\n%s", servertest.AcceptEvents, servertest.JSON, len(body), body)
		if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil { //nolint:bodyclose // the body is endless
			t.Fatal(err)
		}
		conn.Close()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the error is presented in a context with the error %v", err)
		}
	})
}

func TestStream_SendsKeepAlives(t *testing.T) {
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Events(servertest.News)
		c.Expect(servertest.Event("caught up", "start", "0"))
		start := time.Now()
		c.Expect(":", ":")
		if d := time.Since(start); d < 40*time.Second || d > time.Minute {
			t.Errorf("two keep-alives took %s", d)
		}
	})
}

func TestStream_DisconnectsASlowConsumer(t *testing.T) {
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Events(servertest.News)
		c.Expect(servertest.Event("caught up", "start", "0"))
		text := strings.Repeat("x", 100_000)
		for post := range retwis.PostID(20) {
			h.Backend.Timelines.Publish("news", post, text)
			synctest.Wait()
		}
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if n := h.Backend.Timelines.Subscribers("news"); n != 0 {
			t.Errorf("%d subscribers remain: the slow consumer was not disconnected", n)
		}
	})
}

func TestStream_CompletesMutations(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(h *servertest.Harness, token string){
		"the session ends": func(h *servertest.Harness, token string) { h.Server.SessionEnded(h.Accounts.End(token)) },
		"the server stops": func(h *servertest.Harness, _ string) { h.Stop() },
	} {
		t.Run(name, func(t *testing.T) {
			servertest.InBubble(t, nil, func(h *servertest.Harness) {
				token := h.Login(1025)
				answered, ended := make(chan string), make(chan struct{})
				go func() {
					_, body := h.Do(http.MethodPost, "", `{"query":"mutation { gate(name: \"g\") }"}`,
						servertest.AcceptEvents, servertest.JSON, "Authorization: Bearer "+token)
					answered <- body
				}()
				synctest.Wait()
				go func() {
					end(h, token)
					close(ended)
				}()
				synctest.Wait()
				close(h.Backend.Gate("g"))
				if got, want := <-answered, "event: next\ndata: {\"data\":{\"gate\":\"through\"}}\n\n"+servertest.Complete+"\n\n"; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				<-ended
			})
		})
	}
}
