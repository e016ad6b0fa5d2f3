//go:build !unix

package server

import "net"

// direct is for systems where a write can be tried without waiting.
type direct struct{}

func newDirect(net.Conn) *direct { return nil }

type attempts struct{}

func (*attempts) write(*direct, []byte) int { return 0 }
