package rdb

import (
	"context"
	"hash/fnv"
	"strconv"

	"retwis/internal/cost"
	"retwis/internal/retwis"
)

// OriginOf returns the origin that outbox entries store: the network of the client whose operation ctx belongs to. For a task of a worker, it is
// the network from which the task was caused. It is empty if the network is unknown. It is a hash, because workers only compare networks; two
// networks with the same hash share their turns.
func OriginOf(ctx context.Context) string {
	if actor := retwis.ActorOf(ctx); actor.User != 0 {
		return actor.Network
	}
	client := cost.ClientOf(ctx)
	if !client.Address.IsValid() {
		return ""
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(client.NetworkKey().Network.String()))
	const base = 36
	return strconv.FormatUint(uint64(hash.Sum32()), base)
}
