package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"retwis/internal/redistest"
)

// receiver receives spans, like an OpenTelemetry collector.
type receiver struct {
	collector.UnimplementedTraceServiceServer

	mu    sync.Mutex
	spans []*otlp.Span
	raw   strings.Builder
}

// Export implements the service of OTLP over gRPC.
func (r *receiver) Export(_ context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range request.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
	fmt.Fprintln(&r.raw, request)
	return &collector.ExportTraceServiceResponse{}, nil
}

// ServeHTTP implements OTLP over HTTP.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	var spans collector.ExportTraceServiceRequest
	if err != nil || request.URL.Path != "/v1/traces" || proto.Unmarshal(body, &spans) != nil {
		http.Error(w, "no spans", http.StatusBadRequest)
		return
	}
	_, _ = r.Export(request.Context(), &spans)
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// of returns the spans of a trace.
func (r *receiver) of(trace string) (found []*otlp.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, span := range r.spans {
		if hex.EncodeToString(span.GetTraceId()) == trace {
			found = append(found, span)
		}
	}
	return found
}

func (r *receiver) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.raw.String()
}

// listen returns the variables that send spans to the receiver.
func (r *receiver) listen(t *testing.T, protocol string) []string {
	t.Helper()
	var endpoint string
	if protocol == "grpc" {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		srv := grpc.NewServer()
		collector.RegisterTraceServiceServer(srv, r)
		go func() { _ = srv.Serve(listener) }()
		t.Cleanup(srv.Stop)
		endpoint = "http://" + listener.Addr().String()
	} else {
		srv := httptest.NewServer(r)
		t.Cleanup(srv.Close)
		endpoint = srv.URL
	}
	return []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=" + protocol, "OTEL_BSP_SCHEDULE_DELAY=50"}
}

const postInTrace = `mutation Trace ($text: String!) { createPost(input: {text: $text}) { edge { node { id } } userErrors { code message } } }`

func TestTracing_FollowsAPostToItsDelivery(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			var got receiver
			env := environment(append(got.listen(t, protocol), "RETWIS_REDIS_URL="+redistest.Server(t).URL(), "RETWIS_TRUSTED_PROXIES=127.0.0.1")...)
			api := serve(t, env, "--no-worker")
			worker := launch(t, env, "worker")
			author, reader := register(t, api.url, "author"), register(t, api.url, "reader")
			reader.follow(author)

			id := strings.Repeat("5ac1", 8)
			_, a := author.post(postInTrace, map[string]any{"text": plantedText}, "traceparent: 00-"+id+"-1122334455667788-01")
			if len(a.Errors) > 0 {
				t.Fatal(a.Errors)
			}
			reader.awaitHome(plantedText)
			// The parent of each span, in one trace over two processes.
			parents := map[string]string{
				"POST /graphql":       "",
				"mutation Trace":      "POST /graphql",
				"Mutation.createPost": "mutation Trace",
				"redis create_post":   "Mutation.createPost",
				"fan-out of a post":   "Mutation.createPost",
				"deliver":             "fan-out of a post",
				"redis pipeline":      "",
			}
			var spans []*otlp.Span
			names := map[string]string{"1122334455667788": ""}
			eventually(t, "the trace is complete", func() bool { // spans arrive before their parents
				spans = got.of(id)
				for _, span := range spans {
					names[hex.EncodeToString(span.GetSpanId())] = span.GetName()
				}
				for name := range parents {
					if !slices.ContainsFunc(spans, func(s *otlp.Span) bool { return s.GetName() == name }) {
						return false
					}
				}
				return !slices.ContainsFunc(spans, func(s *otlp.Span) bool {
					_, known := names[hex.EncodeToString(s.GetParentSpanId())]
					return !known
				})
			})
			for _, span := range spans {
				parent := names[hex.EncodeToString(span.GetParentSpanId())]
				if want := parents[span.GetName()]; want != "" && parent != want {
					t.Errorf("the parent of %s is %q, want %q", span.GetName(), parent, want)
				}
			}
			worker.stop()
			api.stop()
			for _, secret := range append(planted(), author.token, somePassword) {
				if strings.Contains(got.text(), secret) {
					t.Errorf("%q is in the spans", secret)
				}
			}
			if !strings.Contains(got.text(), `service.name`) {
				t.Error("the spans have no service name")
			}
		})
	}
}

// TestTracing_IgnoresUntrustedParents sends a traceparent from an address that is not a trusted proxy.
func TestTracing_IgnoresUntrustedParents(t *testing.T) {
	t.Parallel()
	var got receiver
	node := redistest.Server(t)
	env := environment(append(got.listen(t, "http/protobuf"), "RETWIS_REDIS_URL="+node.URL(), "OTEL_TRACES_SAMPLER=parentbased_always_off")...)
	p := serve(t, env, "--no-worker")
	author := register(t, p.url, "author")
	id := strings.Repeat("bad1", 8)
	author.post(postInTrace, map[string]any{"text": "hello"}, "traceparent: 00-"+id+"-1122334455667788-01")
	p.stop()
	if spans := got.of(id); len(spans) > 0 || got.text() != "" {
		t.Errorf("an untrusted client started a trace: %s", got.text())
	}
	entries := outboxEntries(t, node, "post")
	if len(entries) != 1 || entries[0]["trace"] != nil {
		t.Errorf("the entry of an untraced post is %v", entries)
	}
}

func TestTracing_IsOffByDefault(t *testing.T) {
	t.Parallel()
	for name, env := range map[string][]string{
		"no variables":         nil,
		"the SDK is disabled":  {"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_SDK_DISABLED=true"},
		"there is no exporter": {"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_TRACES_EXPORTER=none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := redistest.Server(t)
			p := serve(t, environment(append(env, "RETWIS_REDIS_URL="+node.URL())...), "--no-worker")
			register(t, p.url, "author").createPost("hello")
			p.stop()
			if entries := outboxEntries(t, node, "post"); len(entries) != 1 || entries[0]["trace"] != nil {
				t.Errorf("the entry is %v", entries)
			}
			if strings.Contains(p.stderr.String(), "trac") {
				t.Errorf("the log mentions traces:\n%s", p.stderr)
			}
		})
	}
}

// TestTracing_ToleratesAMissingCollector exports spans to an address without a collector.
func TestTracing_ToleratesAMissingCollector(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL=memory", "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_BSP_SCHEDULE_DELAY=20"))
	author := register(t, p.url, "author")
	author.createPost("hello")
	author.awaitHome("hello")
	p.stop()

	for _, env := range []string{
		"OTEL_EXPORTER_OTLP_PROTOCOL=smoke", "OTEL_TRACES_EXPORTER=pigeon", "OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318", "OTEL_EXPORTER_OTLP_ENDPOINT=collector",
	} {
		code, _, stderr := invoke(t, environment("OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", env), "serve", "--redis-url", "memory")
		name, value, _ := strings.Cut(env, "=")
		if code != 2 || !strings.Contains(lastLine(stderr), name+" is \""+value+"\": choose ") {
			t.Errorf("%s: code %d, %s", env, code, stderr)
		}
	}
}

// outboxEntries returns the entries of a kind in all outboxes.
func outboxEntries(t *testing.T, node *redistest.Node, kind string) (found []map[string]any) {
	t.Helper()
	client := node.Client()
	keys, err := client.Keys(t.Context(), "*:outbox").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		entries, err := client.XRange(t.Context(), key, "-", "+").Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if entry.Values["kind"] == kind {
				found = append(found, entry.Values)
			}
		}
	}
	return found
}
