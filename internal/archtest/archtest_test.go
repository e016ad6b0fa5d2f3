package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPackages_FollowTheImportRules(t *testing.T) {
	t.Parallel()
	packages := list(t)
	if len(packages) < 5 {
		t.Fatalf("go list found only %d packages", len(packages))
	}
	for _, v := range violations(packages) {
		t.Error(v)
	}
}

// list returns the packages of the module.
func list(t *testing.T) []pkg {
	t.Helper()
	// With -e, packages that do not build are listed too. The compiler reports them.
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Name,Imports", module+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var packages []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatalf("decode the output of go list: %v", err)
		}
		packages = append(packages, p)
	}
}

func TestViolations_ReportsForbiddenImports(t *testing.T) {
	t.Parallel()
	const redis = "github.com/redis/go-redis/v9"
	tests := []struct {
		name     string
		path     string
		imported string
		want     string // empty if the import is allowed
	}{
		{"the domain, the standard library", "internal/retwis", "encoding/base64", ""},
		{"the domain, a text rule", "internal/retwis", "golang.org/x/text/unicode/norm", ""},
		{"the domain, another module", "internal/retwis", "golang.org/x/sync/errgroup", "internal/retwis: may not import golang.org/x/sync/errgroup"},
		{"the domain, another package", "internal/retwis", "retwis/internal/store", "internal/retwis: may not import retwis/internal/store"},
		{"the store, Redis", "internal/store", redis, ""},
		{"below the store, Redis", "internal/store/script", redis, ""},
		{"the worker, Redis", "internal/fanout", redis, "internal/fanout: may not import " + redis},
		{"the command, Redis", "cmd/retwis", redis, "cmd/retwis: may not import " + redis},
		{"the command, any package", "cmd/retwis", "retwis/internal/store", ""},
		{"the benchmarks, Redis", "internal/bench/engine", redis, ""},
		{"the service, the benchmarks", "cmd/retwis", "retwis/internal/bench/load", "cmd/retwis: may not import retwis/internal/bench/load"},
		{"the worker, the store", "internal/fanout", "retwis/internal/store", "internal/fanout: may not import retwis/internal/store"},
		{"the graph, its own", "graph", "retwis/graph/generated", ""},
		{"the generated graph, its own", "graph/generated", "retwis/graph", ""},
		{"the generated graph, the domain", "graph/generated", "retwis/internal/retwis", ""},
		{"the graph, its loaders", "graph", "retwis/graph/loaders", ""},
		{"the execution, the domain", "graph/exec", "retwis/internal/retwis", "graph/exec: may not import retwis/internal/retwis"},
		{"the loaders, the graph", "graph/loaders", "retwis/graph", "graph/loaders: may not import retwis/graph"},
		{"the graph, the hub", "graph", "retwis/internal/live", "graph: may not import retwis/internal/live"},
		{"the store, its connection", "internal/store", "retwis/internal/store/rdb", ""},
		{"the store, its inspection", "internal/store", "retwis/internal/store/inspect", "internal/store: may not import retwis/internal/store/inspect"},
		{"the connection, the store", "internal/store/rdb", "retwis/internal/store", "internal/store/rdb: may not import retwis/internal/store"},
		{"imports, inspection", "internal/store/bulk", "retwis/internal/store/inspect", "internal/store/bulk: may not import retwis/internal/store/inspect"},
		{"a package named like a layer", "internal/storehouse", "retwis/internal/auth", "internal/storehouse: is missing in the table of allowed imports"},
		{"the server, the graph", "internal/server", "retwis/graph", "internal/server: may not import retwis/graph"},
		{"the server, its handlers", "internal/server", "retwis/internal/server/gqlws", ""},
		{"the websockets, the executions", "internal/server/wsconn", "retwis/internal/server/operation", "internal/server/wsconn: may not import retwis/internal/server/operation"},
		{"the websockets, the domain", "internal/server/wsconn", "retwis/internal/retwis", "internal/server/wsconn: may not import retwis/internal/retwis"},
		{"the HTTP API, the server", "internal/server/httpapi", "retwis/internal/server", "internal/server/httpapi: may not import retwis/internal/server"},
		{"code, the server's tests", "cmd/retwis", "retwis/internal/server/servertest", "cmd/retwis: may not import retwis/internal/server/servertest"},
		{"the embedded Redis, miniredis", "internal/embedded", "github.com/alicebob/miniredis/v2", ""},
		{"the tests' Redis, miniredis", "internal/redistest", "github.com/alicebob/miniredis/v2", "internal/redistest: may not import github.com/alicebob/miniredis/v2"},
		{"code, the tests' Redis", "cmd/retwis", "retwis/internal/redistest", "cmd/retwis: may not import retwis/internal/redistest"},
		{"code, testing", "internal/server", "testing", "internal/server: may not import testing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var want []string
			if tt.want != "" {
				want = []string{tt.want}
			}
			got := violations([]pkg{{ImportPath: module + "/" + tt.path, Name: "p", Imports: []string{tt.imported}}})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestViolations_ReportsVagueNames(t *testing.T) {
	t.Parallel()
	got := violations([]pkg{{ImportPath: module + "/graph/helpers", Name: "helpers"}})
	if diff := cmp.Diff([]string{"graph/helpers: the package name helpers is too vague"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
