package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"retwis/internal/redistest"
	"retwis/web"
)

// metricsOf waits until a process serves metrics, and returns their URL.
func metricsOf(p *process) string {
	p.t.Helper()
	_, addr, _ := strings.Cut(p.await(p.stderr, "serving metrics"), "addr=")
	return "http://" + addr
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	return r.StatusCode, string(body)
}

func scrape(t *testing.T, at string) map[string]*dto.MetricFamily {
	t.Helper()
	status, body := get(t, at+"/metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil || status != http.StatusOK {
		t.Fatalf("status %d, %v:\n%s", status, err, body)
	}
	return families
}

// sum adds up the values of all series of a metric that have the given labels. For histograms it adds up the
// counts.
func sum(families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	total := 0.0
	for _, m := range families[name].GetMetric() {
		var has []string
		for _, label := range m.GetLabel() {
			has = append(has, label.GetName()+"="+label.GetValue())
		}
		if slices.ContainsFunc(labels, func(label string) bool { return !slices.Contains(has, label) }) {
			continue
		}
		total += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
	}
	return total
}

// exercised returns a service that has processed operations of many kinds, and the URL of its metrics.
func exercised(t *testing.T) (p *process, at string, reader *client) {
	t.Helper()
	p = serve(t, environment("RETWIS_REDIS_URL="+redistest.Server(t).URL(), "RETWIS_METRICS_LISTEN=127.0.0.1:0"))
	at = metricsOf(p)
	reader = flow(t, p.url, "")
	reader.do(`query Home { viewer { homeTimeline { posts(first: 5) { edges { node { text } } } } } }`, nil)
	reader.do(`{ viewer { homeTimeline { posts(first: 5) { edges { node { text } } } } } }`, nil)
	reader.post(`query Broken { nothing }`, nil)
	reader.post(`query Failing { node(id: "!") { id } }`, nil)
	return p, at, reader
}

func TestMetrics_CountOperations(t *testing.T) {
	t.Parallel()
	p, at, reader := exercised(t)
	live := reader.watchNow()
	families := scrape(t, at)
	for _, want := range []struct {
		name   string
		labels []string
		least  float64
	}{
		{"retwis_fanout_pushes_total", nil, 6},
		{"retwis_fanout_entries_total", nil, 6},
		{"retwis_fanout_outboxes", nil, 16},
		{"retwis_graphql_operations_total", []string{"type=query", "operation=Home", "outcome=ok"}, 1},
		{"retwis_graphql_operations_total", []string{"type=query", "operation=(unnamed)", "outcome=ok"}, 1},
		{"retwis_graphql_operations_total", []string{"type=mutation", "outcome=ok"}, 6},
		{"retwis_graphql_operations_total", []string{"type=subscription", "outcome=ok"}, 2},
		{"retwis_graphql_operation_seconds", []string{"operation=Home"}, 1},
		{"retwis_graphql_refused_total", nil, 1},
		{"retwis_http_requests_total", []string{"route=/graphql", "status=1xx"}, 2},
		{"retwis_http_requests_total", []string{"route=/graphql", "status=2xx"}, 6},
		{"retwis_http_request_seconds", []string{"route=/graphql"}, 6},
		{"retwis_page_posts", nil, 2},
		{"retwis_live_subscribers", nil, 1},
		{"retwis_live_timelines", nil, 1},
		{"retwis_live_events_total", nil, 2},
		{"retwis_live_replays_total", nil, 1},
		{"retwis_live_resets_total", nil, 1},
		{"retwis_clients", nil, 1},
		{"retwis_render_groups", nil, 1},
		{"retwis_rendered_events_total", nil, 2},
		{"retwis_sent_events_total", nil, 2},
		{"retwis_redis_up", nil, 1},
		{"retwis_redis_script_seconds", []string{"script=push"}, 4},
		{"retwis_redis_script_seconds", []string{"script=create_post"}, 6},
		{"retwis_redis_round_trip_seconds", []string{"kind=pipeline"}, 6},
		{"retwis_redis_connections", nil, 1},
		{"retwis_redis_dials_total", nil, 1},
		{"go_goroutines", nil, 1},
	} {
		// Some events are counted shortly after they end.
		eventually(t, fmt.Sprintf("%s%v is at least %v", want.name, want.labels, want.least), func() bool {
			if sum(families, want.name, want.labels...) >= want.least {
				return true
			}
			families = scrape(t, at)
			return false
		})
	}
	for _, m := range families["retwis_graphql_operation_round_trips"].GetMetric() {
		for _, label := range m.GetLabel() {
			if label.GetValue() == "Home" && m.GetHistogram().GetSampleSum() > 3 {
				t.Errorf("a home page takes %v round trips", m.GetHistogram().GetSampleSum())
			}
		}
	}
	if n := len(families["retwis_outbox_oldest_seconds"].GetMetric()); n != 16 {
		t.Errorf("the metrics have the lag of %d outboxes, want 16", n)
	}
	live.close()
	if status, _ := newClient(t, p.url).get("/metrics"); status != http.StatusOK && status != http.StatusNotFound {
		t.Errorf("/metrics of the API: %d", status)
	}
	if _, body := newClient(t, p.url).get("/metrics"); strings.Contains(body, "retwis_") {
		t.Error("the API serves metrics")
	}
	p.stop()
}

// TestMetrics_MatchTheDocumentation compares the metrics of a process with the documentation, the dashboard and the alert
// rules.
func TestMetrics_MatchTheDocumentation(t *testing.T) {
	t.Parallel()
	p, at, _ := exercised(t)
	served := map[string]string{} // type and labels, as in the documentation
	for name, family := range scrape(t, at) {
		if !strings.HasPrefix(name, "retwis_") {
			continue
		}
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		slices.Sort(labels)
		served[name] = strings.ToLower(family.GetType().String()) + " " + strings.Join(labels, ",")
	}
	p.stop()

	documented := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `(retwis_\\w+)` \\| (\\w+) \\| ([^|]*)\\|")
	for _, found := range row.FindAllStringSubmatch(read(t, "../../docs/metrics.md"), -1) {
		labels := strings.FieldsFunc(found[3], func(r rune) bool { return strings.ContainsRune("`, ", r) })
		slices.Sort(labels)
		documented[found[1]] = found[2] + " " + strings.Join(labels, ",")
	}
	for name, what := range served {
		if documented[name] != what {
			t.Errorf("%s is a %s: docs/metrics.md has %q", name, what, documented[name])
		}
	}
	for name := range documented {
		if served[name] == "" {
			t.Errorf("docs/metrics.md has %s, which is not served", name)
		}
	}

	dashboard := read(t, "../../deploy/grafana/retwis.json")
	if !json.Valid([]byte(dashboard)) {
		t.Error("the dashboard is not JSON")
	}
	used := map[string]bool{}
	for file, text := range map[string]string{"the dashboard": dashboard, "the rules": read(t, "../../deploy/prometheus/alerts.yaml")} {
		for _, name := range regexp.MustCompile(`\bretwis_\w+`).FindAllString(text, -1) {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if base := strings.TrimSuffix(name, suffix); served[base] != "" {
					name = base
				}
			}
			used[name] = true
			if served[name] == "" {
				t.Errorf("%s uses %s, which is not served", file, name)
			}
		}
	}
	for name := range served {
		if !used[name] {
			t.Errorf("neither the dashboard nor a rule uses %s", name)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestOperationNames_IncludeTheWebApp(t *testing.T) {
	t.Parallel()
	names := web.OperationNames()
	for _, name := range []string{"HomePage", "CreatePost", "TimelineEvents"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not among %v", name, names)
		}
	}
}
