package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks of the trusted proxies, whose forwarding headers are honoured.
type Proxies []netip.Prefix

// Trust reports whether an address is that of a trusted proxy.
func (p Proxies) Trust(address netip.Addr) bool {
	for _, network := range p {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// Client returns the address of the client of a request: that of the peer or, if the peer
// is a trusted proxy, the last forwarded address that is not one of a trusted proxy.
//
// A proxy writes one of two headers and passes the other on from the client. If they disagree, Client ignores both and
// returns an address that all such requests share: the unspecified one.
func (p Proxies) Client(r *http.Request) netip.Addr {
	peer := PeerOf(r)
	if !peer.IsValid() || !p.Trust(peer) {
		return peer
	}
	older, newer := r.Header["X-Forwarded-For"], r.Header["Forwarded"]
	switch {
	case len(newer) == 0:
		return p.last(peer, older, parseAddress)
	case len(older) == 0:
		return p.last(peer, newer, forwardedFor)
	}
	client := p.last(peer, older, parseAddress)
	if client != p.last(peer, newer, forwardedFor) {
		return netip.IPv4Unspecified()
	}
	return client
}

// OverTLS reports whether the client's own connection is encrypted, be it to this
// process or to a trusted proxy in front of it.
func (p Proxies) OverTLS(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	if peer := PeerOf(r); !peer.IsValid() || !p.Trust(peer) {
		return false
	}
	if proto := r.Header.Get("X-Forwarded-Proto"); proto != "" {
		return strings.EqualFold(proto, "https")
	}
	var proto string
	for element := range elements(r.Header["Forwarded"]) {
		proto, _ = forwardedParam(element, "proto")
		break
	}
	return strings.EqualFold(proto, "https")
}

// last walks a header from its end, which the nearest proxy wrote, past the addresses of
// trusted proxies. The search ends at an element that is not an address.
func (p Proxies) last(peer netip.Addr, values []string, parse func(string) (netip.Addr, bool)) netip.Addr {
	client := peer
	for element := range elements(values) {
		if !p.Trust(client) {
			break
		}
		address, ok := parse(element)
		if !ok {
			break
		}
		client = address
	}
	return client
}

// elements yields the elements of a header that is a list, the last first. The elements
// that matter here contain no quoted commas.
func elements(values []string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, rest := range slices.Backward(values) {
			for more := true; more; {
				var element string
				cut := strings.LastIndexByte(rest, ',')
				more = cut >= 0
				rest, element = rest[:max(cut, 0)], rest[cut+1:]
				if !yield(strings.TrimSpace(element)) {
					return
				}
			}
		}
	}
}

// forwardedFor reads the address of an element of Forwarded (RFC 7239).
func forwardedFor(element string) (netip.Addr, bool) {
	value, ok := forwardedParam(element, "for")
	if !ok {
		return netip.Addr{}, false
	}
	return parseAddress(value)
}

func forwardedParam(element, name string) (string, bool) {
	for pair := range strings.SplitSeq(element, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.EqualFold(key, name) {
			return strings.Trim(value, `"`), true
		}
	}
	return "", false
}

// parseAddress reads an address, with a port or without one.
func parseAddress(text string) (netip.Addr, bool) {
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return plain(withPort.Addr()), true
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		text = strings.TrimSuffix(inner, "]")
	}
	address, err := netip.ParseAddr(text)
	return plain(address), err == nil
}

// plain returns an address in the form in which addresses are compared: IPv4 in IPv6 is
// IPv4, and zones, which have a meaning on one link only, are removed.
func plain(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }

// PeerOf returns the address of the other end of the request's connection. It is not valid
// for a connection without addresses, such as a Unix socket.
func PeerOf(r *http.Request) netip.Addr {
	address, _ := parseAddress(r.RemoteAddr)
	return address
}

// AddressOf returns the address of one end of a connection. It is not valid for a connection without addresses.
func AddressOf(end net.Addr) netip.Addr {
	tcp, ok := end.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return plain(tcp.AddrPort().Addr())
}
