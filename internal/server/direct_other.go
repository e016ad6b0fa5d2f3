//go:build !linux

package server

import "net"

// direct is for systems where a write is tried without waiting. Elsewhere every frame is
// left to a writer.
type direct int

func newDirect(net.Conn) direct { return notDirect }

func (direct) write([]byte) int { return 0 }
