package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"retwis/internal/redistest"
)

// TestBystander_IsServedBesideACrowd runs users of one network who follow each other, watch their homes many times, and post. Somebody in another
// network posts, reads and subscribes, and must be answered each time. At full size, it logs how long that takes, and how long it takes beside
// other programs that keep all cores busy.
func TestBystander_IsServedBesideACrowd(t *testing.T) {
	if !redistest.Soak() {
		t.Parallel()
	}
	env := environment("RETWIS_REDIS_URL="+redistest.Server(t).URL(), "RETWIS_RATE_LIMITS=on", "RETWIS_LIMIT_REGISTRATIONS=off",
		"RETWIS_LIMIT_LOGINS=off", "RETWIS_LIMIT_POSTS=300/1m")
	people := redistest.Size(200, 3000)
	if code, _, stderr := invoke(t, env, "seed", "--users", fmt.Sprint(people), "--avg-follows", "20", "--posts", fmt.Sprint(5*people)); code != 0 {
		t.Fatal(stderr)
	}
	p := serve(t, env)
	busy, loaded := waits{}, waits{}
	windows, rounds := redistest.Size(1, 3), redistest.Size(4, 40)
	for window := range windows {
		b := newBystander(t, p.url, fmt.Sprintf("127.210.0.%d", window+1))
		idle := occupyCores(t)
		b.act(rounds, busy)
		idle()
		l := load{
			Attack: "posts of a crowd", URL: p.url, Addresses: 1, Connections: redistest.Size(4, 50), Network: fmt.Sprintf("127.211.%d", window+1),
			Gathers: true, Rise: time.Second,
		}
		end := l.start(t)
		b.act(rounds, loaded)
		t.Logf("%d posts of the crowd were refused", end())
	}
	t.Logf("beside busy programs: %v", busy)
	t.Logf("beside the crowd: %v", loaded)
	p.stop()
}

// bystander is a light client: a user who posts, and another one who follows and watches.
type bystander struct {
	author, reader *client
	home           *stream
}

func newBystander(t *testing.T, url, address string) *bystander {
	t.Helper()
	name := strings.ReplaceAll(address, ".", "_")
	b := &bystander{author: newClientAt(t, url, address).register("author_" + name), reader: newClientAt(t, url, address).register("reader_" + name)}
	b.reader.follow(b.author)
	b.home = b.reader.watchNow()
	return b
}

// waits are how long each kind of request took.
type waits map[string][]time.Duration

// String returns the median, the 90th percentile and the longest of each kind.
func (w waits) String() string {
	var text strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(w)) {
		took := slices.Sorted(slices.Values(w[kind]))
		fmt.Fprintf(&text, "\n%-20s %v, %v, %v", kind, took[len(took)/2], took[len(took)*9/10], took[len(took)-1])
	}
	return text.String()
}

// act makes requests of each kind, one after the other, for some rounds.
func (b *bystander) act(rounds int, took waits) {
	b.author.t.Helper()
	measure := func(kind string, request func()) {
		start := time.Now()
		request()
		took[kind] = append(took[kind], time.Since(start))
	}
	for n := range rounds {
		text := fmt.Sprintf("post %d of %d", n, time.Now().UnixNano())
		measure("event of a home", func() {
			b.author.createPost(text)
			b.home.expectPost(text)
		})
		measure("first event", func() { b.reader.watchNow().close() })
		measure("people search", func() { b.reader.do(`{ findUsers(query: "user") { id username } }`, nil) })
		measure("page of the home", func() {
			b.reader.do(`{ viewer { homeTimeline { posts(first: 20) { edges { node { text author { username } } } } } } }`, nil)
		})
		time.Sleep(100 * time.Millisecond)
	}
}

// crowd returns an attack of some users who follow each other. Each watches the own home twice for each of them, and posts five times a second once
// all are ready.
func crowd(users int, gathering *sync.WaitGroup) attack {
	var mu sync.Mutex
	var ids []string
	var registered sync.WaitGroup
	registered.Add(users)
	return func(ctx context.Context, url, address string, number int) int64 {
		c := &http.Client{Transport: &http.Transport{DialContext: dialer(address).DialContext}}
		mu.Lock()
		token, own := registerAt(ctx, url, fmt.Sprintf("127.212.0.%d", number+1)) // 50 passwords cost more than one network may spend
		ids = append(ids, own)
		mu.Unlock()
		registered.Done()
		registered.Wait()
		followAll(ctx, c, url, token, slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == own }))
		ws := connect(ctx, url, address, token)
		if ws == nil {
			panic("the service refuses the websocket of a member of the crowd")
		}
		defer func() { _ = ws.Close() }()
		for n := range 2 * users {
			_ = ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil,
				`{"type": "subscribe", "id": "%d", "payload": {"query": "subscription { timelineEvents { ... on PostAdded { edge { node { id text author { username } } } } } }"}}`, n))
		}
		go func() {
			_ = ws.SetReadDeadline(time.Time{})
			for _, _, err := ws.ReadMessage(); err == nil; _, _, err = ws.ReadMessage() {
			}
		}()
		gathering.Done()
		gathering.Wait()
		return postSlowly(ctx, url, address, token, "hi")
	}
}

// followAll follows users.
func followAll(ctx context.Context, c *http.Client, url, token string, ids []string) {
	for _, id := range ids {
		response, err := operate(ctx, c, url, token, `mutation { followUser(input: {userId: \"`+id+`\"}) { userErrors { code } } }`)
		if err != nil {
			panic(err)
		}
		_ = response.Body.Close()
	}
}
