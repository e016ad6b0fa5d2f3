package server

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// newcomers are the connections that have asked for nothing yet, as browsers and pools of
// connections open some beforehand. [http.Server.Shutdown] waits five seconds for the first
// byte of each, although it answers nobody whose request comes once it has begun.
type newcomers struct {
	conns  sync.Map // of net.Conn; the hook runs twice a request, and nearly always finds nothing
	closed atomic.Bool
}

// note is the server's hook for changes of connections.
func (n *newcomers) note(conn net.Conn, state http.ConnState) {
	if state != http.StateNew {
		n.conns.Delete(conn)
		return
	}
	n.conns.Store(conn, nil)
	if n.closed.Load() {
		_ = conn.Close()
	}
}

// close closes them all, and those that come later.
func (n *newcomers) close() {
	n.closed.Store(true)
	n.conns.Range(func(conn, _ any) bool {
		_ = conn.(net.Conn).Close() //nolint:forcetypeassert // nothing else is put there
		return true
	})
}
