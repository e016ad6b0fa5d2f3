package live

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/centrifugal/centrifuge"

	"retwis/internal/bench/process"
)

// centrifugeChannel is the channel of the node that all clients subscribe to.
const centrifugeChannel = "posts"

// newCentrifuge returns a node of centrifuge that keeps the last messages of its channel in memory, so that subscribers can
// resume, as those of the service can.
func newCentrifuge(log *slog.Logger) (process.Server, error) {
	node, err := centrifuge.New(centrifuge.Config{})
	if err != nil {
		return process.Server{}, fmt.Errorf("start a centrifuge node: %w", err)
	}
	node.OnConnecting(func(context.Context, centrifuge.ConnectEvent) (centrifuge.ConnectReply, error) {
		return centrifuge.ConnectReply{Credentials: &centrifuge.Credentials{UserID: "reader"}}, nil
	})
	var clients atomic.Int64
	node.OnConnect(func(client *centrifuge.Client) {
		clients.Add(1)
		client.OnDisconnect(func(centrifuge.DisconnectEvent) { clients.Add(-1) })
		client.OnSubscribe(func(_ centrifuge.SubscribeEvent, reply centrifuge.SubscribeCallback) {
			reply(centrifuge.SubscribeReply{Options: centrifuge.SubscribeOptions{EnableRecovery: true}}, nil)
		})
	})
	if err := node.Run(); err != nil {
		return process.Server{}, fmt.Errorf("start a centrifuge node: %w", err)
	}
	serve := process.ServeHTTP(centrifuge.NewWebsocketHandler(node, centrifuge.WebsocketConfig{
		CheckOrigin: func(*http.Request) bool { return true }, UseWriteBufferPool: true,
	}))
	return process.Server{
		Serve: func(ctx context.Context, listener net.Listener) error {
			defer func() { _ = node.Shutdown(context.WithoutCancel(ctx)) }() // the process ends
			return serve(ctx, listener)
		},
		Usage: func(u *process.Usage) { u.Clients = int(clients.Load()) },
		Broadcast: func(message []byte) {
			if _, err := node.Publish(centrifugeChannel, message, centrifuge.WithHistory(1000, time.Hour)); err != nil {
				log.Error("centrifuge does not publish", "err", err)
			}
		},
	}, nil
}
