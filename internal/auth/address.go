package auth

import (
	"context"
	"net/netip"
)

type addressKey struct{}

// WithAddress returns a context of what a client at the address asks for.
func WithAddress(ctx context.Context, address netip.Addr) context.Context {
	return context.WithValue(ctx, addressKey{}, address)
}

// AddressOf returns where the client of a request, or of its websocket, is. It is not
// valid where nobody knows, as with a Unix socket.
func AddressOf(ctx context.Context) netip.Addr {
	address, _ := ctx.Value(addressKey{}).(netip.Addr)
	return address
}
