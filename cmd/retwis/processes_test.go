package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"retwis/internal/redistest"
)

func TestProcesses_ShareOneRedis(t *testing.T) {
	t.Parallel()
	url := redistest.Server(t).URL()
	env := environment("RETWIS_REDIS_URL="+url, "RETWIS_WORKER_LEASE=1s")
	here, there := serve(t, env), serve(t, env)
	author, reader := register(t, here.url, "author"), register(t, there.url, "reader")
	reader.follow(author)
	reader.at(here.url).createPost("first")
	settled(t, url)
	reader.awaitHome("first")
	live := reader.watchNow()
	author.createPost("from the other process")
	live.expectPost("from the other process")

	// A page shows a changed profile after at most a second, and never an older one afterwards.
	author.do(`mutation { updateProfile(input: {displayName: "Another Name"}) { userErrors { code message } } }`, nil)
	changed, known := time.Now(), false
	for asked := changed; asked.Sub(changed) < 1200*time.Millisecond; asked = time.Now() {
		_, page := reader.request(http.MethodPost, "/graphql",
			[]byte(`{"query": "{ viewer { homeTimeline { posts { edges { node { author { displayName } } } } } } }"}`),
			"Content-Type: application/json", "Authorization: Bearer "+reader.token)
		shown := strings.Contains(string(page), "Another Name")
		if !shown && (known || asked.Sub(changed) > time.Second) {
			t.Fatalf("after %s (new name shown before: %t) the other process shows:\n%s", asked.Sub(changed), known, page)
		}
		known = shown
	}

	// The remaining process takes over the outboxes of the other one.
	here.stop()
	author.at(there.url).createPost("from this process")
	live.expectPost("from this process")

	again := serve(t, env)
	reader.at(again.url).do(`mutation { logout { userErrors { code message } } }`, nil)
	live.expectClose(4403)
	again.stop()
	there.stop()
}

func TestWorker_DeliversForAnAPIProcess(t *testing.T) {
	t.Parallel()
	url := redistest.Server(t).URL()
	env := environment("RETWIS_REDIS_URL=" + url)
	p := serve(t, env, "--no-worker")
	author, reader := register(t, p.url, "author"), register(t, p.url, "reader")
	reader.follow(author)
	author.createPost("hello")
	worker := launch(t, env, "worker", "--log-format", "json")
	worker.await(worker.stdout, `"msg":"ready"`)
	settled(t, url)
	reader.awaitHome("hello")
	live := reader.watchNow()
	author.createPost("hello again")
	live.expectPost("hello again")
	worker.stop()
	p.stop()
}

// A worker and an API process learn what the other one does.
func TestProcesses_TellEachOtherWhatTheyDo(t *testing.T) {
	t.Parallel()
	env := environment("RETWIS_REDIS_URL="+redistest.Server(t).URL(), "RETWIS_METRICS_LISTEN=127.0.0.1:0")
	for _, p := range []*process{serve(t, env, "--no-worker"), launch(t, env, "worker")} {
		at := metricsOf(p)
		for deadline := time.Now().Add(patience); sum(scrape(t, at), "retwis_redis_script_seconds", "script=join_processes") == 0; time.Sleep(100 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the process does not tell others what it does")
			}
		}
		p.stop()
	}
}
