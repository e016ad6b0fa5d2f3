// Package netpoll lets a process look for packets while it is busy.
//
// Go looks for packets when a core has no goroutine to run, and every 10 ms. Work in short pieces that wake each other, however short they are,
// leaves a core without a goroutine only at its end. Requests that arrive meanwhile wait, and so do the answers of the database: each of them for up to 10 ms.
// [Yield] between the pieces makes the work itself wait for a packet, one in a pipe of the process. So a core is without a goroutine, finds that
// packet, and with it those of others.
package netpoll

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// every is how long work goes on without looking for packets. Looking takes about 2 µs.
const every = time.Millisecond

// running is the pipe of the process while [Run] runs.
var running atomic.Pointer[pipe] //nolint:gochecknoglobals // so is what Go looks for

// pipe wakes those that wait until Go has looked for packets.
type pipe struct {
	reader, writer *os.File
	start          time.Time
	lookedAt       atomic.Int64 // after start

	mu     sync.Mutex
	looked chan struct{} // closed after the next time
	asked  bool          // the pipe has a byte
	ended  bool
}

// Run makes [Yield] effective until ctx is done.
func Run(ctx context.Context) error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("open a pipe: %w", err)
	}
	defer writer.Close()
	defer context.AfterFunc(ctx, func() { reader.Close() })()
	p := &pipe{reader: reader, writer: writer, start: time.Now(), looked: make(chan struct{})}
	running.Store(p)
	defer running.CompareAndSwap(p, nil)
	return p.serve()
}

// serve answers until the pipe is closed.
func (p *pipe) serve() error {
	var b [1]byte
	for {
		_, err := p.reader.Read(b[:])
		p.mu.Lock()
		close(p.looked)
		p.lookedAt.Store(int64(time.Since(p.start)))
		p.looked, p.asked, p.ended = make(chan struct{}), false, err != nil
		p.mu.Unlock()
		switch {
		case errors.Is(err, fs.ErrClosed):
			return nil
		case err != nil:
			return fmt.Errorf("read a pipe: %w", err)
		}
	}
}

// Yield lets others run. If Go has not looked for packets for a while, it waits until Go has. Call it between pieces of work that together occupy a
// core for more than a moment.
func Yield() {
	if p := running.Load(); p != nil && time.Since(p.start)-time.Duration(p.lookedAt.Load()) >= every {
		p.look()
	}
	runtime.Gosched() // after look: the packets are for goroutines that are ready now, and behind this one
}

// look waits until Go has looked for packets.
func (p *pipe) look() {
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return
	}
	looked := p.looked
	if !p.asked {
		p.asked = true
		_, _ = p.writer.Write([]byte{0}) // does not block: the pipe is empty; and does not fail: serve has not ended
	}
	p.mu.Unlock()
	<-looked
}
