package clients

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

const (
	maxEnded        = 64 // session ends that one admission remembers
	parallelChecks  = 16 // of sessions, at once
	retryChecks     = 10 * time.Second
	maxFailedChecks = 4 * parallelChecks // of one round, before it is given up
)

// admission collects the session ends that are announced while a client's session is being
// read. At that time the index by user does not hold the client.
type admission struct {
	ended   []retwis.SessionEnd
	recheck bool // others may have ended, so the session has to be read again
}

// Admit authenticates a client and enters it in the index by user. It returns
// retwis.ErrUnauthenticated for an invalid bearer token, and if the session ends
// meanwhile. It reports a stale cookie; the client is then anonymous.
func (r *Registry) Admit(ctx context.Context, c Client, credentials Credentials) (stale bool, err error) {
	a := &admission{}
	r.mu.Lock()
	r.admissions[a] = struct{}{}
	r.mu.Unlock()

	who, stale, err := Authenticate(ctx, r.opts.Accounts, credentials)

	r.mu.Lock()
	delete(r.admissions, a)
	if err != nil || who.User == 0 {
		r.mu.Unlock()
		return stale, err
	}
	if slices.ContainsFunc(a.ended, who.EndedBy) {
		r.mu.Unlock()
		return false, retwis.ErrUnauthenticated
	}
	*c.User() = Visitor{who, c.User().Address, credentials.Token}
	r.byUser[who.User] = append(r.byUser[who.User], c)
	r.mu.Unlock()
	if a.recheck {
		_, err = r.readSession(ctx, c)
	}
	return false, err
}

// readSession reads the session of an admitted client again.
func (r *Registry) readSession(ctx context.Context, c Client) (auth.Identity, error) {
	who, _, err := Authenticate(ctx, r.opts.Accounts, Credentials{Token: c.User().token, Bearer: true})
	return who, err
}

// SessionEnded mutes the clients of sessions that have ended, and disconnects them soon. The zero value says
// that announcements may have been lost. It does not wait.
func (r *Registry) SessionEnded(end retwis.SessionEnd) {
	if end == (retwis.SessionEnd{}) {
		r.announcementsLost()
		return
	}
	r.mu.Lock()
	for a := range r.admissions {
		if len(a.ended) == maxEnded {
			a.recheck = true
			continue
		}
		a.ended = append(a.ended, end)
	}
	var affected []Client
	for _, c := range r.byUser[end.User] {
		if c.User().Identity.EndedBy(end) {
			affected = append(affected, c)
		}
	}
	r.mu.Unlock()
	r.endAll(affected)
}

// endAll mutes clients whose sessions have ended, and disconnects them in turn. It does not wait.
func (r *Registry) endAll(ended []Client) {
	for _, c := range ended {
		c.Mute(SessionEnded)
	}
	r.inTurn(ended, func(c Client) { c.Leave(SessionEnded) })
}

// announcementsLost requests a check of every session.
func (r *Registry) announcementsLost() {
	r.mu.Lock()
	for a := range r.admissions {
		a.recheck = true
	}
	r.mu.Unlock()
	select {
	case r.checkAll <- struct{}{}:
	default: // one request is enough
	}
}

// CheckSessions checks the sessions of all connections periodically and on request, until
// ctx is done. A connection whose session cannot be read stays open and is checked again
// soon.
func (r *Registry) CheckSessions(ctx context.Context) {
	wait := r.opts.RecheckEvery
	for {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		case <-r.checkAll:
			timer.Stop()
		}
		wait = r.opts.RecheckEvery
		if !r.checkAllSessions(ctx) {
			wait = min(wait, retryChecks)
		}
	}
}

// checkAllSessions reads the sessions of all authenticated clients, each once, and disconnects those
// without one. It reports whether all sessions could be read.
func (r *Registry) checkAllSessions(ctx context.Context) bool {
	r.mu.Lock()
	admitted := map[string][]Client{} // by token
	for _, clients := range r.byUser {
		for _, c := range clients {
			admitted[c.User().token] = append(admitted[c.User().token], c)
		}
	}
	r.mu.Unlock()

	var group errgroup.Group
	var failed atomic.Int64
	group.SetLimit(parallelChecks)
	for _, same := range admitted {
		// In an outage each of thousands of reads would wait for its deadline.
		if ctx.Err() != nil || failed.Load() >= maxFailedChecks {
			break
		}
		group.Go(func() error {
			_, err := r.readSession(ctx, same[0])
			switch {
			case errors.Is(err, retwis.ErrUnauthenticated):
				r.endAll(same)
			case err != nil:
				failed.Add(1)
				return err
			}
			return nil
		})
	}
	err := group.Wait()
	if err != nil && ctx.Err() == nil {
		r.opts.Log.WarnContext(ctx, "server: sessions of open connections could not be checked", "err", err)
	}
	return err == nil
}
