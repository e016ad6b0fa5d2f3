package redistest

import (
	"testing"

	"retwis/internal/faultproxy"
)

// FaultProxy forwards connections to a server and injects network faults.
type FaultProxy = faultproxy.Proxy

// Proxy starts a proxy in front of the server at an address. The proxy stops when the test ends.
func Proxy(t testing.TB, targetNetwork, targetAddr string) *FaultProxy {
	t.Helper()
	p, err := faultproxy.New(targetNetwork, targetAddr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Handshake reports whether a request is part of the handshake of a new connection.
func Handshake(request []byte) bool { return faultproxy.Handshake(request) }
