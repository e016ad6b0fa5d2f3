package server

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the peers that are believed when they say for whom they ask.
type proxies []netip.Prefix

func (p proxies) trust(address netip.Addr) bool {
	for _, network := range p {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// clientOf returns the address of the client behind a request: of the peer, or, where
// that is a trusted proxy, of the last one that no trusted proxy vouches for.
//
// A proxy writes one of two headers, and lets the client say what it likes in the other.
// So where they disagree neither is believed, and the proxy itself is the answer.
func (p proxies) clientOf(r *http.Request) netip.Addr {
	peer := peerOf(r)
	if !peer.IsValid() || !p.trust(peer) {
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
		return peer
	}
	return client
}

// overTLS reports whether the client's own connection is encrypted, be it to this
// process or to a trusted proxy in front of it.
func (p proxies) overTLS(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	if peer := peerOf(r); !peer.IsValid() || !p.trust(peer) {
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

// last walks a header from its end, which the nearest proxy wrote, as long as those who
// wrote it are trusted. What is no address ends the walk.
func (p proxies) last(peer netip.Addr, values []string, parse func(string) (netip.Addr, bool)) netip.Addr {
	client := peer
	for element := range elements(values) {
		if !p.trust(client) {
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

// elements yields the elements of a header that is a list, the last first. A quoted
// comma does not occur in what is looked for here.
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

// plain is an address by which it can be compared: IPv4 in IPv6 is IPv4, and a zone means
// something on one link only.
func plain(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }

// peerOf returns the other end of the request's connection. It is not valid where that is
// no address.
func peerOf(r *http.Request) netip.Addr {
	address, _ := parseAddress(r.RemoteAddr)
	return address
}
