package ratelimit

import (
	"net/netip"

	"retwis/internal/retwis"
)

// Key identifies the owner of a budget: a user, a network of addresses, or the folded
// username of a login attempt. Exactly one field is set.
type Key struct {
	User    retwis.UserID
	Network netip.Prefix
	Name    string
}

// NetworkOf returns the network whose addresses share a budget: the /64 of an IPv6 address,
// which one household has, and the single IPv4 address. All invalid addresses share one.
func NetworkOf(address netip.Addr) netip.Prefix {
	switch {
	case !address.IsValid():
		return netip.PrefixFrom(netip.IPv4Unspecified(), 32)
	case address.Is6():
		return netip.PrefixFrom(address, 64).Masked()
	default:
		return netip.PrefixFrom(address, 32)
	}
}

// Client is the sender of a request.
type Client struct {
	User    retwis.UserID // 0 for an anonymous client
	Address netip.Addr
}

// OfNetwork returns an anonymous client of the same network. A client without an address is returned as it is.
func (c Client) OfNetwork() Client {
	if !c.Address.IsValid() {
		return c
	}
	return Client{Address: c.Address}
}

// Key returns the key of the client's reads: its user, or its network if it is anonymous.
func (c Client) Key() Key {
	if c.User != 0 {
		return Key{User: c.User}
	}
	return c.NetworkKey()
}

// NetworkKey returns the key of the client's network, also if the client is a user.
func (c Client) NetworkKey() Key { return Key{Network: NetworkOf(c.Address)} }

// Cost is what an operation is about to do.
type Cost struct {
	Reads         int // cost of what it reads, at least 1
	Posts         int
	Likes         int
	Follows       int
	Registrations int
	Passwords     int      // checks of the client's own password
	Logins        []string // usernames of login attempts, as given
}
