package cost

import (
	"hash/fnv"
	"net/netip"
	"strconv"
)

// Origin returns the name of a network in outbox entries, and among processes: a hash, because workers only compare networks. Two networks with the same
// hash share their turns.
func Origin(network netip.Prefix) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(network.String()))
	const base = 36
	return strconv.FormatUint(uint64(hash.Sum32()), base)
}
