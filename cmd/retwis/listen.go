package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"retwis/internal/server"
)

// listen listens at the address of a flag.
func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	listener, err := server.Listen(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("%w: choose another address with --%s (%s)", err, flag, variableOf(flag))
	}
	return listener, nil
}

// checkFree returns an error if the address of a flag is in use. A process that listens before it can
// serve would make a proxy wait that could use another process.
func checkFree(ctx context.Context, flag, address string) error {
	listener, err := listen(ctx, flag, address)
	if err != nil {
		return err
	}
	if err := listener.Close(); err != nil {
		return fmt.Errorf("check the address %s: %w", address, err)
	}
	return nil
}

// checkAddress returns an error that says what to change about an address to listen at. An empty
// address would be a random port on all interfaces.
func checkAddress(flag, address, example string) error {
	if address == "" {
		return fmt.Errorf("--%s (%s) is empty: choose an address like %s", flag, variableOf(flag), example)
	}
	if _, err := net.ResolveTCPAddr("tcp", address); err != nil {
		return fmt.Errorf("--%s (%s) is %q: choose an address like %s: %w", flag, variableOf(flag), address, example, err)
	}
	return nil
}

// checkOrigins returns an error that says what to change about the allowed origins.
func checkOrigins(list []string) error {
	if err := server.CheckOrigins(list); err != nil {
		return fmt.Errorf("--allowed-origins (RETWIS_ALLOWED_ORIGINS): %w", err)
	}
	return nil
}

// parseProxies parses addresses and networks.
func parseProxies(list []string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range list {
		text = strings.TrimSpace(text)
		if addr, err := netip.ParseAddr(text); err == nil {
			all = append(all, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("--trusted-proxies (RETWIS_TRUSTED_PROXIES) contains %q: use addresses or networks, like 10.0.0.0/8", text)
		}
		all = append(all, network.Masked())
	}
	return all, nil
}
