package gqlws

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unique"

	"github.com/gorilla/websocket"

	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/server/broadcast"
	"retwis/internal/server/clients"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/operation"
	"retwis/internal/server/requestid"
	"retwis/internal/server/wsconn"
)

// Options of a [Handler]. All fields are required.
type Options struct {
	Runner        *operation.Runner
	Groups        *broadcast.Groups
	Registry      *clients.Registry
	Sockets       *clients.Limiter
	Subscriptions *clients.Quota
	Operations    *clients.Quota // queries and mutations
	Conns         *wsconn.Shared
	Shares        *cost.Shares
	Origins       *httpapi.Origins
	Draining      func() bool // whether the server is stopping
	Log           *slog.Logger

	InitTimeout            time.Duration // for connection_init to arrive
	SubscriptionsPerSocket int
	Compression            bool // of messages, for clients that offer it
}

// Handler upgrades requests to websockets and serves them.
type Handler struct {
	Options
	ctx      context.Context // of all sockets: they outlive the requests that opened them
	upgrader *websocket.Upgrader
}

// New returns a handler. Canceling ctx ends all operations.
func New(ctx context.Context, opts Options) *Handler {
	return &Handler{Options: opts, ctx: ctx, upgrader: &websocket.Upgrader{
		EnableCompression: opts.Compression,
		HandshakeTimeout:  10 * time.Second,
		ReadBufferSize:    512,
		WriteBufferSize:   4 << 10,
		WriteBufferPool:   &sync.Pool{}, // an idle connection holds no buffer
		Subprotocols:      []string{subprotocol},
		CheckOrigin:       func(*http.Request) bool { return true }, // checked before
	}}
}

// Upgrade upgrades a request to a websocket and returns at once: the socket outlives the request, whose buffers are
// freed.
func (h *Handler) Upgrade(x *httpapi.Exchange) {
	h.Runner.Pay(x.R.Context(), cost.PerUpgrade)
	switch {
	case !h.Origins.MayUpgrade(x.R, x.TLS):
		h.Runner.Refused(x.R.Context(), 0)
		http.Error(x.W, "this origin is not allowed to use the API", http.StatusForbidden)
		return
	case h.Draining():
		x.W.Header().Set("Retry-After", "1")
		http.Error(x.W, "the server is stopping", http.StatusServiceUnavailable)
		return
	}
	// Until connection_init the client is anonymous.
	key := clients.KeyOf(x.R.Context())
	if !h.Sockets.Acquire(key) {
		h.Runner.Refused(x.R.Context(), 0)
		x.W.Header().Set("Retry-After", strconv.Itoa(clients.RetryAfter))
		http.Error(x.W, "too many connections from your network", http.StatusTooManyRequests)
		return
	}
	ws, err := wsconn.Upgrade(h.upgrader, x.W, x.R, http.Header{requestid.Header: {requestid.Of(x.R.Context())}})
	if err != nil {
		h.Sockets.Release(key)
		h.Runner.Refused(x.R.Context(), 0)
		h.Log.DebugContext(x.R.Context(), "server: upgrade to a websocket failed", "err", err)
		return
	}
	h.serve(ws, x)
}

// serve starts the socket of an upgraded connection.
func (h *Handler) serve(ws *websocket.Conn, x *httpapi.Exchange) {
	request := auth.RequestOf(x.R.Context())
	client := auth.Request{Address: request.Address, Identified: request.Identified}
	ctx := auth.WithRequest(requestid.With(h.ctx, requestid.Of(x.R.Context())), client)
	ctx, cancel := context.WithCancel(ctx)
	account := h.Shares.Account(clients.ClientOf(ctx))
	arrivals := h.Shares.RequestAccount(clients.ClientOf(ctx))
	var inflating wsconn.Account
	if h.Compression && offersCompression(x.R.Header) {
		inflating = h.Shares.InflateAccount(clients.ClientOf(ctx))
	}
	conn := wsconn.New(ws, h.Conns, account, arrivals, inflating, cancel)
	s := &socket{
		Visitor:  clients.Visitor{Address: client.Address},
		handler:  h,
		ctx:      ctx,
		conn:     conn,
		account:  account,
		arrivals: arrivals,
		credentials: clients.Credentials{
			Token:  strings.Clone(x.Credentials.Token), // without the memory of the other cookies
			Bearer: x.Credentials.Bearer,
		},
		userAgent: unique.Make(retwis.CleanUserAgent(x.R.UserAgent())),
		initTimer: time.AfterFunc(h.InitTimeout, func() {
			conn.Close(closeInitTimeout, "Connection initialisation timeout")
		}),
		key: clients.KeyOf(ctx),
	}
	conn.ChargeCompressed(s.payCompressed)
	conn.PaidBy(s)
	conn.TakeTurns(s)
	conn.ReadInLine(h.Sockets.Line(s.key))
	if !h.Registry.Serve(s, s.serve) {
		s.release()
		_ = ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(closeRestart, ""), time.Now().Add(time.Second))
		conn.Abort()
		return
	}
	if ws.Subprotocol() == "" {
		conn.Close(closeSubprotocol, "Subprotocol not acceptable")
	}
}

// offersCompression reports whether a client accepts compressed messages. gorilla accepts
// the offer on the same condition.
func offersCompression(h http.Header) bool {
	for _, value := range h["Sec-Websocket-Extensions"] {
		for extension := range strings.SplitSeq(value, ",") {
			name, _, _ := strings.Cut(extension, ";")
			if strings.TrimSpace(name) == "permessage-deflate" {
				return true
			}
		}
	}
	return false
}
