package server

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// boundUnsent bounds what the kernel stores of responses for a connection until the client makes room: 4 MB by default, which no bound of
// this program would count. Bytes that are on their way do not count.
func boundUnsent(conn net.Conn) {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := socket.SyscallConn(); err == nil {
		// It fails for a Unix socket, whose buffers are small.
		_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, maxUnsent) }) //nolint:gosec // a descriptor is small
	}
}
