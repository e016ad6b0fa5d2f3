package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retwis/internal/redistest"
)

// flow uses the main features of a service, which may have other users. The suffix makes the usernames
// unique. It returns a reader who is logged in and whose home timeline is not empty.
func flow(t *testing.T, url, suffix string) *client {
	t.Helper()
	author, reader := register(t, url, "author"+suffix), register(t, url, "reader"+suffix)
	author.createPost("one")
	following := reader.watchNow()
	reader.follow(author)
	following.awaitReset() // later subscriptions would be reset, too, until the follow has been delivered
	following.close()
	for _, text := range []string{"two", "three"} {
		author.createPost(text)
	}
	reader.awaitHome("three", "two", "one")
	author.awaitHome("three", "two", "one")

	_, standing := reader.home()
	live := reader.watch(standing)
	if e := live.expect("TimelineCaughtUp"); e.Replayed != 0 {
		t.Fatalf("%d events were replayed after the page's live cursor", e.Replayed)
	}
	four := author.createPost("four")
	cursor := live.expectPost("four").Cursor
	live.close()

	author.createPost("five")
	reader.awaitHome("five", "four", "three", "two", "one")
	live = reader.watch(cursor)
	live.expectPost("five")
	if e := live.expect("TimelineCaughtUp"); e.Replayed != 1 {
		t.Fatalf("%d events were replayed, want 1", e.Replayed)
	}
	author.deletePost(four.Node.ID)
	if e := live.expect("PostRemoved"); e.PostID != four.Node.ID {
		t.Fatalf("post %s was removed, want %s", e.PostID, four.Node.ID)
	}
	reader.awaitHome("five", "three", "two", "one")

	reader.createPost("mine")
	live.expectPost("mine")
	reader.unfollow(author)
	if e := live.expect("TimelineReset"); e.Reason != "HISTORY_CHANGED" {
		t.Fatalf("the reason of the reset is %s", e.Reason)
	}
	reader.awaitHome("mine")
	author.createPost("six")
	author.awaitHome("six", "five", "three", "two", "one")
	reader.awaitHome("mine")

	second := reader.login("READER"+suffix, somePassword)
	other := second.watchNow()
	second.do(`mutation { logout { userErrors { code message } } }`, nil)
	other.expectClose(4403)
	if _, a := second.post(`{ viewer { user { id } } }`, nil); len(a.Errors) != 1 || a.Errors[0].Extensions.Code != "UNAUTHENTICATED" {
		t.Fatalf("a session that is logged out gets %+v", a)
	}
	reader.createPost("still here")
	live.expectPost("still here")
	return reader
}

func TestService_WorksOnEveryRedis(t *testing.T) {
	t.Parallel()

	t.Run("a child process that keeps its data", func(t *testing.T) {
		t.Parallel()
		data := filepath.Join(t.TempDir(), "data")
		env := environment("RETWIS_DATA_DIR=" + data)
		p := serve(t, env)
		p.await(p.stdout, "a child process; data is kept in "+data)
		reader := flow(t, p.url, "")
		p.stop()

		p = serve(t, env)
		reader = reader.at(p.url)
		reader.awaitHome("still here", "mine")
		reader.login("reader", somePassword)
		p.stop()
	})

	t.Run("without a redis-server", func(t *testing.T) {
		t.Parallel()
		p := serve(t, environment("PATH="+t.TempDir()))
		p.await(p.stdout, "inside this process; data is lost when the process ends")
		p.await(p.stderr, "to keep data, install redis-server 7 or later")
		flow(t, p.url, "")
		p.stop()
	})

	t.Run("with an old redis-server", func(t *testing.T) {
		t.Parallel()
		path := t.TempDir()
		script := "#!/bin/sh\necho 'Redis server v=6.2.14 sha=00000000:0 malloc=jemalloc-5.1.0 bits=64 build=0'\n"
		if err := os.WriteFile(filepath.Join(path, "redis-server"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		p := serve(t, environment("PATH="+path))
		p.await(p.stdout, "inside this process; data is lost when the process ends")
		line := p.await(p.stderr, "6.2.14")
		if !strings.Contains(line, "version 7 or later is required") {
			t.Errorf("the log line is %q", line)
		}
		register(t, p.url, "somebody").createPost("hello")
		p.stop()
	})

	t.Run("in memory", func(t *testing.T) {
		t.Parallel()
		p := serve(t, environment("RETWIS_REDIS_URL=memory"))
		flow(t, p.url, "")
		p.stop()
		entries, err := os.ReadDir(p.cmd.Dir)
		if err != nil || len(entries) != 0 {
			t.Errorf("the working directory contains %v: %v", entries, err)
		}
	})

	t.Run("one Redis", func(t *testing.T) {
		t.Parallel()
		p := serve(t, environment("RETWIS_REDIS_URL="+redistest.Server(t).URL()))
		flow(t, p.url, "")
		p.stop()
	})

	t.Run("a cluster", func(t *testing.T) {
		t.Parallel()
		group := redistest.Cluster(t, redistest.ClusterOptions{})
		whole := serve(t, environment("RETWIS_REDIS_URL="+group.URL()))
		flow(t, whole.url, "1")
		whole.stop() // while two workers divide the outboxes, a back-fill may be repeated and reset a subscription
		one := serve(t, environment("RETWIS_REDIS_URL="+group.Nodes()[1].URL()))
		flow(t, one.url, "2")
		for _, url := range []string{group.URL(), group.Nodes()[0].URL()} {
			code, _, stderr := invoke(t, environment(), "serve", "--redis-url", strings.ReplaceAll(url, "/0", "/3"))
			if code == 0 || !strings.Contains(stderr, "Redis Cluster") {
				t.Errorf("database 3 of a cluster: code %d, %s", code, stderr)
			}
		}
		one.stop()
	})
}
