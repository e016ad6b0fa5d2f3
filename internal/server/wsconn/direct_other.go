//go:build !linux

package wsconn

import (
	"net"
	"syscall"
)

// directWriter writes to a socket without waiting. Where that is not implemented, a writer
// goroutine writes every frame.
type directWriter int

const noDirectWriter directWriter = -1

func newDirectWriter(net.Conn) directWriter { return noDirectWriter }

func (directWriter) write([]byte) int { return 0 }

func socketOf(net.Conn) syscall.RawConn { return nil }

func hasArrived(uintptr) bool { return true }
