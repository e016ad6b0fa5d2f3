package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"retwis/internal/redistest"
)

func TestReadiness_FollowsRedisAndShutdown(t *testing.T) {
	t.Parallel()
	node := redistest.Server(t)
	p := serve(t, environment("RETWIS_REDIS_URL="+node.URL(), "RETWIS_METRICS_LISTEN=127.0.0.1:0"))
	operators := metricsOf(p)
	c := register(t, p.url, "reader")
	live := c.watchNow()
	eventually(t, "ready", func() bool {
		status, body := c.get("/readyz")
		return status == http.StatusOK && strings.Contains(body, `{"ready":true,"checks":{"live":"ok","outbox":"ok","redis":"ok"}}`)
	})
	node.Pause()
	eventually(t, "not ready without Redis", func() bool {
		status, body := c.get("/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, `"redis":"failing"`)
	})
	if _, body := c.get("/readyz"); strings.Contains(body, "reasons") {
		t.Errorf("the public response has reasons: %s", body)
	}
	if status, body := get(t, operators+"/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, `"reasons":{`) || !strings.Contains(body, `"redis":"0 of 16 partitions`) {
		t.Errorf("the response to operators has no reasons: %d %s", status, body)
	}
	if got := sum(scrape(t, operators), "retwis_redis_up"); got != 0 {
		t.Errorf("retwis_redis_up is %v without Redis", got)
	}
	if status, body := c.get("/healthz"); status != http.StatusOK {
		t.Errorf("/healthz of a service without Redis: %d %s", status, body)
	}
	node.Resume()
	eventually(t, "ready again", func() bool {
		status, _ := c.get("/readyz")
		return status == http.StatusOK
	})

	request := begin(t, p.url, c.token) // the shutdown waits for it
	p.signal(syscall.SIGTERM)
	eventually(t, "/readyz reports draining", func() bool {
		status, body := get(t, operators+"/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, `{"ready":false,"draining":true`)
	})
	if got := sum(scrape(t, operators), "retwis_draining"); got != 1 {
		t.Errorf("retwis_draining is %v during the shutdown", got)
	}
	request.finish()
	live.expectClose(1012)
	if code := p.code(); code != 0 {
		t.Errorf("it ended with code %d", code)
	}
}

// A master that fails makes its partitions unavailable, and no process unready that serves the others.
func TestReadiness_ToleratesAFailedMaster(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t, redistest.ClusterOptions{})
	env := environment("RETWIS_REDIS_URL="+cluster.URL(), "RETWIS_METRICS_LISTEN=127.0.0.1:0")
	tolerant := serve(t, env)
	strict := serve(t, env, "--ready-min-partitions=100")
	writable := func() float64 { return sum(scrape(t, metricsOf(tolerant)), "retwis_partition_writable") }
	eventually(t, "all partitions are writable", func() bool { return writable() == 16 })

	cluster.Nodes()[0].Pause()
	eventually(t, "the partitions of the master are not writable", func() bool {
		n := writable()
		return 8 <= n && n < 16
	})
	eventually(t, "the strict process is not ready", func() bool {
		status, body := get(t, metricsOf(strict)+"/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, "of 16 partitions accepted a write within 5s, and 100 % have to")
	})
	if status, body := get(t, metricsOf(tolerant)+"/readyz"); status != http.StatusOK {
		t.Errorf("the tolerant process: %d %s", status, body)
	}
	cluster.Nodes()[0].Resume()
	eventually(t, "the strict process is ready again", func() bool {
		status, _ := get(t, metricsOf(strict)+"/readyz")
		return status == http.StatusOK
	})
}

// A client can cause a lag of its posts. All processes were unready then.
func TestReadiness_ReportsThatFanOutLags(t *testing.T) {
	t.Parallel()
	env := environment("RETWIS_REDIS_URL="+redistest.Server(t).URL(), "RETWIS_METRICS_LISTEN=127.0.0.1:0", "RETWIS_READY_MAX_LAG=1ms")
	api := serve(t, env, "--no-worker")
	operators := metricsOf(api)
	author := register(t, api.url, "author")
	author.createPost("not delivered yet")
	eventually(t, "the API reports the lag, and is ready", func() bool {
		status, body := get(t, operators+"/readyz")
		return status == http.StatusOK && strings.Contains(body, `{"ready":true,"checks":{"live":"ok","outbox":"failing","redis":"ok"}`) &&
			strings.Contains(body, `"outbox":"the oldest of `) && strings.Contains(body, "check that workers run")
	})
	if got := scrape(t, operators); sum(got, "retwis_outbox_oldest_seconds") <= 0 || sum(got, "retwis_outbox_entries") < 1 {
		t.Error("the metrics do not show the lag")
	}

	worker := launch(t, env, "worker")
	of := metricsOf(worker)
	eventually(t, "neither reports a lag", func() bool {
		_, ours := get(t, operators+"/readyz")
		_, theirs := get(t, of+"/readyz")
		return strings.Contains(ours, `"outbox":"ok"`) && strings.Contains(theirs, `"checks":{"outbox":"ok","redis":"ok"}`)
	})
	if got := scrape(t, of); sum(got, "retwis_fanout_pushes_total") < 1 {
		t.Error("the worker's metrics do not count its deliveries")
	}
	worker.stop()
	api.stop()
}
