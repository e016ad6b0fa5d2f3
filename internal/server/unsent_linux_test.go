package server

import (
	"net"
	"syscall"
	"testing"
	"time"
)

// Attack: clients read nothing, and the kernel stored nearly 4 MB for each of their connections, which counted as read.
func TestBoundUnsent_BoundsWhatTheKernelStores(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	small := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		var set error
		err := raw.Control(func(fd uintptr) { set = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
		if err != nil {
			return err
		}
		return set
	}}
	client, err := small.DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	boundUnsent(conn)
	if err := conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	written := 0
	for part := make([]byte, 16<<10); err == nil; {
		var n int
		n, err = conn.Write(part)
		written += n
	}
	const most = maxUnsent + 128<<10 // what is on its way, and the last packet
	if written > most {
		t.Errorf("the kernel took %d bytes that nobody reads, want at most %d", written, most)
	}
	t.Logf("the kernel took %d bytes", written)
}
