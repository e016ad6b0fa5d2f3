package server

import (
	"net"

	"golang.org/x/sys/unix"
)

// boundUnsent bounds what the kernel stores of responses for a connection until the client makes room: 4 MB by default, which no bound of
// this program would count. Bytes that are on their way do not count.
func boundUnsent(conn net.Conn) {
	// It fails for a Unix socket, whose buffers are small.
	withDescriptor(conn, func(fd int) { _ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, maxUnsent) })
}
