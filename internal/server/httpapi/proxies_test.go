package httpapi

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func TestProxies_FindTheClient(t *testing.T) {
	t.Parallel()
	trusted := Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	tests := []struct {
		name, peer string
		headers    []string
		want       string
	}{
		{"no proxy", "192.0.2.1:5000", nil, "192.0.2.1"},
		{"an untrusted peer", "192.0.2.1:5000", []string{"X-Forwarded-For: 203.0.113.9"}, "192.0.2.1"},
		{"a proxy without headers", "10.0.0.1:5000", nil, "10.0.0.1"},
		{"a proxy", "10.0.0.1:5000", []string{"X-Forwarded-For: 203.0.113.9"}, "203.0.113.9"},
		{"a header of the client", "10.0.0.1:5000", []string{"X-Forwarded-For: 198.51.100.1, 203.0.113.9"}, "203.0.113.9"},
		{"two proxies", "10.0.0.1:5000", []string{"X-Forwarded-For: 198.51.100.1, 203.0.113.9,10.0.0.2"}, "203.0.113.9"},
		{"several lines", "10.0.0.1:5000", []string{"X-Forwarded-For: 198.51.100.1", "X-Forwarded-For: 203.0.113.9", "X-Forwarded-For: 10.0.0.2"}, "203.0.113.9"},
		{"only proxies", "10.0.0.1:5000", []string{"X-Forwarded-For: 10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"an invalid address", "10.0.0.1:5000", []string{"X-Forwarded-For: 203.0.113.9, unknown"}, "10.0.0.1"},
		{"an empty element", "10.0.0.1:5000", []string{"X-Forwarded-For: 203.0.113.9, , 10.0.0.2"}, "10.0.0.2"},
		{"an empty header", "10.0.0.1:5000", []string{"X-Forwarded-For: "}, "10.0.0.1"},
		{"a port", "10.0.0.1:5000", []string{"X-Forwarded-For: 203.0.113.9:1234"}, "203.0.113.9"},
		{"IPv6", "[fd00::1]:5000", []string{"X-Forwarded-For: 2001:db8::9"}, "2001:db8::9"},
		{"IPv6 in brackets", "[fd00::1]:5000", []string{"X-Forwarded-For: [2001:db8::9]"}, "2001:db8::9"},
		{"IPv6 with a port", "[fd00::1]:5000", []string{"X-Forwarded-For: [2001:db8::9]:443"}, "2001:db8::9"},
		{"IPv4 within IPv6", "[::ffff:10.0.0.1]:5000", []string{"X-Forwarded-For: ::ffff:203.0.113.9"}, "203.0.113.9"},
		{"a zone", "[fe80::1%eth0]:5000", nil, "fe80::1"},
		{"Forwarded", "10.0.0.1:5000", []string{`Forwarded: for=198.51.100.1, For="203.0.113.9:80";proto=https;by=10.0.0.1`}, "203.0.113.9"},
		{"Forwarded with IPv6", "10.0.0.1:5000", []string{`Forwarded: proto=http; for="[2001:db8::9]:80"`}, "2001:db8::9"},
		{"Forwarded that hides the client", "10.0.0.1:5000", []string{`Forwarded: for=203.0.113.9, for=_hidden`}, "10.0.0.1"},
		{"both headers, the same", "10.0.0.1:5000", []string{"X-Forwarded-For: 203.0.113.9", "Forwarded: for=203.0.113.9"}, "203.0.113.9"},
		{"both headers, one of them a lie", "10.0.0.1:5000", []string{"X-Forwarded-For: 203.0.113.9", "Forwarded: for=198.51.100.1"}, "0.0.0.0"},
		{"an invalid peer", "@", []string{"X-Forwarded-For: 203.0.113.9"}, "invalid IP"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: tt.peer, Header: headerOf(tt.headers)}
			if got := trusted.Client(r).String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestProxies_DetectTLS(t *testing.T) {
	t.Parallel()
	trusted := Proxies{netip.MustParsePrefix("10.0.0.0/8")}
	tests := []struct {
		name, peer string
		headers    []string
		want       bool
	}{
		{"no header", "10.0.0.1:5000", nil, false},
		{"TLS", "10.0.0.1:5000", []string{"X-Forwarded-Proto: HTTPS"}, true},
		{"none", "10.0.0.1:5000", []string{"X-Forwarded-Proto: http", "Forwarded: proto=https"}, false},
		{"Forwarded", "10.0.0.1:5000", []string{"Forwarded: for=192.0.2.1;proto=http, for=203.0.113.9;proto=https"}, true},
		{"by an untrusted peer", "192.0.2.1:5000", []string{"X-Forwarded-Proto: https"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := trusted.OverTLS(&http.Request{RemoteAddr: tt.peer, Header: headerOf(tt.headers)}); got != tt.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func headerOf(lines []string) http.Header {
	header := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		header.Add(name, value)
	}
	return header
}

func FuzzClientOf(f *testing.F) {
	f.Add("1.2.3.4, 10.0.0.2", `for="[::1]:5";proto=https`)
	f.Add(",,", `;=,for="`)
	trusted := Proxies{netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, older, newer string) {
		r := &http.Request{RemoteAddr: "10.0.0.1:1", Header: http.Header{"X-Forwarded-For": {older}, "Forwarded": {newer}}}
		if got := trusted.Client(r); !got.IsValid() {
			t.Errorf("%q and %q yield no address", older, newer)
		}
		_ = trusted.OverTLS(r)
	})
}
