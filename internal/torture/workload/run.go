package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/torture/history"
	"retwis/internal/torture/validate"
)

// Options configure the size of the workload.
type Options struct {
	Authors, Readers int
	Leavers          int           // authors who delete their accounts during the run
	Pause            time.Duration // between the actions of one client, on average
}

const (
	quietTime  = 3 * time.Second // the service is quiet after this time without an event
	settleTime = 3 * time.Minute // time in which the service must become quiet
)

// Workload is a population of users that act.
type Workload struct {
	options     Options
	recorder    *history.Recorder
	authors     []*User
	leavers     []*User
	readers     []*User
	subscribers []*subscriber
	posts       posts
}

// New registers the users. It expects a service without faults and without rate limits.
func New(ctx context.Context, api *API, recorder *history.Recorder, o Options) (*Workload, error) {
	w := &Workload{options: o, recorder: recorder}
	user := func(name string) *User { return &User{Name: name, api: api, recorder: recorder, posts: &w.posts} }
	for i := range o.Authors {
		w.authors = append(w.authors, user(fmt.Sprintf("author%d", i)))
	}
	for i := range o.Leavers {
		w.leavers = append(w.leavers, user(fmt.Sprintf("leaver%d", i)))
	}
	for i := range o.Readers {
		w.readers = append(w.readers, user(fmt.Sprintf("reader%d", i)))
	}
	for _, u := range append(w.users(), w.leavers...) {
		if err := u.register(ctx); err != nil {
			return nil, err
		}
	}
	for _, reader := range w.readers {
		if err := reader.createList(ctx); err != nil {
			return nil, err
		}
		for _, author := range append(w.leavers, w.authors...) {
			if rand.IntN(3) > 0 && !reader.follow(ctx, author, anyReposts()) {
				return nil, fmt.Errorf("%s cannot follow %s", reader.Name, author.Name)
			}
		}
	}
	return w, nil
}

func (w *Workload) users() []*User { return append(append([]*User(nil), w.authors...), w.readers...) }

// Run lets the users act while inject runs, waits until the service is quiet, and records the view of each user.
// Operations that are running when inject returns are completed, unless it fails.
func (w *Workload) Run(ctx context.Context, inject func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	live, endLive := context.WithCancel(ctx)
	defer endLive()
	group, live := errgroup.WithContext(live)
	for _, reader := range w.readers {
		s := &subscriber{user: reader, last: time.Now()}
		w.subscribers = append(w.subscribers, s)
		group.Go(func() error { return s.run(live) })
	}
	acting, rest := context.WithCancel(ctx)
	defer rest()
	var actors sync.WaitGroup
	for _, author := range w.authors {
		actors.Go(func() { w.act(ctx, acting, func() { w.writeOrDelete(ctx, author) }) })
		actors.Go(func() { w.act(ctx, acting, func() { author.repost(ctx) }) })
	}
	for _, leaver := range w.leavers {
		actors.Go(func() { w.writeAndLeave(ctx, acting, leaver) })
	}
	for i, reader := range w.readers {
		actors.Go(func() { w.act(ctx, acting, func() { reader.readHome(ctx) }) })
		actors.Go(func() { w.act(ctx, acting, func() { reader.like(ctx) }) })
		actors.Go(func() { w.act(ctx, acting, func() { reader.repost(ctx) }) })
		on := true
		actors.Go(func() {
			w.act(ctx, acting, func() {
				reader.enlist(ctx, w.authors[rand.IntN(len(w.authors))], on)
				on = rand.IntN(3) > 0
			})
		})
		author := w.authors[i%len(w.authors)]
		switch {
		case i%2 == 1:
			actors.Go(func() {
				w.act(ctx, acting, func() {
					if rand.IntN(2) == 0 {
						reader.unfollow(ctx, author)
					} else {
						reader.follow(ctx, author, anyReposts())
					}
				})
			})
			actors.Go(func() { w.act(ctx, acting, func() { reader.checkFollow(ctx, author) }) })
		case i%4 == 2: // no unfollow resets the subscription of this reader, and changes of the choice do so rarely
			actors.Go(func() {
				w.act(ctx, acting, func() {
					if rand.IntN(20) == 0 {
						reader.follow(ctx, author, anyReposts())
					}
				})
			})
		}
	}
	injected := inject(acting)
	if injected != nil {
		stop() // the service may never answer again
	}
	rest()
	actors.Wait()
	if injected != nil {
		return injected
	}
	if err := w.settle(ctx, w.conclude(ctx)); err != nil {
		return err
	}
	endLive()
	if err := group.Wait(); err != nil && ctx.Err() != nil {
		return err
	}
	for _, s := range w.subscribers {
		w.recorder.Stream(s.snapshot())
	}
	for _, u := range w.users() {
		v, err := u.view(ctx)
		if err != nil {
			return err
		}
		w.recorder.View(v)
	}
	return w.readers[0].threads(ctx)
}

// act repeats an action, with pauses, until acting is done.
func (w *Workload) act(ctx, acting context.Context, action func()) {
	for acting.Err() == nil && ctx.Err() == nil {
		action()
		select {
		case <-acting.Done():
		case <-time.After(time.Duration(rand.Int64N(int64(2*w.options.Pause) + 1))):
		}
	}
}

func (w *Workload) writeOrDelete(ctx context.Context, author *User) {
	if rand.IntN(8) == 0 {
		author.remove(ctx)
		return
	}
	author.write(ctx, w.readers)
}

// writeAndLeave creates posts for a while, and deletes the account, at the latest when the run ends.
func (w *Workload) writeAndLeave(ctx, acting context.Context, leaver *User) {
	leaving, stop := context.WithTimeout(acting, time.Duration(1+rand.IntN(20))*time.Second)
	defer stop()
	w.act(ctx, leaving, func() { w.writeOrDelete(ctx, leaver) })
	leaver.leave(ctx)
}

// conclude lets each author create a last post. It returns the texts by the names of the authors.
func (w *Workload) conclude(ctx context.Context) map[string]string {
	texts := map[string]string{}
	for _, author := range w.authors {
		texts[author.Name] = author.conclude(ctx)
	}
	return texts
}

// settle waits until every home timeline is complete and every subscriber has received it, because events may be late. A home is complete when it
// shows the last posts of the authors: those of one author arrive in order. After settleTime it returns without an error, because the validators report
// missing posts.
func (w *Workload) settle(ctx context.Context, lastPosts map[string]string) error {
	deadline := time.Now().Add(settleTime)
	before := ""
	for time.Now().Before(deadline) {
		var homes strings.Builder
		complete := true
		for i, u := range w.readers {
			texts, _, err := u.home(ctx)
			if err != nil {
				return err
			}
			listed, err := u.listed(ctx)
			if err != nil {
				return err
			}
			var v history.View
			if err := u.followed(ctx, &v); err != nil {
				return err
			}
			for _, author := range v.Following {
				last, ok := lastPosts[author]
				complete = complete && (!ok || slices.Contains(texts, last))
			}
			fmt.Fprintln(&homes, u.Name, texts, listed)
			complete = complete && w.subscribers[i].has(validate.WithoutReposts(texts))
		}
		now := homes.String()
		quiet := complete && now == before
		for _, s := range w.subscribers {
			quiet = quiet && s.quiet(quietTime)
		}
		if quiet {
			return nil
		}
		before = now
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(quietTime):
		}
	}
	return nil
}
