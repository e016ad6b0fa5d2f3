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

	"retwis/internal/enginetest"
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
	cmd.Stdout, cmd.Stderr = enginetest.LogWriter{T: t}, enginetest.LogWriter{T: t}
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
	e.T.Helper()
	fans := make([]retwis.UserID, n)
	var wg sync.WaitGroup
	const goroutines = 16
	for g := range goroutines {
		wg.Go(func() {
			for i := g; i < n; i += goroutines {
				user, err := e.Accounts.Register(e.T.Context(), retwis.Registration{Username: fmt.Sprint("fan", i), PasswordHash: "x"})
				if err == nil {
					fans[i] = user.ID
					err = e.Follows.Follow(e.T.Context(), user.ID, author)
				}
				if err != nil {
					e.T.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if e.T.Failed() {
		e.T.FailNow()
	}
	return fans
}

// everyFanHas verifies the homes of all fans. For homes that differ, it reports whether they are right
// five seconds later.
func (e *engine) everyFanHas(fans []retwis.UserID, want []retwis.PostID) {
	e.T.Helper()
	var wrong []retwis.UserID
	for _, fan := range fans {
		if got := e.Read(retwis.Home(fan)); !slices.Equal(got, want) {
			wrong = append(wrong, fan)
			e.T.Errorf("home of %s in partition %d: missing %v, extra or duplicate %v, in order %v", fan, e.Outbox.PartitionOfUser(fan),
				enginetest.Surplus(want, got), enginetest.Surplus(got, want), slices.Equal(got, enginetest.Newest(got)))
		}
	}
	if len(wrong) == 0 {
		return
	}
	time.Sleep(5 * time.Second)
	late := slices.DeleteFunc(slices.Clone(wrong), func(fan retwis.UserID) bool { return !slices.Equal(e.Read(retwis.Home(fan)), want) })
	e.T.Errorf("%d of %d homes are wrong; these are right now: %v", len(wrong), len(fans), late)
	e.IsSound()
	e.T.FailNow()
}

func TestKilledWorkers_LoseAndDuplicateNothing(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		r := redistest.Rand(t)
		e := newEngine(t, store.Options{URL: url, Chunk: slowChunk})
		author := e.Register("author")[0]
		worker := startWorker(t, url)
		fans := e.fans(author, redistest.Size(500, 5000))
		e.Drain()

		kills, hits := redistest.Size(10, 50), 0
		workers := []*workerProcess{worker, startWorker(t, url)}
		var want []retwis.PostID
		for range kills {
			for range 5 {
				want = append(want, e.Post(author, "x"))
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
		e.Drain()
		e.everyFanHas(fans, enginetest.Newest(want))
		e.IsSound()
	})
}

func TestSuspendedWorker_DoesNoHarmWhenItResumes(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, Chunk: slowChunk})
		author := e.Register("author")[0]
		sleeper := startWorker(t, url)
		fans := e.fans(author, redistest.Size(400, 3000))
		e.Drain()
		for round := range redistest.Size(3, 10) {
			deleted, kept := e.Post(author, "deleted"), e.Post(author, "kept")
			time.Sleep(15 * time.Millisecond)
			sleeper.signal(syscall.SIGSTOP)
			// The lease expires, and another worker takes over.
			_, stop := e.Work(slowWorker())
			if err := e.Posts.DeletePost(t.Context(), author, deleted); err != nil {
				t.Fatal(err)
			}
			e.Drain()
			sleeper.signal(syscall.SIGCONT)
			third := e.Post(author, "after")
			e.Drain()
			stop()
			want := []retwis.PostID{third, kept}
			for _, fan := range fans {
				if got := e.Read(retwis.Home(fan)); !slices.Equal(got, want) {
					t.Fatalf("round %d: home of %s: %v, want %v", round, fan, got, want)
				}
			}
			for _, post := range want {
				if err := e.Posts.DeletePost(t.Context(), author, post); err != nil {
					t.Fatal(err)
				}
			}
			e.Drain()
		}
		e.IsSound()
	})
}
