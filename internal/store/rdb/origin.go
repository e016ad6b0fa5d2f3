package rdb

import (
	"context"
	"hash/fnv"
	"strconv"

	"retwis/internal/cost"
	"retwis/internal/retwis"
)

// OriginOf returns the network of the client of ctx, or of the actor for whom a worker acts, as an outbox entry stores it. It is empty if that is
// unknown. It is a hash: workers only compare networks, and two that share one only share their turns.
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
