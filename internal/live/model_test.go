package live

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"retwis/internal/retwis"
)

// step is one random action on the database or on a client.
type step struct {
	what   string
	on     int // number of a timeline, partition or client
	n      int
	flag   bool
	millis int // time until the next step
}

func (s step) String() string {
	return fmt.Sprintf("%s(%d, %d, %v) %dms", s.what, s.on, s.n, s.flag, s.millis)
}

var steps = rapid.Custom(func(t *rapid.T) step {
	return step{
		what: rapid.SampledFrom([]string{
			"push", "push", "push", "hide", "burst", "mark", "delete", "delete", "purge", "merge",
			"cut", "lose", "outage", "absence", "disconnect", "disconnect", "slow", "join", "join", "wait",
		}).Draw(t, "what"),
		on:     rapid.IntRange(0, 30).Draw(t, "on"),
		n:      rapid.IntRange(1, 12).Draw(t, "n"),
		flag:   rapid.Bool().Draw(t, "flag"),
		millis: rapid.SampledFrom([]int{0, 0, 1, 3, 10, 40}).Draw(t, "millis"),
	}
})

// Messages are lost, delayed and duplicated, connections break, calls fail, and clients are
// slow. Each client resumes with its last cursor and receives every post once, in the order
// of the list, or a reset.
func TestHub_LosesNoEventSilently(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		first := rapid.SampledFrom([]int{-1, 1, 32}).Draw(rt, "first")
		latency := rapid.SampledFrom([]int{1, 5, 30}).Draw(rt, "latency")
		script := rapid.SliceOfN(steps, 50, 120).Draw(rt, "steps")
		var problems []string
		synctest.Test(t, func(t *testing.T) {
			problems = play(t, seed, first, time.Duration(latency)*time.Millisecond, script)
		})
		if len(problems) > 0 {
			rt.Fatal(strings.Join(problems, "\n"))
		}
	})
}

// game is one run of a script of steps.
type game struct {
	*fakeDatabase
	h         *Hub
	timelines []retwis.TimelineID
	clients   []*verifyingClient
	wg        sync.WaitGroup
	problems  []string // guarded by the database's lock
}

func play(t *testing.T, seed uint64, first int, latency time.Duration, script []step) []string {
	db := newFakeDatabase()
	db.rng = rand.New(rand.NewPCG(seed, 0))
	db.latency, db.capacity, db.longest = latency, 30, 25
	db.lastPost, db.elementOf = 1_790_000_000_000_000_000, mixedElement
	g := &game{
		fakeDatabase: db,
		timelines:    []retwis.TimelineID{alice, bob, carol, aliceProfile, retwis.Public()},
		h: NewHub(db, slog.New(slog.DiscardHandler), Options{
			PresenceTTL: 6 * time.Second, CheckEvery: 10 * time.Second, Linger: 2 * time.Second,
			CallTimeout: time.Second, JoinTimeout: 5 * time.Second, QueueLength: 12, Parallel: 2, MaxFirst: first,
		}),
	}
	stop := start(t, g.h)
	ctx, cancel := context.WithCancel(t.Context())
	for n := range 4 {
		g.join(ctx, n, true)
	}
	for _, s := range script {
		g.do(ctx, s)
		time.Sleep(time.Duration(s.millis) * time.Millisecond)
	}

	db.fail(false, "Since", "Now", "Shown", "Enter", "Leave", "Listen")
	db.mu.Lock()
	clear(db.lossy)
	for _, c := range g.clients {
		c.slow = 0
	}
	db.mu.Unlock()
	time.Sleep(time.Minute)
	for _, c := range g.clients {
		c.finish()
	}
	cancel()
	g.wg.Wait()
	synctest.Wait()
	if got := g.h.Stats(); got.Subscribers != 0 || got.Feeds != 0 {
		g.problems = append(g.problems, fmt.Sprintf("subscribers or feeds remain: %+v", got))
	}
	stop()
	return g.problems
}

// mixedElement returns the elements of plain posts, replies, and reposts of posts that the timelines lack.
func mixedElement(id retwis.PostID) retwis.Element {
	switch id % 4 {
	case 1:
		return retwis.Element{ID: id, Author: 5, Answered: 6}
	case 2:
		return retwis.Element{ID: id, Author: 5, Reposted: id - 1_000_000_000}
	default:
		return retwis.Plain(id)
	}
}

func (g *game) do(ctx context.Context, s step) {
	t := g.timelines[s.on%len(g.timelines)]
	switch s.what {
	case "push":
		if s.flag && t != retwis.Public() {
			g.push(t, retwis.Public())
		} else {
			g.push(t)
		}
	case "hide":
		g.hide(t)
	case "mark":
		g.markRead(t)
	case "burst":
		for range 4 * s.n {
			g.push(t)
			time.Sleep(time.Duration(s.millis) * time.Millisecond / 10)
		}
	case "delete":
		g.delete(t, s.n)
	case "purge":
		g.purge(t, s.n, s.flag)
	case "merge":
		g.merge(t, s.n)
	case "cut":
		g.fakeDatabase.disconnect(s.on%g.partitions, s.flag)
	case "lose":
		g.lose(s.on%g.partitions, s.n)
	case "outage":
		names := []string{"Since", "Now", "Shown", "Enter", "Leave", "Listen"}
		if s.flag {
			names = names[s.on%len(names):][:1]
		}
		g.fail(true, names...)
		time.Sleep(time.Duration(s.n*s.n) * 20 * time.Millisecond)
		g.fail(false, names...)
	case "absence":
		g.fail(true, "Enter")
		time.Sleep(7 * time.Second)
		g.push(t)
		g.delete(t, s.n)
		g.fail(false, "Enter")
	case "disconnect", "slow":
		g.mu.Lock()
		defer g.mu.Unlock()
		c := g.clients[s.on%len(g.clients)]
		if s.what == "slow" {
			c.slow = time.Duration(s.n*10-10) * time.Millisecond
		} else if c.disconnect != nil {
			c.disconnect()
		}
	case "join":
		g.join(ctx, s.on, s.flag)
	case "wait":
		time.Sleep(time.Duration(s.n) * time.Second)
	}
}

// join adds a client that begins now, without a cursor, or at the live cursor of a page read
// now.
func (g *game) join(ctx context.Context, on int, now bool) {
	if len(g.clients) >= 30 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.timelines[on%len(g.timelines)]
	var after retwis.Cursor
	if !now {
		after = g.position(t).Cursor()
	}
	c := newVerifyingClient(g.fakeDatabase, g.h, t, after, func(what string) { g.problems = append(g.problems, what) })
	g.clients = append(g.clients, c)
	g.wg.Go(func() { c.run(ctx) })
}

// delete deletes one of the last posts of a timeline.
func (g *game) delete(t retwis.TimelineID, n int) {
	g.mu.Lock()
	pushed := g.list(t).pushed
	if len(pushed) < n || g.posts[pushed[len(pushed)-n].Shown()] == nil {
		g.mu.Unlock()
		return
	}
	element := pushed[len(pushed)-n]
	var holders []retwis.TimelineID
	for _, t := range g.timelines {
		if slices.Contains(g.list(t).pushed, element) {
			holders = append(holders, t)
		}
	}
	g.mu.Unlock()
	g.remove(element.Shown(), holders...)
}

// purge removes the newest n entries of a home, or every other entry.
func (g *game) purge(t retwis.TimelineID, n int, newest bool) {
	if t.Kind != retwis.HomeTimeline {
		return
	}
	g.change(t, func(entries []retwis.Element) []retwis.Element {
		kept := entries[:0]
		for i, e := range entries {
			if i == 0 || (newest && i < len(entries)-n) || (!newest && i%2 == n%2) {
				kept = append(kept, e)
			}
		}
		return kept
	})
}

// merge inserts posts into a home without pushing them, the newest on top.
func (g *game) merge(t retwis.TimelineID, n int) {
	if t.Kind != retwis.HomeTimeline {
		return
	}
	g.change(t, func(entries []retwis.Element) []retwis.Element {
		for i := range n {
			g.lastPost++
			e := g.elementOf(g.lastPost)
			g.posts[e.Shown()] = &retwis.Post{ID: e.Shown()}
			entries = slices.Insert(entries, max(0, len(entries)-i), e)
		}
		return entries
	})
}
