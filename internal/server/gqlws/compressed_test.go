package gqlws_test

import (
	"bytes"
	"encoding/binary"
	"net"
	"testing"
	"testing/synctest"

	"github.com/gorilla/websocket"

	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/server"
	"retwis/internal/server/servertest"
)

// compressedFrame returns a masked frame with compressed text: four times as many blocks without text, and then a stored block.
func compressedFrame(fourBlocks int, text string) []byte {
	const header, masked = 0xc1, 0x80 | 126 // the last frame of a compressed text; a length of 16 bits
	const block = 0b010                     // with fixed codes, followed by seven zeros, which are its end
	var four [8]byte
	binary.LittleEndian.PutUint64(four[:], block|block<<10|block<<20|block<<30)
	body := bytes.Repeat(four[:5], fourBlocks)
	body = append(body, 0, byte(len(text)), 0, ^byte(len(text)), 0xff)
	body = append(append(body, text...), 0) // as a flush ends, without the four bytes that the receiver adds
	frame := binary.BigEndian.AppendUint16([]byte{header, masked}, uint16(len(body)))
	return append(append(frame, 0, 0, 0, 0), body...)
}

// Attack: 2 KB of a compressed message hold the tables of 54 blocks without text. To build them took more than a millisecond, for one point.
func TestCompression_ChargesCompressedBytes(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, func(o *server.Options) { o.Compression = true }, func(h *servertest.Harness) {
		conn := h.Connect()
		c := h.SocketWith(websocket.Dialer{
			NetDial:           func(string, string) (net.Conn, error) { return conn, nil },
			Subprotocols:      []string{servertest.Subprotocol},
			EnableCompression: true,
		})
		c.Send(`{"type":"connection_init"}`)
		c.Expect(`{"type":"connection_ack"}`)
		const text = `{"type":"ping"}`
		send := func(frame []byte) {
			if _, err := conn.Write(frame); err != nil {
				h.Fatal(err)
			}
		}
		frame := compressedFrame(0, text)
		synctest.Wait() // for the charges of the messages before
		before := h.Backend.Charged.Load()
		send(frame)
		c.Expect(`{"type":"pong"}`)
		synctest.Wait()
		if got, want := int(h.Backend.Charged.Load()-before), cost.Message(len(text))+cost.Inflated(len(frame)); got != want {
			h.Errorf("charged %d points for %d compressed bytes, want %d", got, len(frame), want)
		}
		frame = compressedFrame(300, text)
		before = h.Backend.Charged.Load()
		send(frame)
		c.Expect(`{"type":"pong"}`)
		synctest.Wait()
		if got, want := int(h.Backend.Charged.Load()-before), len(frame)/24; got < want {
			h.Errorf("charged %d points for %d compressed bytes, want %d", got, len(frame), want)
		}
		spent := error(&retwis.Error{Code: retwis.CodeRateLimited, Message: "too much", RetryAfterSeconds: 7})
		h.Backend.Spent.Store(&spent)
		send(frame[:1000]) // not the whole message
		c.ExpectClose(websocket.CloseTryAgainLater)
	})
}
