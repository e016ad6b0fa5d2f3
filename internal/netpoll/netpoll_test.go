package netpoll

import (
	"context"
	"io"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestYield_LooksForPacketsBetweenPiecesOfWork occupies the only core with goroutines that wake each other, and sends a packet to another one.
func TestYield_LooksForPacketsBetweenPiecesOfWork(t *testing.T) { //nolint:paralleltest // it uses one core
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	end := run(t)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer writer.Close()
	received := make(chan struct{})
	go func() {
		_, _ = io.ReadFull(reader, make([]byte, 1))
		close(received)
	}()
	time.Sleep(10 * time.Millisecond) // the goroutine waits

	const pieces, sentAt, most = 400, 100, 12
	turns := [2]chan int{make(chan int), make(chan int)}
	waited := -1
	var group sync.WaitGroup
	for i := range turns {
		group.Go(func() {
			for piece := range turns[i] {
				Yield()
				if piece == sentAt {
					_, _ = writer.Write([]byte{0})
				}
				select {
				case <-received:
					waited = piece - sentAt
				default:
				}
				if piece == pieces || waited >= 0 {
					close(turns[1-i])
					return
				}
				for began := time.Now(); time.Since(began) < every/4; {
				}
				turns[1-i] <- piece + 1
			}
		})
	}
	turns[0] <- 0
	group.Wait()
	if waited < 0 || waited > most {
		t.Errorf("the packet was received after %d pieces of work, want at most %d", waited, most)
	}
	end()
}

// TestYield_ReturnsWhenRunEnds yields in many goroutines while that happens.
func TestYield_ReturnsWhenRunEnds(t *testing.T) { //nolint:paralleltest // the pipe is of the process
	Yield() // without an effect
	for range 20 {
		end := run(t)
		stop := make(chan struct{})
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						running.Load().lookAgain()
						Yield()
					}
				}
			})
		}
		time.Sleep(2 * time.Millisecond)
		end()
		close(stop)
		group.Wait()
	}
}

// lookAgain makes the next [Yield] look for packets.
func (p *pipe) lookAgain() {
	if p != nil {
		p.lookedAt.Store(-int64(every))
	}
}

// run starts Run. The returned function ends it.
func run(t *testing.T) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Run(ctx) }()
	for running.Load() == nil {
		time.Sleep(time.Millisecond)
	}
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
