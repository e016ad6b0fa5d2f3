package server

import (
	"net"
	"syscall"
	"unsafe"
)

// direct writes to a socket of the system without ever waiting: what the socket does not
// take at once stays. It goes past the runtime's poller, whose locks and bookkeeping per
// call are for those who may wait; so nothing keeps the descriptor open meanwhile, or from
// being that of another file, but that its owner writes and closes under one lock.
type direct int

// newDirect returns notDirect where the connection is no socket of the system, as with TLS.
func newDirect(conn net.Conn) direct {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return notDirect
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return notDirect
	}
	d := notDirect
	_ = raw.Control(func(fd uintptr) { d = direct(fd) }) // fails on a closed connection
	return d
}

// write returns how many bytes the socket took. A connection that is broken takes none;
// whoever waits for it will find out. The data is not empty.
func (d direct) write(data []byte) int {
	const flags = syscall.MSG_DONTWAIT | syscall.MSG_NOSIGNAL
	for {
		// The runtime need not know of a call that takes a few microseconds at most.
		n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(d),
			uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data)), flags, 0, 0)
		switch errno {
		case 0:
			return int(n)
		case syscall.EINTR:
		default:
			return 0
		}
	}
}
