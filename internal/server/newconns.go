package server

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// newConns are the connections that have not sent a request yet, which browsers and
// connection pools open in advance. [http.Server.Shutdown] waits five seconds for the first
// byte of each, although it answers no request that arrives after it was called.
type newConns struct {
	conns  sync.Map // of net.Conn; the hook runs twice a request, and nearly always finds nothing
	closed atomic.Bool
}

// note is the server's hook for changes of connections.
func (n *newConns) note(conn net.Conn, state http.ConnState) {
	if state != http.StateNew {
		n.conns.Delete(conn)
		return
	}
	n.conns.Store(conn, nil)
	if n.closed.Load() {
		_ = conn.Close()
	}
}

// close closes all of them, and later ones as soon as they are opened.
func (n *newConns) close() {
	n.closed.Store(true)
	n.conns.Range(func(conn, _ any) bool {
		_ = conn.(net.Conn).Close() //nolint:forcetypeassert // nothing else is stored
		return true
	})
}
