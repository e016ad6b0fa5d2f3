package gqlws_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/gorilla/websocket"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/ratelimit"
	"retwis/internal/server"
	"retwis/internal/server/gqlws"
	"retwis/internal/server/operation"
	"retwis/internal/server/servertest"
)

func TestSessions_IdentifyTheViewer(t *testing.T) {
	tests := []struct {
		name    string
		payload string // of connection_init; TOKEN stands for the token of user 1
		headers []string
		want    string // user
	}{
		{"anonymous", ``, nil, "0"},
		{"token", `{"authorization":"Bearer TOKEN"}`, nil, "1"},
		{"token, key in another case", `{"Authorization":"bearer TOKEN"}`, nil, "1"},
		{"token wins over the cookie", `{"authorization":"Bearer TOKEN"}`, []string{"Cookie: retwis_session=COOKIE"}, "1"},
		{"cookie", ``, []string{"Cookie: retwis_session=COOKIE"}, "2"},
		{"cookie beside null", `{"authorization":null}`, []string{"Cookie: retwis_session=COOKIE"}, "2"},
		{"header", ``, []string{"Authorization: Bearer COOKIE"}, "2"},
		{"stale cookie", ``, []string{"Cookie: retwis_session=old"}, "0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			servertest.InBubble(t, nil, func(h *servertest.Harness) {
				fill := strings.NewReplacer("TOKEN", h.Login(1), "COOKIE", h.Login(2))
				var headers []string
				for _, line := range tt.headers {
					headers = append(headers, fill.Replace(line))
				}
				c := h.Socket(headers...)
				init := `{"type":"connection_init"}`
				if tt.payload != "" {
					init = `{"type":"connection_init","payload":` + fill.Replace(tt.payload) + `}`
				}
				c.Send(init)
				c.Expect(`{"type":"connection_ack"}`)
				c.Subscribe("1", `{ whoami }`)
				c.Expect(`{"type":"next","payload":{"data":{"whoami":"` + tt.want + `"}},"id":"1"}`)
			})
		})
	}
}

func TestSessions_InvalidTokenCloses(t *testing.T) {
	for _, payload := range []string{
		`{"authorization":"Bearer nonsense"}`,
		`{"authorization":"Bearer "}`,
		`{"authorization":"nonsense"}`,
		`{"AUTHORIZATION":"Basic eDp5"}`,
		`{"authorization":{"token":"x"}}`,
	} {
		t.Run(payload, func(t *testing.T) {
			t.Parallel()
			servertest.InBubble(t, nil, func(h *servertest.Harness) {
				c := h.Socket("Cookie: retwis_session=" + h.Login(1)) // ignored because there is an invalid token
				c.Send(`{"type":"connection_init","payload":` + payload + `}`)
				c.ExpectClose(4403)
			})
		})
	}
}

func TestSessions_InvalidTokenInTheHeaderCloses(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		c := h.Socket("Authorization: Bearer nonsense")
		c.Send(`{"type":"connection_init"}`)
		c.ExpectClose(4403)
	})
}

func TestSessions_OutageMeansTryLater(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		h.Accounts.Set(errors.New("redis is down"), nil)
		c := h.Socket()
		c.Send(`{"type":"connection_init","payload":{"authorization":"Bearer x"}}`)
		c.ExpectClose(1013)
	})
}

func TestSessions_LogoutOverItsOwnSocketIsAnswered(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		token := h.Login(1)
		c := h.Ready(token)
		c.Subscribe("s", servertest.FeedA)
		c.Subscribe("q", `{ gate(name: "never") }`)
		c.Subscribe("m", `mutation { gate(name: "g") }`)
		synctest.Wait()
		h.Server.SessionEnded(h.Accounts.End(token)) // arrives before the response of the mutation
		synctest.Wait()
		if n := h.Backend.Subscriptions(); n != 0 {
			h.Errorf("%d subscriptions outlive the session", n)
		}
		c.Subscribe("late", `{ hello }`) // no longer answered
		synctest.Wait()
		close(h.Backend.Gate("g"))
		c.Expect(`{"type":"next","payload":{"data":{"gate":"through"}},"id":"m"}`, `{"type":"complete","id":"m"}`)
		c.ExpectClose(4403)
	})
}

func TestSessions_RunningMutationDelaysTheClose(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		token := h.Login(1)
		c := h.Ready(token)
		c.Subscribe("m", `mutation { gate(name: "never") }`)
		synctest.Wait()
		start := time.Now()
		h.Server.SessionEnded(h.Accounts.End(token))
		c.ExpectClose(4403)
		if waited := time.Since(start); waited != gqlws.MutationGrace {
			h.Errorf("closed after %v", waited)
		}
	})
}

// slowToPrepare is an executor that waits before it prepares `{ hello }`.
type slowToPrepare struct {
	operation.Executor
	gate chan struct{}
}

// Prepare implements [operation.Executor].
func (e slowToPrepare) Prepare(
	ctx context.Context, params *graphql.RawParams, queriesOnly bool,
) (*graphql.OperationContext, ratelimit.Budget, gqlerror.List) {
	if params.Query == "{ hello }" {
		<-e.gate
	}
	return e.Executor.Prepare(ctx, params, queriesOnly)
}

func TestSessions_EndedSessionStartsNothing(t *testing.T) {
	t.Parallel()
	var gate chan struct{}
	servertest.InBubble(t, func(o *server.Options) {
		gate = make(chan struct{})
		o.Executor = slowToPrepare{o.Executor, gate}
	}, func(h *servertest.Harness) {
		token := h.Login(1)
		c := h.Ready(token)
		c.Subscribe("m", `mutation { gate(name: "g") }`)
		c.Subscribe("q", `{ hello }`)
		synctest.Wait()
		h.Server.SessionEnded(h.Accounts.End(token))
		close(gate)
		synctest.Wait()
		close(h.Backend.Gate("g"))
		c.Expect(`{"type":"next","payload":{"data":{"gate":"through"}},"id":"m"}`, `{"type":"complete","id":"m"}`)
		if _, text, err := c.WS.ReadMessage(); !websocket.IsCloseError(err, 4403) {
			t.Errorf("got %s, %v, want close code %d", text, err, 4403)
		}
	})
}
