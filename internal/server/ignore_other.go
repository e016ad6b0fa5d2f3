//go:build !linux

package server

import (
	"net"
	"net/netip"
)

// ignoreNetworks does nothing: other systems have other filters.
func ignoreNetworks(net.Listener, []netip.Prefix) {}
