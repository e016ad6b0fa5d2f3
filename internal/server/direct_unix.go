//go:build unix

package server

import (
	"errors"
	"net"
	"sync"
	"syscall"
)

// direct writes to a connection without ever waiting: what the socket does not take at
// once stays. It is used by one goroutine at a time.
type direct struct{ raw syscall.RawConn }

// newDirect returns nil where the connection is no socket of the system, as with TLS.
func newDirect(conn net.Conn) *direct {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	return &direct{raw}
}

// attempt is one write. It is kept because the function that the runtime calls back would be
// allocated for each.
type attempt struct {
	data []byte
	n    int
	call func(fd uintptr) bool
}

func newAttempt() *attempt {
	a := &attempt{}
	a.call = func(fd uintptr) bool {
		for {
			n, err := syscall.Write(int(fd), a.data)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			a.n = max(n, 0)
			return true // done, whatever came of it: false would wait
		}
	}
	return a
}

// attempts are those that are not in use.
type attempts struct{ pool sync.Pool }

// write returns how many bytes the socket took. A connection that is broken takes none;
// whoever waits for it will find out.
func (p *attempts) write(d *direct, data []byte) int {
	a, ok := p.pool.Get().(*attempt)
	if !ok {
		a = newAttempt()
	}
	a.data, a.n = data, 0
	_ = d.raw.Write(a.call) // leaves n as it is
	n := a.n
	a.data = nil
	p.pool.Put(a)
	return n
}
