//go:build !linux

package server

import "net"

// boundUnsent does nothing: other systems bound the buffers of a socket by less.
func boundUnsent(net.Conn) {}
