package fanout_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// workerProcess is a worker in a separate process.
type workerProcess struct {
	t   *testing.T
	cmd *exec.Cmd
}

func startWorker(t *testing.T, url string) *workerProcess {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), workerURL+"="+url)
	cmd.Stdout, cmd.Stderr = testWriter{t}, testWriter{t}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &workerProcess{t, cmd}
	t.Cleanup(p.kill)
	return p
}

func (p *workerProcess) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func (p *workerProcess) signal(signal syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		p.t.Fatal(err)
	}
}

// fans registers n users who follow an author.
func (e *engine) fans(author retwis.UserID, n int) []retwis.UserID {
	e.t.Helper()
	fans := make([]retwis.UserID, n)
	var wg sync.WaitGroup
	const goroutines = 16
	for g := range goroutines {
		wg.Go(func() {
			for i := g; i < n; i += goroutines {
				user, err := e.Accounts.Register(e.t.Context(), retwis.Registration{Username: fmt.Sprint("fan", i), PasswordHash: "x"})
				if err == nil {
					fans[i] = user.ID
					err = e.Follows.Follow(e.t.Context(), user.ID, author)
				}
				if err != nil {
					e.t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if e.t.Failed() {
		e.t.FailNow()
	}
	return fans
}

// everyFanHas verifies the homes of all fans.
func (e *engine) everyFanHas(fans []retwis.UserID, want []retwis.PostID) {
	e.t.Helper()
	for _, fan := range fans {
		if got := e.read(retwis.Home(fan)); !slices.Equal(got, want) {
			e.t.Fatalf("home of %s: missing %v, extra or duplicate %v, in order %v",
				fan, surplus(want, got), surplus(got, want), slices.Equal(got, newest(got)))
		}
	}
}

func TestKilledWorkers_LoseAndDuplicateNothing(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		r := redistest.Rand(t)
		e := newEngine(t, store.Options{URL: url, Chunk: slowChunk})
		author := e.register("author")[0]
		worker := startWorker(t, url)
		fans := e.fans(author, redistest.Size(1000, 5000))
		e.drain()

		kills, hits := redistest.Size(15, 50), 0
		workers := []*workerProcess{worker, startWorker(t, url)}
		var want []retwis.PostID
		for range kills {
			for range 5 {
				want = append(want, e.post(author, "x"))
			}
			time.Sleep(time.Duration(20+r.IntN(600)) * time.Millisecond)
			waiting, err := e.Outbox.OutboxLength(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			i := r.IntN(len(workers))
			workers[i].kill()
			if waiting > 0 {
				hits++
			}
			workers[i] = startWorker(t, url)
		}
		if hits < kills/5 {
			t.Errorf("%d of %d kills interrupted deliveries, want at least %d", hits, kills, kills/5)
		}
		t.Logf("%d of %d kills interrupted deliveries, %d posts", hits, kills, len(want))
		e.drainWithin(3 * time.Minute)
		e.everyFanHas(fans, newest(want))
		e.isSound()
	})
}

func TestSuspendedWorker_DoesNoHarmWhenItResumes(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Chunk: slowChunk})
		author := e.register("author")[0]
		sleeper := startWorker(t, url)
		fans := e.fans(author, redistest.Size(800, 3000))
		e.drain()
		for round := range redistest.Size(3, 10) {
			deleted, kept := e.post(author, "deleted"), e.post(author, "kept")
			time.Sleep(15 * time.Millisecond)
			sleeper.signal(syscall.SIGSTOP)
			// The lease expires, and another worker takes over.
			_, stop := e.work(slowWorker())
			if err := e.Posts.DeletePost(t.Context(), author, deleted); err != nil {
				t.Fatal(err)
			}
			e.drain()
			sleeper.signal(syscall.SIGCONT)
			third := e.post(author, "after")
			e.drain()
			stop()
			want := []retwis.PostID{third, kept}
			for _, fan := range fans {
				if got := e.read(retwis.Home(fan)); !slices.Equal(got, want) {
					t.Fatalf("round %d: home of %s: %v, want %v", round, fan, got, want)
				}
			}
			for _, post := range want {
				if err := e.Posts.DeletePost(t.Context(), author, post); err != nil {
					t.Fatal(err)
				}
			}
			e.drain()
		}
		e.isSound()
	})
}
