package rdb

import (
	"context"

	"retwis/internal/cost"
	"retwis/internal/retwis"
)

// OriginOf returns the origin that outbox entries store: the network of the client whose operation ctx belongs to. For a task of a worker, it is
// the network from which the task was caused. It is empty if the network is unknown. See [cost.Origin].
func OriginOf(ctx context.Context) string {
	if actor := retwis.ActorOf(ctx); actor.User != 0 {
		return actor.Network
	}
	client := cost.ClientOf(ctx)
	if !client.Address.IsValid() {
		return ""
	}
	return cost.Origin(client.NetworkKey().Network)
}
