package server

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"
	"unique"

	"github.com/gorilla/websocket"
	"github.com/vektah/gqlparser/v2/ast"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// newUpgrader returns what makes websockets of requests. Write buffers are shared by
// all connections: an idle one holds none.
func newUpgrader(compression bool) *websocket.Upgrader {
	return &websocket.Upgrader{
		EnableCompression: compression,
		HandshakeTimeout:  10 * time.Second,
		ReadBufferSize:    512,
		WriteBufferSize:   4 << 10,
		WriteBufferPool:   &sync.Pool{},
		Subprotocols:      []string{subprotocol},
		CheckOrigin:       func(*http.Request) bool { return true }, // checked before
	}
}

// upgrade makes a websocket of the request and returns at once: the socket lives on
// without the request, so that its buffers are freed.
func (s *Server) upgrade(w http.ResponseWriter, r *http.Request) {
	switch {
	case !s.origins.mayUpgrade(r, s.overTLS(r)):
		http.Error(w, "pages of this origin may not use the API", http.StatusForbidden)
		return
	case s.draining.Load():
		w.Header().Set("Retry-After", "1")
		http.Error(w, "the server is stopping", http.StatusServiceUnavailable)
		return
	}
	here := holderOf(r.Context())
	if !s.sockets.shares.take(here) {
		w.Header().Set("Retry-After", strconv.Itoa(tooManyRetryAfter))
		http.Error(w, "too many connections without a login come from here", http.StatusTooManyRequests)
		return
	}
	id := RequestID(r.Context())
	shown := s.credentialsOf(r)
	shown.token = strings.Clone(shown.token) // without all the other cookies
	agent := unique.Make(retwis.CleanUserAgent(r.UserAgent()))
	ws, err := s.upgrader.Upgrade(w, r, http.Header{"X-Request-Id": {id}})
	if err != nil {
		s.sockets.shares.giveBack(here)
		s.opts.Log.DebugContext(r.Context(), "upgrade to a websocket", "err", err)
		return
	}
	s.open(ws, id, auth.RequestOf(r.Context()).Address, agent, shown, s.opts.Compression && offersCompression(r.Header))
}

func (s *Server) open(
	ws *websocket.Conn, id string, client netip.Addr, agent unique.Handle[string], shown credentials, gzip bool,
) {
	ctx := auth.WithRequest(context.WithValue(s.sockets.ctx, requestIDKey{}, id), auth.Request{Address: client})
	ctx, cancel := context.WithCancel(ctx)
	c := newConn(ws, s.sockets.wire, gzip, cancel)
	sock := &socket{
		ctx:        ctx,
		conn:       c,
		engine:     s.engine,
		sockets:    s.sockets,
		shown:      shown,
		agent:      agent,
		init:       time.AfterFunc(s.opts.InitTimeout, func() { c.close(closeInitTimeout, "Connection initialisation timeout") }),
		share:      holderOf(ctx),
		operations: map[string]*operation{},
		counts:     map[ast.Operation]int{},
	}
	if !s.sockets.start(sock) {
		s.sockets.shares.giveBack(sock.share)
		_ = ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(closeRestart, ""), time.Now().Add(time.Second))
		c.abort()
		return
	}
	if ws.Subprotocol() == "" {
		c.close(closeSubprotocol, "Subprotocol not acceptable")
	}
}

// offersCompression reports whether a client can read compressed messages. gorilla
// accepts the offer on the same condition.
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
