package wsconn

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"retwis/internal/redistest"
)

func TestMain(m *testing.M) { redistest.VerifyNoLeaks(m) }

// hijacked is the response writer of a request on a pipe.
type hijacked struct {
	http.ResponseWriter
	conn net.Conn
}

// Hijack implements [http.Hijacker].
func (h hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, bufio.NewReadWriter(bufio.NewReader(h.conn), bufio.NewWriter(h.conn)), nil
}

// open returns both ends of a websocket on a pipe. The server's end is not read yet.
func open(t *testing.T) (*Conn, *websocket.Conn) {
	t.Helper()
	ours, theirs := net.Pipe()
	return openOver(t, ours, theirs)
}

// openSocket does the same over a socket of the kernel.
func openSocket(t *testing.T) (*Conn, *websocket.Conn) {
	t.Helper()
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ours, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return openOver(t, ours, theirs)
}

// openOver does the same for the two ends of another connection.
func openOver(t *testing.T, ours, theirs net.Conn) (*Conn, *websocket.Conn) {
	t.Helper()
	return openWith(t, ours, theirs, false)
}

// openCompressed is like open for a websocket whose messages are compressed.
func openCompressed(t *testing.T) (*Conn, *websocket.Conn) {
	t.Helper()
	ours, theirs := net.Pipe()
	return openWith(t, ours, theirs, true)
}

func openWith(t *testing.T, ours, theirs net.Conn, compressed bool) (*Conn, *websocket.Conn) {
	t.Helper()
	upgraded := make(chan *websocket.Conn, 1)
	go func() {
		r, err := http.ReadRequest(bufio.NewReader(theirs))
		if err != nil {
			close(upgraded)
			return
		}
		upgrader := websocket.Upgrader{EnableCompression: compressed}
		ws, _ := Upgrade(&upgrader, hijacked{nil, theirs}, r, nil)
		upgraded <- ws
	}()
	dialer := websocket.Dialer{NetDial: func(string, string) (net.Conn, error) { return ours, nil }, EnableCompression: compressed}
	client, w, err := dialer.DialContext(t.Context(), "ws://retwis.test/", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Body.Close()
	ws := <-upgraded
	if ws == nil {
		t.Fatal("the request was not upgraded")
	}
	var tasks sync.WaitGroup
	var slow atomic.Int64
	shared := NewShared(Settings{
		QueueBytes: 1 << 20, WriteWait: 10 * time.Second, PingEvery: 25 * time.Second, PongWait: 15 * time.Second,
		MessageWait: 20 * time.Second, MaxMessage: 1 << 10, LargeMessage: 512, BinaryCode: 4000, Tasks: &tasks, SlowConsumers: &slow,
	})
	_, cancel := context.WithCancel(t.Context())
	var inflates Account
	if compressed {
		inflates = unlimited{}
	}
	c := New(ws, shared, unlimited{}, unlimited{}, inflates, cancel)
	t.Cleanup(func() {
		_ = client.Close()
		c.Abort()
		tasks.Wait()
	})
	return c, client
}

// unlimited is an account that refuses nothing.
type unlimited struct{}

func (unlimited) Set(int) bool { return true }

// repeated is a body that consists of the insert alone, twice.
type repeated struct{}

func (repeated) Len(insert string) int { return 2 * len(insert) }
func (repeated) AppendTo(b []byte, insert string) []byte {
	return append(append(b, insert...), insert...)
}

func TestConn_AssemblesSharedFrames(t *testing.T) {
	t.Parallel()
	for _, length := range []int{1, 60, 61, 30_000, 40_000} { // of each length encoding
		synctest.Test(t, func(t *testing.T) {
			c, client := open(t)
			insert := strings.Repeat("x", length)
			c.Enqueue(Frame{Kind: websocket.TextMessage, Head: "[", Body: repeated{}, Insert: insert, Data: []byte("]")}, true)
			c.Enqueue(Frame{Kind: websocket.TextMessage, Data: []byte("last")}, false)
			for _, want := range []string{"[" + insert + insert + "]", "last"} {
				if _, got, err := client.ReadMessage(); err != nil || string(got) != want {
					t.Errorf("got %.100q, %v, want %.100q", got, err, want)
				}
			}
		})
	}
}

func TestConn_IdleHoldsNoQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, client := open(t)
		for range 50 {
			c.Send([]byte("message"))
		}
		for range 50 {
			if _, _, err := client.ReadMessage(); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.queue != nil || c.queued != 0 || c.writing {
			t.Errorf("an idle connection holds %d frames, %d bytes, writing %v", len(c.queue), c.queued, c.writing)
		}
	})
}

func TestConn_DisconnectsSlowConsumer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, client := open(t)
		message := []byte(strings.Repeat("x", 64<<10))
		for range 20 {
			c.Send(message)
		}
		if n := c.shared.SlowConsumers.Load(); n != 1 {
			t.Errorf("%d slow consumers are counted, want 1", n)
		}
		var err error
		for err == nil {
			_, _, err = client.ReadMessage()
		}
		if closed, ok := errors.AsType[*websocket.CloseError](err); !ok || closed.Code != CodeTryAgainLater {
			t.Errorf("the connection ended with %v", err)
		}
	})
}

// Attack: clients that did not read kept a part of an event of 2 MB each, although too many bytes waited for them: until the write of the rest failed.
func TestConn_KeepsNoRestOfAFrameBeyondTheBound(t *testing.T) {
	t.Parallel()
	c, _ := openSocket(t)
	account := &bounded{most: 1 << 20}
	c.account = account
	c.Send([]byte(strings.Repeat("x", 2<<20)))
	c.mu.Lock()
	kept := c.waitingLocked()
	c.mu.Unlock()
	if kept != 0 || account.used != 0 || account.refused == 0 || !c.isClosing() {
		t.Errorf("the connection keeps %d bytes, of which %d are counted; %d refused", kept, account.used, account.refused)
	}
}

// bounded is an account that refuses more bytes than a bound.
type bounded struct{ most, used, refused int }

func (b *bounded) Set(bytes int) bool {
	if bytes > b.most {
		b.refused++
		return false
	}
	b.used = bytes
	return true
}

func TestConn_MessageRules(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kind int
		text string
		code int // 0 if the message is accepted
	}{
		"a message of the greatest length": {websocket.TextMessage, strings.Repeat("x", 1<<10), 0},
		"a longer message":                 {websocket.TextMessage, strings.Repeat("x", 1<<10+1), codeTooBig},
		"a binary message":                 {websocket.BinaryMessage, "x", 4000},
		"invalid UTF-8":                    {websocket.TextMessage, "\xff", codeInvalidUTF8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, client := open(t)
				var got []string
				go c.Receive(func(message []byte) {
					got = append(got, string(message))
					c.Close(websocket.CloseNormalClosure, "")
				})
				if err := client.WriteMessage(tt.kind, []byte(tt.text)); err != nil {
					t.Fatal(err)
				}
				_, _, err := client.ReadMessage()
				want := tt.code
				if want == 0 {
					want = websocket.CloseNormalClosure
				}
				if !websocket.IsCloseError(err, want) {
					t.Errorf("the connection ended with %v, want code %d", err, want)
				}
				synctest.Wait()
				if accepted := len(got) == 1 && got[0] == tt.text; accepted != (tt.code == 0) {
					t.Errorf("%d messages were accepted", len(got))
				}
			})
		})
	}
}

func TestConn_RefusesFramesWithoutText(t *testing.T) {
	t.Parallel()
	const mask = "\x00\x00\x00\x00"
	for name, tt := range map[string]struct {
		start, rest string // frames
		repeats     int
		refused     bool
	}{
		"a few empty frames":          {"\x01\x80" + mask, "\x00\x80" + mask, 50, false},
		"many empty frames":           {"\x01\x80" + mask, "\x00\x80" + mask, 1000, true},
		"many frames of one byte":     {"\x01\x81" + mask + "x", "\x00\x81" + mask + "x", 1000, true},
		"many frames of 10 bytes":     {"\x01\x8a" + mask + "0123456789", "\x00\x8a" + mask + "0123456789", 90, false},
		"pings between two frames":    {"\x01\x80" + mask, "\x89\xfd" + mask + strings.Repeat("x", 125), maxPings, false},
		"pings and many empty frames": {"\x01\x80" + mask, "\x89\x80" + mask + strings.Repeat("\x00\x80"+mask, 20), 90, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, client := open(t)
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					c.Receive(func([]byte) { c.Close(websocket.CloseNormalClosure, "") })
				}()
				go func() {
					frames := tt.start + strings.Repeat(tt.rest, tt.repeats) + "\x80\x80" + mask // the end of the message
					_, _ = client.NetConn().Write([]byte(frames))
				}()
				_, _, err := client.ReadMessage()
				if refused := websocket.IsCloseError(err, websocket.ClosePolicyViolation); refused != tt.refused {
					t.Errorf("the connection ended with %v", err)
				}
				<-ended
			})
		})
	}
}

// Attack: packets with 20 pings each were free, and took a write for each ping.
func TestConn_AnswersPingsThatArriveTogetherOnce(t *testing.T) {
	t.Parallel()
	ping := func(text string) string {
		return "\x89" + string([]byte{0x80 | byte(len(text))}) + "\x00\x00\x00\x00" + text
	}
	synctest.Test(t, func(t *testing.T) {
		c, client := open(t)
		var pongs []string
		client.SetPongHandler(func(text string) error {
			pongs = append(pongs, text)
			return nil
		})
		go func() { _, _, _ = client.ReadMessage() }()
		go c.Receive(func([]byte) {})
		for _, packet := range []string{ping("a") + ping("b") + ping("c"), ping("d"), ping("")} {
			if _, err := client.NetConn().Write([]byte(packet)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if want := []string{"c", "d", ""}; !slices.Equal(pongs, want) {
			t.Errorf("got the pongs %q, want %q", pongs, want)
		}
	})
}

// Attack: a client provoked the end of the connection, and sent pings until it came. Each of them was handled, and none was charged.
func TestConn_HandlesFewFramesWhileItCloses(t *testing.T) {
	t.Parallel()
	const ping, pong, binary, text = "\x89\x80\x00\x00\x00\x00", "\x8a\x80\x00\x00\x00\x00", "\x82\x80\x00\x00\x00\x00", "\x81\x80\x00\x00\x00\x00"
	for name, flood := range map[string]string{
		"too many pings":               strings.Repeat(ping, 10_000),
		"too many pongs":               strings.Repeat(pong, 10_000),
		"pings after an error":         binary + strings.Repeat(ping, 10_000),
		"messages with pings":          binary + strings.Repeat(text+ping, 10_000),
		"pings after too many of them": strings.Repeat(ping, maxPings+1) + text + strings.Repeat(ping, 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, client := open(t)
				client.SetCloseHandler(func(int, string) error { return nil }) // an answer would wait for the flood
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					c.Receive(func([]byte) {})
				}()
				go func() { _, _ = client.NetConn().Write([]byte(flood)) }()
				for err := error(nil); err == nil; {
					_, _, err = client.ReadMessage()
				}
				<-ended
				c.mu.Lock()
				defer c.mu.Unlock()
				if handled, want := maxPings-c.pings, maxPings+freeWireBytes; handled > want {
					t.Errorf("%d pings were handled, want at most %d", handled, want)
				}
			})
		})
	}
}

// Attack: after the server had closed a connection, the client went on sending empty frames one by one, each of which took a read.
func TestConn_ReadsSeldomWhileItCloses(t *testing.T) {
	t.Parallel()
	const frame = "\x00\x80\x00\x00\x00\x00" // an empty part of a message
	synctest.Test(t, func(t *testing.T) {
		c, client := open(t)
		client.SetCloseHandler(func(int, string) error { return nil }) // an answer would wait for the frames
		go func() {
			for err := error(nil); err == nil; {
				_, _, err = client.ReadMessage() // the close frame
			}
		}()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			c.Receive(func([]byte) { t.Error("a message is complete") })
		}()
		const most = freeWireBytes/len(frame) + int(lingerWait/discardPause) + 2 // the first frame, and the one that ends the connection
		written := 0
		_, err := client.NetConn().Write([]byte("\x01" + frame[1:]))
		for ; err == nil && written <= most; written++ {
			_, err = client.NetConn().Write([]byte(frame))
		}
		if err == nil {
			t.Fatalf("%d frames are read, one by one", written)
		}
		<-ended
	})
}

// arrivals is an account that refuses more than a number of bytes.
type arrivals struct {
	most int
	now  atomic.Int64
}

func (a *arrivals) Set(bytes int) bool {
	if bytes > a.most {
		return false
	}
	a.now.Store(int64(bytes))
	return true
}

// Attack: ten thousand websockets began a compressed message, or one of 16 KB, and did not finish it. Nothing counted what the server kept for them.
func TestConn_CountsWhatArrives(t *testing.T) {
	t.Parallel()
	var deflated bytes.Buffer
	w, err := flate.NewWriter(&deflated, flate.BestSpeed)
	if err == nil {
		_, err = w.Write([]byte("hello"))
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	const text, compressed, first, last = 0x01, 0x40, 0x00, 0x80 // of the first byte of a frame
	frame := func(kind byte, payload string) []byte {
		return append([]byte{kind, 0x80 | byte(len(payload)), 0, 0, 0, 0}, payload...) // masked with zeros
	}
	short := strings.TrimSuffix(deflated.String(), "\x00\x00\xff\xff")
	for name, tt := range map[string]struct {
		kind        byte
		begin, rest string
		most, want  int
		message     string
	}{
		"small":      {text, strings.Repeat("x", 63), "x", 1 << 20, 0, strings.Repeat("x", 64)},
		"larger":     {text, strings.Repeat("x", 64), "x", 1 << 20, 512, strings.Repeat("x", 65)},
		"compressed": {text | compressed, short[:1], short[1:], 1 << 20, inflaterSize, "hello"},
		"too many":   {text | compressed, short[:1], short[1:], inflaterSize - 1, 0, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, client := openCompressed(t)
			if tt.kind&compressed == 0 {
				c, client = open(t)
			}
			account := &arrivals{most: tt.most}
			c.arrivals, c.inflates = account, account
			handled := make(chan string, 1)
			go c.Receive(func(message []byte) { handled <- string(message) })
			send := func(b []byte) {
				if _, err := client.NetConn().Write(b); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			send(frame(tt.kind|first, tt.begin))
			if got := account.now.Load(); got != int64(tt.want) {
				t.Errorf("%s: %d bytes count while the message arrives, want %d", name, got, tt.want)
			}
			if tt.message == "" {
				if !c.isClosing() {
					t.Errorf("%s: the connection stays open", name)
				}
				return
			}
			send(frame(last, tt.rest))
			if got := <-handled; got != tt.message {
				t.Errorf("%s: the message is %q, want %q", name, got, tt.message)
			}
			if got := account.now.Load(); got != 0 {
				t.Errorf("%s: %d bytes count after the message has arrived", name, got)
			}
		})
	}
}

// turnstile lets one turn begin for each value that is sent to grant.
type turnstile struct{ asked, grant, ended chan struct{} }

func (t turnstile) Turn() (done func()) {
	t.asked <- struct{}{}
	<-t.grant
	return func() { t.ended <- struct{}{} }
}

func (t turnstile) TurnFor(int) (done func()) { return t.Turn() }

func (t turnstile) Compress() (done func(), err error) { return t.Turn(), nil }

// Attack: users of one network sent 215 messages of 250 KB a second. Each took 6 ms, with a turn of half a millisecond, so that the network used both cores.
func TestConn_HandlesALargeMessageInATurnOfItsOwn(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]int{0: 0, 100: 0, 511: 0, 512: 512, 1000: 1000} {
		synctest.Test(t, func(t *testing.T) {
			c, client := open(t)
			turns := &counted{}
			c.TakeTurns(turns)
			go c.Receive(func(message []byte) {
				if turns.now != want {
					t.Errorf("a message of %d bytes is handled in a turn for %d, want %d", len(message), turns.now, want)
				}
				turns.handled++
			})
			if err := client.WriteMessage(websocket.TextMessage, []byte(strings.Repeat("x", length))); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if turns.handled != 1 || turns.open > 0 {
				t.Errorf("%d messages of %d bytes were handled, %d turns have not ended", turns.handled, length, turns.open)
			}
		})
	}
}

// counted counts the turns that have not ended.
type counted struct{ now, open, handled int }

func (c *counted) Turn() (done func()) { return c.TurnFor(0) }

func (c *counted) TurnFor(bytes int) (done func()) {
	c.open++
	c.now = bytes
	return func() { c.open-- }
}

func (c *counted) Compress() (done func(), err error) { return c.Turn(), nil }

// Attack: 9500 websockets of 475 users sent a ping, or a message of 281 frames, at the same moment. All of them were read before the first one had its
// turn, and other clients waited for 0.3 s.
func TestConn_ReadsInTurn(t *testing.T) {
	t.Parallel()
	turns := turnstile{make(chan struct{}), make(chan struct{}), make(chan struct{})}
	handled := make(chan string, 2)
	var line sync.Mutex
	for range 2 {
		c, client := openSocket(t)
		c.ReadInLine(&line)
		c.TakeTurns(turns)
		received := make(chan struct{})
		go func() {
			defer close(received)
			c.Receive(func(message []byte) { handled <- string(message) })
		}()
		t.Cleanup(func() {
			_ = client.Close()
			for {
				select {
				case <-turns.asked:
				case turns.grant <- struct{}{}:
				case <-turns.ended:
				case <-received:
					return
				}
			}
		})
		if err := client.WriteMessage(websocket.TextMessage, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		<-turns.asked
		select {
		case <-turns.asked:
			t.Error("both connections wait for a turn")
		case message := <-handled:
			t.Errorf("got %q without a turn", message)
		case <-time.After(50 * time.Millisecond):
		}
		turns.grant <- struct{}{}
		<-turns.ended
		if message := <-handled; message != "x" {
			t.Errorf("got %q", message)
		}
	}
	if !line.TryLock() {
		t.Fatal("an idle connection holds the line")
	}
	line.Unlock()
}

func TestTruncateReason_KeepsRunes(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]int{
		"short":                           5,
		strings.Repeat("x", 123):          123,
		strings.Repeat("x", 124):          123,
		"x" + strings.Repeat("é", 100):    123,
		strings.Repeat("é", 100):          122,
		strings.Repeat("\U0001F600", 100): 120,
	} {
		if got := truncateReason(reason); len(got) != want || !strings.HasPrefix(reason, got) {
			t.Errorf("%.20q… is truncated to %d bytes, want %d", reason, len(got), want)
		}
	}
}
