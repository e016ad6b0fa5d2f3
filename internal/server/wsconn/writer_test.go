package wsconn

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

// digits returns a text that takes half of its length in compressed form.
func digits(length int) string {
	random := make([]byte, length/2+1)
	rand.NewChaCha8([32]byte{}).Read(random)
	return hex.EncodeToString(random)[:length]
}

func TestConn_CompressesMessages(t *testing.T) {
	t.Parallel()
	for _, length := range []int{0, 1, 100, 300, 30_000, 120_000, 300_000} { // of each length encoding, compressed and not
		for name, text := range map[string]string{"repeated": strings.Repeat("x", length), "digits": digits(length)} {
			synctest.Test(t, func(t *testing.T) {
				c, client := openCompressed(t)
				pings := 0
				client.SetPingHandler(func(string) error { pings++; return nil })
				c.Send([]byte(text))
				c.Enqueue(Frame{Kind: websocket.PingMessage, Data: []byte("x")}, false)
				c.Enqueue(Frame{Kind: websocket.TextMessage, Head: "[", Body: repeated{}, Insert: text, Data: []byte("]")}, false)
				c.Close(websocket.CloseNormalClosure, "over")
				for _, want := range []string{text, "[" + text + text + "]"} {
					if _, got, err := client.ReadMessage(); err != nil || string(got) != want {
						t.Errorf("%d %s bytes: got %.100q, %v, want %.100q", length, name, got, err, want)
					}
				}
				if _, _, err := client.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseNormalClosure) || pings != 1 {
					t.Errorf("%d pings, and the connection ended with %v", pings, err)
				}
			})
		}
	}
}

// compression lets the first parts of messages be compressed, and others wait until the connection closes.
type compression struct {
	connection context.Context
	parts      int
}

func (*compression) Turn() (done func()) { return func() {} }

func (*compression) TurnFor(int) (done func()) { return func() {} }

func (c *compression) Compress() (done func(), err error) {
	if c.parts--; c.parts < 0 {
		<-c.connection.Done()
		return nil, c.connection.Err()
	}
	return func() {}, nil
}

func TestConn_SendsMessagesThatWaitWithoutCompressionWhenItCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, client := openCompressed(t)
		ctx, cancel := context.WithCancel(t.Context())
		c.cancel = cancel
		c.TakeTurns(&compression{ctx, 3})
		text := digits(60_000)
		c.Send([]byte(text))
		c.Send([]byte(text)) // of which one part is compressed
		read := func() {
			t.Helper()
			if _, got, err := client.ReadMessage(); err != nil || string(got) != text {
				t.Errorf("got %.100q, %v", got, err)
			}
		}
		read()
		time.Sleep(time.Minute) // the deadline of a write begins after the turns
		c.Close(websocket.CloseNormalClosure, "")
		read()
		if _, _, err := client.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
			t.Errorf("the connection ended with %v", err)
		}
	})
}

// oneAtATime lets one part of a message be compressed at a time.
type oneAtATime struct{ sync.Mutex }

func (*oneAtATime) Turn() (done func()) { return func() {} }

func (*oneAtATime) TurnFor(int) (done func()) { return func() {} }

func (o *oneAtATime) Compress() (done func(), err error) {
	o.Lock()
	return o.Unlock, nil
}

// Attack: thousands of websockets were not read, and each kept a compressor of 1.2 MB until its write failed.
func TestConn_HoldsNoCompressorWhileItWrites(t *testing.T) { //nolint:paralleltest // it measures memory
	const most = 100
	synctest.Test(t, func(t *testing.T) {
		text := []byte(digits(20_000))
		var conns []*Conn
		var turns oneAtATime
		for range most {
			c, _ := openCompressed(t)
			c.TakeTurns(&turns)
			conns = append(conns, c)
			c.shared = conns[0].shared
		}
		before := heap()
		for _, c := range conns {
			c.Send(text)
		}
		synctest.Wait()
		if grown := heap() - before; grown > most*100<<10 {
			t.Errorf("%d messages of %d bytes that are written take %d bytes each", most, len(text), grown/most)
		}
		for _, c := range conns {
			if waiting := c.QueuedBytes(); waiting != len(text) {
				t.Fatalf("%d bytes wait for a reader, want %d", waiting, len(text))
			}
		}
		time.Sleep(conns[0].shared.WriteWait)
		synctest.Wait()
		for _, c := range conns {
			if !c.isClosing() || c.QueuedBytes() != 0 {
				t.Fatal("a connection that is not read stays open")
			}
		}
	})
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
