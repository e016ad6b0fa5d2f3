package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"retwis/internal/bench"
	"retwis/internal/retwis"
)

// What Retwis in PHP did on a machine of two cores (nginx, php-fpm 8.2 with opcache). It
// is not part of this run, so the ratio is a rough one.
const (
	phpPosts = 78   // posts a second, author with 1000 followers, 8 connections
	phpPages = 1800 // home pages of 10 posts a second, 100 connections
)

const homePage = `query { viewer { homeTimeline { posts(first: 20) {
	edges { cursor node { id text createdAt author { id username displayName } } }
	pageInfo { hasNextPage endCursor } liveCursor } } } }`

// measureHTTP measures the program itself over HTTP, with fan-out going on beside.
func measureHTTP(ctx context.Context, r *report) error {
	w, err := bench.NewWorld(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	p, err := serve(ctx, w.URL)
	if err != nil {
		return err
	}
	defer p.stop()

	if err := measurePosting(ctx, r, w, p); err != nil {
		return err
	}
	return measureReading(ctx, r, w, p)
}

func measurePosting(ctx context.Context, r *report, w *bench.World, p *program) error {
	token, author, err := p.register(ctx, "author")
	if err != nil {
		return err
	}
	fans, err := w.Crowd(ctx, "fan", 1000)
	if err != nil {
		return err
	}
	if err := w.Fans(ctx, fans, author); err != nil {
		return err
	}
	if err := w.Drained(ctx); err != nil {
		return err
	}
	start := time.Now()
	posting, err := load(ctx, 8, 5*time.Second, func(ctx context.Context) error {
		return p.do(ctx, token, `mutation { createPost(input: { text: "a post of the usual length, about as long as this one" }) { edge { node { id } } userErrors { code } } }`, nil)
	})
	if err != nil {
		return err
	}
	if err := w.Drained(ctx); err != nil {
		return err
	}
	delivered := float64(len(posting.latencies)) / time.Since(start).Seconds()
	r.add("createPost over HTTP, 1 000 followers, 8 clients, posts/s", thousands(posting.rate()),
		fmt.Sprintf("p99 %s; until the last was delivered: %s/s", posting.p99(), thousands(delivered)),
		fmt.Sprintf("%s of PHP's %d/s", ratio(posting.rate()/phpPosts, 10), phpPosts))
	return nil
}

func measureReading(ctx context.Context, r *report, w *bench.World, p *program) error {
	token, reader, err := p.register(ctx, "reader")
	if err != nil {
		return err
	}
	authors, err := w.Crowd(ctx, "writer", 50)
	if err != nil {
		return err
	}
	for _, author := range authors {
		if err := errors.Join(w.Follow(ctx, reader, author), w.PostOne(ctx, author)); err != nil {
			return err
		}
	}
	if err := w.Drained(ctx); err != nil {
		return err
	}
	reading, err := load(ctx, 32, 5*time.Second, func(ctx context.Context) error {
		return p.do(ctx, token, homePage, nil)
	})
	if err != nil {
		return err
	}
	r.add("home page of 20 posts with authors over HTTP, 32 clients, pages/s", thousands(reading.rate()), "p99 "+reading.p99().String(),
		fmt.Sprintf("%s of PHP's %d/s", ratio(reading.rate()/phpPages, 4), phpPages))
	return nil
}

// program is a running server.
type program struct {
	*bench.Server
	url    string
	dir    string
	client *http.Client
}

// serve builds the program and starts it.
func serve(ctx context.Context, redisURL string) (*program, error) {
	dir, err := os.MkdirTemp("", "retwis-bench")
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(dir, "retwis")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/retwis").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the program: %w: %s", err, out)
	}
	server, err := bench.StartServer(ctx, binary, "serve", "--redis-url", redisURL, "--rate-limits", "off")
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 10 * time.Second}
	return &program{Server: server, url: server.URL, dir: dir, client: client}, nil
}

func (p *program) stop() {
	p.Stop()
	_ = os.RemoveAll(p.dir)
}

// register makes an account over the API and returns its token and id.
func (p *program) register(ctx context.Context, name string) (string, retwis.UserID, error) {
	var answer struct {
		Register struct {
			Token string
			User  struct{ ID string }
		}
	}
	query := fmt.Sprintf(`mutation { register(input: { username: %q, password: "a long password" }) { token user { id } } }`, name)
	if err := p.do(ctx, "", query, &answer); err != nil {
		return "", 0, err
	}
	id, err := userID(answer.Register.User.ID)
	return answer.Register.Token, id, err
}

// userID reads the number out of a global id, which clients must not: this program makes
// followers beside the API, to be quick.
func userID(global string) (retwis.UserID, error) {
	text, err := base64.RawURLEncoding.DecodeString(global)
	if err != nil {
		return 0, err
	}
	_, number, _ := strings.Cut(string(text), ":")
	return retwis.ParseUserID(number)
}

// do sends an operation and fails on any error in the answer.
func (p *program) do(ctx context.Context, token, query string, into any) error {
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/graphql", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if into == nil {
		if response.StatusCode != http.StatusOK || bytes.Contains(raw, []byte(`"errors"`)) || bytes.Contains(raw, []byte(`"code"`)) {
			return fmt.Errorf("status %d: %.300s", response.StatusCode, raw)
		}
		return nil
	}
	var answer struct {
		Data   json.RawMessage
		Errors []struct{ Message string }
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return fmt.Errorf("status %d: %w: %.300s", response.StatusCode, err, raw)
	}
	if len(answer.Errors) > 0 {
		return errors.New(answer.Errors[0].Message)
	}
	return json.Unmarshal(answer.Data, into)
}

// result is what a load did.
type result struct {
	latencies []time.Duration
	elapsed   time.Duration
}

func (r result) rate() float64 { return float64(len(r.latencies)) / r.elapsed.Seconds() }

func (r result) p99() time.Duration {
	return r.latencies[len(r.latencies)*99/100].Round(10 * time.Microsecond)
}

// load has clients do something one time after the other, for a while.
func load(ctx context.Context, clients int, duration time.Duration, do func(context.Context) error) (result, error) {
	var mu sync.Mutex
	var r result
	var failed error
	var wg sync.WaitGroup
	start := time.Now()
	for range clients {
		wg.Go(func() {
			var own []time.Duration
			for time.Since(start) < duration && ctx.Err() == nil {
				begun := time.Now()
				if err := do(ctx); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
				own = append(own, time.Since(begun))
			}
			mu.Lock()
			r.latencies = append(r.latencies, own...)
			mu.Unlock()
		})
	}
	wg.Wait()
	r.elapsed = time.Since(start)
	if failed == nil && len(r.latencies) == 0 {
		failed = errors.New("nothing was done")
	}
	slices.Sort(r.latencies)
	return r, failed
}
