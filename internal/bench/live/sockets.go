package live

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/bench/process"
	"retwis/internal/retwis"
)

// subscription is the document of the subscribers. It selects a post with its author.
const subscription = `subscription($after: Cursor) { timelineEvents(after: $after) { __typename cursor ... on PostAdded { edge { cursor node { id text createdAt author { id username displayName } } } } } }`

// audience is a number of subscriptions of this process. It parses frames itself, because a library would
// take more CPU time than the server that is measured, on the same machine.
type audience struct {
	clients  []*subscriber
	received atomic.Int64 // posts
	caughtUp atomic.Int64
	failed   atomic.Pointer[error]

	mu        sync.Mutex
	latencies []time.Duration // of posts, from their creation
	wg        sync.WaitGroup
}

type subscriber struct {
	user   retwis.UserID
	conn   net.Conn
	cursor []byte // of the last event, to resume from
}

// connect opens a subscription for each user on one of the servers. A user with a cursor resumes from it.
func (a *audience) connect(ctx context.Context, servers []*process.Child, users []retwis.UserID, after map[retwis.UserID]string) error {
	first := len(a.clients)
	a.clients = append(a.clients, make([]*subscriber, len(users))...)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(256)
	for i, user := range users {
		group.Go(func() error {
			c, r, err := dial(ctx, servers[i%len(servers)], user, after[user])
			if err != nil {
				return err
			}
			a.clients[first+i] = c
			a.wg.Go(func() { a.read(c, r) })
			return nil
		})
	}
	return group.Wait()
}

func dial(ctx context.Context, s *process.Child, user retwis.UserID, after string) (*subscriber, *bufio.Reader, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", s.Address)
	if err != nil {
		return nil, nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	request := "GET /graphql HTTP/1.1\r\nHost: " + s.Address + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	if s.Kind != Centrifuge {
		request += "Sec-WebSocket-Protocol: graphql-transport-ws\r\n"
	}
	request += "\r\n"
	if _, err := io.WriteString(conn, request); err != nil {
		return nil, nil, err
	}
	r := bufio.NewReaderSize(conn, 2048)
	for line := "-"; line != "\r\n"; {
		if line, err = r.ReadString('\n'); err != nil {
			return nil, nil, fmt.Errorf("upgrade: %w", err)
		}
	}
	c := &subscriber{user: user, conn: conn}
	switch s.Kind {
	case Raw:
		return c, r, conn.SetDeadline(time.Time{})
	case Centrifuge:
		err := c.write(`{"id":1,"connect":{}}` + "\n" + `{"id":2,"subscribe":{"channel":"` + centrifugeChannel + `"}}`)
		return c, r, errors.Join(err, conn.SetDeadline(time.Time{}))
	}
	if err := c.write(fmt.Sprintf(`{"type":"connection_init","payload":{"Authorization":"Bearer %s"}}`, user)); err != nil {
		return nil, nil, err
	}
	frame, err := readFrame(r, nil)
	if err != nil || !bytes.Contains(frame, []byte("connection_ack")) {
		return nil, nil, fmt.Errorf("connection_init: got %q: %w", frame, err)
	}
	variables := "{}"
	if after != "" {
		variables = `{"after":"` + after + `"}`
	}
	err = c.write(fmt.Sprintf(`{"type":"subscribe","id":"1","payload":{"query":%s,"variables":%s}}`, strconv.Quote(subscription), variables))
	return c, r, errors.Join(err, conn.SetDeadline(time.Time{}))
}

// write sends a text frame. Frames of clients must be masked; a mask of zeros changes nothing.
func (c *subscriber) write(text string) error {
	frame := binary.BigEndian.AppendUint16([]byte{0x81, 0x80 | 126}, uint16(len(text)))
	frame = append(append(frame, 0, 0, 0, 0), text...)
	_, err := c.conn.Write(frame)
	return err
}

// read counts events until the connection ends.
func (a *audience) read(c *subscriber, r *bufio.Reader) {
	var frame []byte
	var own []time.Duration
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.latencies = append(a.latencies, own...)
	}()
	for {
		var err error
		frame, err = readFrame(r, frame[:0])
		switch {
		case err != nil:
			return
		case bytes.Contains(frame, []byte(`"PostAdded"`)):
			if created := fieldOf(frame, `"text":"at `); created != nil {
				if at, err := strconv.ParseInt(string(created), 10, 64); err == nil {
					own = append(own, time.Since(time.Unix(0, at)))
				}
			}
			a.received.Add(1)
		case bytes.Contains(frame, []byte(`"TimelineCaughtUp"`)), bytes.Contains(frame, []byte(`"subscribe":`)):
			a.caughtUp.Add(1)
		case bytes.Equal(frame, []byte("{}")): // a ping of centrifuge
			_ = c.write("{}") // the next read notices a closed connection
		case bytes.Contains(frame, []byte(`"connect":`)):
		default:
			failure := fmt.Errorf("unexpected message: %.300s", frame)
			if len(frame) > 0 && !bytes.Contains(frame, []byte(`"ping"`)) {
				a.failed.CompareAndSwap(nil, &failure)
			}
			continue
		}
		c.cursor = append(c.cursor[:0], fieldOf(frame, `"cursor":"`)...)
	}
}

// fieldOf returns the text after a mark, up to a space or a quote.
func fieldOf(frame []byte, mark string) []byte {
	_, rest, found := bytes.Cut(frame, []byte(mark))
	if end := bytes.IndexAny(rest, ` "`); found && end >= 0 {
		return rest[:end]
	}
	return nil
}

func readFrame(r *bufio.Reader, into []byte) ([]byte, error) {
	head, err := r.Peek(2)
	if err != nil {
		return into, err
	}
	size, skip := int(head[1]&0x7f), 2
	if size == 126 {
		if head, err = r.Peek(4); err != nil {
			return into, err
		}
		size, skip = int(binary.BigEndian.Uint16(head[2:])), 4
	}
	if _, err := r.Discard(skip); err != nil {
		return into, err
	}
	n := len(into)
	into = append(into, make([]byte, size)...)
	_, err = io.ReadFull(r, into[n:])
	return into, err
}

// await waits until a count is reached, at most a minute.
func (a *audience) await(ctx context.Context, count *atomic.Int64, want int) error {
	for deadline := time.Now().Add(time.Minute); count.Load() < int64(want); time.Sleep(time.Millisecond) {
		if err := a.failed.Load(); err != nil {
			return *err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d of %d events arrived within a minute", count.Load(), want)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// close closes all connections and returns the last cursor of each user.
func (a *audience) close() map[retwis.UserID]string {
	for _, c := range a.clients {
		if c != nil {
			_ = c.conn.Close()
		}
	}
	a.wg.Wait()
	cursors := map[retwis.UserID]string{}
	for _, c := range a.clients {
		if c != nil {
			cursors[c.user] = string(c.cursor)
		}
	}
	return cursors
}
