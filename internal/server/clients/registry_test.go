package clients

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/auth"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// fakeClient is a connection that records the reasons of its end.
type fakeClient struct {
	Visitor
	muted   int
	left    []LeaveReason
	aborted bool
	silent  bool
}

func (c *fakeClient) Mute(LeaveReason)         { c.muted++ }
func (c *fakeClient) Leave(reason LeaveReason) { c.left = append(c.left, reason) }
func (c *fakeClient) Abort()                   { c.aborted = true }

// Tick implements [Client]. It reports once that the client is silent.
func (c *fakeClient) Tick(time.Time) bool {
	silent := c.silent
	c.silent = false
	return !silent
}

func (*fakeClient) QueuedBytes() int { return 5 }

// oneUser authenticates every token as the same user.
type oneUser struct{}

func (oneUser) Authenticate(_ context.Context, token string) (auth.Identity, error) {
	return auth.Identity{User: 7, Session: retwis.SessionKey{Hash: token}}, nil
}

func newTestRegistry() (*Registry, *sync.WaitGroup) {
	var tasks sync.WaitGroup
	return NewRegistry(Options{
		Accounts: oneUser{}, Log: slog.New(slog.DiscardHandler), Tasks: &tasks,
		PingEvery: 10 * time.Second, PongWait: 10 * time.Second, RecheckEvery: time.Minute,
		Turn: func(ratelimit.Client) (done func()) { return func() {} },
	}), &tasks
}

func TestRegistry_RemoveLeavesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, _ := newTestRegistry()
		var all [3]fakeClient
		for i := range all {
			if !r.Enter(&all[i]) {
				t.Fatal("a client was refused")
			}
			if _, err := r.Admit(t.Context(), &all[i], Credentials{Token: "token", Bearer: true}); err != nil {
				t.Fatal(err)
			}
		}
		if r.Len() != 3 || r.QueuedBytes() != 15 || len(r.byUser[7]) != 3 {
			t.Errorf("%d clients, %d bytes, %d of the user", r.Len(), r.QueuedBytes(), len(r.byUser[7]))
		}
		for i := range all {
			r.Remove(&all[i])
		}
		if n := len(r.open) + len(r.byUser) + len(r.admissions); n != 0 || r.ticker.timer != nil {
			t.Errorf("%d entries are left, and the timer %v", n, r.ticker.timer)
		}
	})
}

// Attack: the session of three thousand websockets was revoked. To end them at once took the cores for a tenth of a second.
func TestRegistry_ClientsOfAnEndedSessionLeaveInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, tasks := newTestRegistry()
		turns := make(chan struct{})
		r.opts.Turn = func(ratelimit.Client) (done func()) {
			<-turns
			return func() {}
		}
		var all [3]fakeClient
		for i := range all {
			r.Enter(&all[i])
			if _, err := r.Admit(t.Context(), &all[i], Credentials{Token: "token", Bearer: true}); err != nil {
				t.Fatal(err)
			}
		}
		r.SessionEnded(retwis.SessionEnd{User: 7, Session: retwis.SessionKey{Hash: "token"}})
		for n := range len(all) + 1 {
			synctest.Wait()
			muted, left := 0, 0
			for i := range all {
				muted += all[i].muted
				left += len(all[i].left)
			}
			if muted != len(all) || left != n {
				t.Errorf("after %d turns, %d clients are muted and %d have left", n, muted, left)
			}
			if n < len(all) {
				turns <- struct{}{}
			}
		}
		tasks.Wait()
		for i := range all {
			r.Remove(&all[i])
		}
	})
}

func TestRegistry_DrainedRefusesClients(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, _ := newTestRegistry()
		open := &fakeClient{}
		r.Enter(open)
		r.Drain(t.Context(), time.Second)
		if len(open.left) != 1 || open.left[0] != ServerRestart {
			t.Errorf("the open client was ended with the reasons %v", open.left)
		}
		if r.Enter(&fakeClient{}) || r.Serve(&fakeClient{}, func() { t.Error("a client is served") }) {
			t.Error("a client was accepted")
		}
		r.Remove(open)
	})
}

func TestRegistry_DrainAbortsWhenTimeIsUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, tasks := newTestRegistry()
		stuck := &fakeClient{}
		stop := make(chan struct{})
		r.Serve(stuck, func() {
			<-stop
			tasks.Done()
		})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		r.Drain(ctx, time.Second)
		if took := time.Since(start); took != 4*time.Second || !stuck.aborted {
			t.Errorf("draining took %v, the client was aborted: %t", took, stuck.aborted)
		}
		close(stop)
		r.Remove(stuck)
	})
}

func TestRegistry_AbortsSilentClients(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, _ := newTestRegistry()
		silent, other := &fakeClient{silent: true}, &fakeClient{}
		r.Enter(silent)
		r.Enter(other)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !silent.aborted || other.aborted {
			t.Errorf("aborted: the silent client %t, the other %t", silent.aborted, other.aborted)
		}
		r.Remove(silent)
		r.Remove(other)
	})
}

// Thousands of clients may fall silent at the same moment. Those of another network do not wait for them.
func TestRegistry_AbortsSilentClientsInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, tasks := newTestRegistry()
		attacker := netip.MustParseAddr("192.0.2.1")
		turns := make(chan struct{})
		r.opts.Turn = func(network ratelimit.Client) (done func()) {
			if network.Address == attacker {
				<-turns
			}
			return func() {}
		}
		first, second, other := &fakeClient{silent: true}, &fakeClient{silent: true}, &fakeClient{silent: true}
		first.Address, second.Address = attacker, attacker
		for _, c := range []*fakeClient{first, second, other} {
			r.Enter(c)
		}
		r.tick(time.Now())
		for n, want := range []int{0, 1, 2} {
			synctest.Wait()
			aborted := 0
			for _, c := range []*fakeClient{first, second} {
				if c.aborted {
					aborted++
				}
			}
			if aborted != want || !other.aborted {
				t.Errorf("after %d turns, %d clients are aborted, and the one of another network: %t", n, aborted, other.aborted)
			}
			if n < 2 {
				turns <- struct{}{}
			}
		}
		tasks.Wait()
		for _, c := range []*fakeClient{first, second, other} {
			r.Remove(c)
		}
	})
}
