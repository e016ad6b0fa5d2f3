package wsconn

import (
	"net"
	"syscall"
	"unsafe"
)

// directWriter writes to a socket without waiting: it writes what the socket accepts at
// once. It bypasses the runtime's poller, whose locks and bookkeeping are for calls that may
// wait. So nothing keeps the descriptor from being closed and reused meanwhile, except that
// the owner writes and closes under one lock.
type directWriter int

// noDirectWriter says that writes may have to wait.
const noDirectWriter directWriter = -1

// newDirectWriter returns noDirectWriter for a connection without a socket, as with TLS.
func newDirectWriter(conn net.Conn) directWriter {
	raw := socketOf(conn)
	if raw == nil {
		return noDirectWriter
	}
	d := noDirectWriter
	_ = raw.Control(func(fd uintptr) { d = directWriter(fd) }) // fails on a closed connection
	return d
}

// write returns how many bytes the socket accepted. A broken connection accepts none; the
// writer that then waits for it reports the error. The data must not be empty.
func (d directWriter) write(data []byte) int {
	const flags = syscall.MSG_DONTWAIT | syscall.MSG_NOSIGNAL
	for {
		// The scheduler need not know of a call that takes a few microseconds at most.
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

// socketOf returns the socket of a connection, or nil.
func socketOf(conn net.Conn) syscall.RawConn {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// hasArrived reports whether a read of a socket would not wait: bytes have arrived, or the connection has ended.
func hasArrived(socket uintptr) bool {
	var b [1]byte
	for {
		_, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, socket, uintptr(unsafe.Pointer(&b)), 1, syscall.MSG_PEEK|syscall.MSG_DONTWAIT, 0, 0)
		if errno != syscall.EINTR {
			return errno != syscall.EAGAIN
		}
	}
}
