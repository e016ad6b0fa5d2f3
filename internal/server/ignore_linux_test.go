package server

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"
)

func TestIgnoreNetworks_DropsOnlyTheirAttemptsToConnect(t *testing.T) {
	t.Parallel()
	for listen, addresses := range map[string][2]string{
		"127.0.0.1:0": {"127.0.0.5", "127.0.0.6"},
		"[::]:0":      {"127.0.0.5", "127.0.0.6"}, // as IPv4
		"[::1]:0":     {"", "::1"},
	} {
		listener, err := Listen(t.Context(), listen)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		go greet(listener)
		dial := func(from string, within time.Duration) (net.Conn, error) {
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: within}
			_, port, _ := net.SplitHostPort(listener.Addr().String())
			host := "127.0.0.1"
			if from == "::1" {
				host = from
			}
			return d.DialContext(t.Context(), "tcp", net.JoinHostPort(host, port))
		}
		wantServed := func(what, from string) net.Conn {
			conn, err := dial(from, 30*time.Second)
			if err != nil {
				t.Fatalf("%s at %s: %v", what, listen, err)
			}
			wantGreeting(t, what+" at "+listen, conn)
			return conn
		}
		wantIgnored := func(what, from string) {
			var timeout net.Error
			if _, err := dial(from, 100*time.Millisecond); !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Errorf("%s at %s: %v, want a timeout", what, listen, err)
			}
		}

		many := []netip.Prefix{netip.MustParsePrefix("2001:db8::/64")}
		for i := range maxFloods - 2 {
			many = append(many, netip.MustParsePrefix(fmt.Sprintf("10.0.0.%d/32", i)))
		}
		if flood, other := addresses[0], addresses[1]; flood != "" {
			open := wantServed("a network before its flood", flood)
			ignoreNetworks(listener, append(many, netip.MustParsePrefix(flood+"/32")))
			wantIgnored("a flood", flood)
			wantServed("another network", other)
			wantGreeting(t, "an open connection at "+listen, open)
			ignoreNetworks(listener, nil)
			wantServed("a network after its flood", flood)
			continue
		}
		ignoreNetworks(listener, many)
		wantServed("another network", "::1")
		ignoreNetworks(listener, append(many, netip.MustParsePrefix("::/64")))
		wantIgnored("a flood", "::1")
	}
}

// greet answers lines from the connections of a listener until it is closed.
func greet(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = conn.Close() }()
			for lines := bufio.NewScanner(conn); lines.Scan(); {
				_, _ = fmt.Fprintln(conn, "hello")
			}
		}()
	}
}

func wantGreeting(t *testing.T, what string, conn net.Conn) {
	t.Helper()
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := fmt.Fprintln(conn, "hi"); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("%s: %q %v", what, line, err)
	}
}
