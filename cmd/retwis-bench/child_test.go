package main

import (
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"retwis/internal/bench/live"
	"retwis/internal/bench/process"
	"retwis/internal/redistest"
)

// TestIdleSockets_KeepSmallStacks guards the largest part of the memory of a subscriber. The stack of an idle reader has 4 KB, if few
// calls with small frames are on it, and otherwise 8 KB. The race detector makes frames larger; the program is built without it.
func TestIdleSockets_KeepSmallStacks(t *testing.T) {
	t.Parallel()
	const sockets, most = 800, 6 << 10 // and a few goroutines of the process
	server, err := process.StartChildOf(t.Context(), benchBinary, live.Ours, redistest.Server(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	openIdle(t, server, sockets)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) { // stacks shrink when garbage is collected
		usage, err := server.Collect()
		if err != nil {
			t.Fatal(err)
		}
		if usage.Clients == sockets && usage.Stacks <= sockets*most {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d idle sockets have stacks of %d bytes each; at most %d are expected", usage.Clients, usage.Stacks/sockets, most)
		}
	}
}

// openIdle opens websockets that send only pongs after their first message.
func openIdle(t *testing.T, server *process.Child, number int) {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}, HandshakeTimeout: time.Minute}
	for range number {
		conn, _, err := dialer.DialContext(t.Context(), strings.Replace(server.URL(), "http", "ws", 1)+"/graphql", nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if err := conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"connection_init"}`)); err != nil {
			t.Fatal(err)
		}
		if _, answer, err := conn.ReadMessage(); err != nil || !strings.Contains(string(answer), "connection_ack") {
			t.Fatalf("got %s, %v", answer, err)
		}
		go func() { _, _, _ = conn.ReadMessage() }() // which answers pings
	}
}
