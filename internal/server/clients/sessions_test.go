package clients_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
	"retwis/internal/server/clients"
	"retwis/internal/server/servertest"
)

func TestRegistry_ClosesSocketsOfAnEndedSession(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		token, other := h.Login(1), h.Login(1)
		a, b := h.Ready(token), h.Ready(token)
		c, d, nobody := h.Ready(other), h.Ready(h.Login(2)), h.Ready("")
		a.Subscribe("1", servertest.FeedA)
		synctest.Wait()

		h.Server.SessionEnded(h.Accounts.End(token))
		a.ExpectClose(4403)
		b.ExpectClose(4403)
		synctest.Wait()
		if n := h.Backend.Subscriptions(); n != 0 {
			h.Errorf("%d subscriptions outlive the session", n)
		}
		for _, stays := range []*servertest.Socket{c, d, nobody} {
			stays.ExpectAlive()
		}

		h.Server.SessionEnded(retwis.SessionEnd{User: 1, Generation: 0})
		c.ExpectAlive() // its generation 0 has not ended
		newer := h.Ready(h.Accounts.Open(1, 2))
		h.Server.SessionEnded(retwis.SessionEnd{User: 1, Generation: 2})
		c.ExpectClose(4403)
		newer.ExpectAlive()
		d.ExpectAlive()
		nobody.ExpectAlive()
	})
}

func TestRegistry_ChecksAllSessionsAfterLostMessages(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		token := h.Login(1)
		ended, stays, nobody := h.Ready(token), h.Ready(h.Login(2)), h.Ready("")
		h.Accounts.End(token) // without an announcement
		asked, announced := h.Accounts.Calls(), make(chan struct{})
		h.Accounts.Set(nil, func() { <-announced }) // the first check takes until then
		for range 5 {
			h.Server.SessionEnded(retwis.SessionEnd{})
		}
		close(announced)
		ended.ExpectClose(4403)
		stays.ExpectAlive()
		nobody.ExpectAlive()
		synctest.Wait()
		if n := h.Accounts.Calls() - asked; n > 6 {
			h.Errorf("read sessions %d times, want two", n)
		}
	})
}

func TestRegistry_ReadsASessionOnceForAllItsSockets(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		token, other := h.Login(1), h.Login(1)
		for range 3 {
			h.Ready(token)
		}
		ended := []*servertest.Socket{h.Ready(other), h.Ready(other)}
		h.Accounts.End(other) // without an announcement
		asked := h.Accounts.Calls()
		h.Server.SessionEnded(retwis.SessionEnd{})
		for _, c := range ended {
			c.ExpectClose(4403)
		}
		synctest.Wait()
		if n := h.Accounts.Calls() - asked; n != 2 {
			h.Errorf("read sessions %d times, want two", n)
		}
	})
}

func TestRegistry_ChecksSessionsPeriodically(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		token := h.Login(1)
		c := h.Ready(token)
		h.Accounts.End(token)
		start := time.Now()
		c.ExpectClose(4403)
		if waited := time.Since(start); waited != 5*time.Minute {
			h.Errorf("closed after %v", waited)
		}
	})
}

func TestRegistry_KeepsSessionsInAnOutage(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		token := h.Login(1)
		ended, stays := h.Ready(token), h.Ready(h.Login(2))
		h.Accounts.End(token)
		h.Accounts.Set(errors.New("redis is down"), nil)
		h.Server.SessionEnded(retwis.SessionEnd{})
		synctest.Wait()
		ended.ExpectAlive()
		stays.ExpectAlive()

		// A failed check is repeated before the next periodic one.
		h.Accounts.Set(nil, nil)
		start := time.Now()
		ended.ExpectClose(4403)
		if waited := time.Since(start); waited > 10*time.Second {
			h.Errorf("closed after %v", waited)
		}
		stays.ExpectAlive()
	})
}

// The end of a session may be announced after the session was read and before its socket is in
// the index. The registry must remember such announcements.
func TestAdmit_NoticesAConcurrentEndOfTheSession(t *testing.T) {
	tests := []struct {
		name string
		end  func(retwis.SessionEnd) []retwis.SessionEnd
		want bool // the socket closes
	}{
		{"of the session", func(e retwis.SessionEnd) []retwis.SessionEnd { return []retwis.SessionEnd{e} }, true},
		{"of all the user's", func(retwis.SessionEnd) []retwis.SessionEnd { return []retwis.SessionEnd{{User: 1, Generation: 1}} }, true},
		{"announcements lost", func(retwis.SessionEnd) []retwis.SessionEnd { return []retwis.SessionEnd{{}} }, true},
		{"followed by very many others", func(e retwis.SessionEnd) []retwis.SessionEnd {
			var ends []retwis.SessionEnd
			for user := range retwis.UserID(2 * clients.MaxEnded) {
				ends = append(ends, retwis.SessionEnd{User: 100 + user, Session: retwis.SessionKey{Hash: user.String()}})
			}
			return append(ends, e)
		}, true},
		{"of another user's", func(retwis.SessionEnd) []retwis.SessionEnd { return []retwis.SessionEnd{{User: 2, Generation: 1}} }, false},
		{"of the user's older ones", func(retwis.SessionEnd) []retwis.SessionEnd { return []retwis.SessionEnd{{User: 1, Generation: 0}} }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			servertest.InBubble(t, nil, func(h *servertest.Harness) {
				token := h.Login(1)
				h.Accounts.Set(nil, func() {
					end := retwis.SessionEnd{User: 2}
					if tt.want {
						end = h.Accounts.End(token)
					}
					for _, e := range tt.end(end) {
						h.Server.SessionEnded(e)
					}
				})
				c := h.Socket()
				c.Send(`{"type":"connection_init","payload":{"authorization":"Bearer ` + token + `"}}`)
				if tt.want {
					c.ExpectClose(4403)
					return
				}
				c.Expect(`{"type":"connection_ack"}`)
				c.ExpectAlive()
			})
		})
	}
}
