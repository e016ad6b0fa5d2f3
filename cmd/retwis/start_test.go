package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retwis/internal/redistest"
)

func TestCommandLine_RefusesInvalidSettings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		env  []string
		args []string
		want string // part of the error
	}{
		{"an unknown command", nil, []string{"serf"}, "unexpected argument serf"},
		{"an unknown flag", nil, []string{"serve", "--colour"}, "unknown flag --colour"},
		{"an invalid address", nil, []string{"serve", "--listen", "here"}, "--listen (RETWIS_LISTEN)"},
		{"an empty address", nil, []string{"serve", "--listen="}, "--listen (RETWIS_LISTEN) is empty"},
		{"two errors", nil, []string{"serve", "--listen", "here", "--home-cap", "7"}, "choose an address like 127.0.0.1:8080: address here: missing port in address; --home-cap (RETWIS_HOME_CAP) is 7"},
		{"an empty data directory", nil, []string{"serve", "--data-dir="}, "--data-dir (RETWIS_DATA_DIR) is empty"},
		{"a missing manifest", []string{"RETWIS_TRUSTED_DOCUMENTS=/nowhere/at/all.json"}, []string{"serve"}, "--trusted-documents (RETWIS_TRUSTED_DOCUMENTS) /nowhere/at/all.json: open"},
		{"not a URL", nil, []string{"serve", "--redis-url", "localhost:6379"}, "it looks like redis://user:password@host:6379/0"},
		{"another scheme", []string{"RETWIS_REDIS_URL=http://user:secret@localhost"}, []string{"serve"}, "it looks like redis://user:password@host:6379/0"},
		{"partitions that are not a power of two", nil, []string{"serve", "--partitions", "12"}, "choose a power of two from 1 to 512"},
		{"no partitions", []string{"RETWIS_PARTITIONS=0"}, []string{"serve"}, "choose a power of two from 1 to 512"},
		{"a cap that is too small", []string{"RETWIS_HOME_CAP=7"}, []string{"serve"}, "--home-cap (RETWIS_HOME_CAP) is 7: choose 100 to 10000"},
		{"a cap that is not a number", []string{"RETWIS_PROFILE_CAP=many"}, []string{"serve"}, `RETWIS_PROFILE_CAP="many"`},
		{"a limit of 0", []string{"RETWIS_FOLLOW_LIMIT=0"}, []string{"worker", "--redis-url", "redis://localhost"}, "choose 1 to 100000"},
		{"a drain that is too long", nil, []string{"serve", "--drain-time", "8s"}, "choose 0s to 7s"},
		{"a lease that is too short", nil, []string{"serve", "--worker-lease", "5ms"}, "choose 1s to 5m0s"},
		{"an invalid metrics address", nil, []string{"serve", "--metrics-listen", "here"}, "--metrics-listen (RETWIS_METRICS_LISTEN)"},
		{"an invalid metrics address of a worker", []string{"RETWIS_METRICS_LISTEN=9464"}, []string{"worker", "--redis-url", "redis://localhost"}, "choose an address like 127.0.0.1:9464"},
		{"a negative lag", nil, []string{"serve", "--ready-max-lag=-1s"}, "--ready-max-lag (RETWIS_READY_MAX_LAG)"},
		{"an unknown log format", nil, []string{"serve", "--log-format", "xml"}, `must be one of "text","json"`},
		{"an unknown log level", nil, []string{"serve", "--log-level", "loud"}, `must be one of "debug","info","warn","error"`},
		{"limits that are neither on nor off", nil, []string{"serve", "--rate-limits", "some"}, `must be one of "on","off"`},
		{"no connections", nil, []string{"serve", "--limit-connections", "0"}, "--limit-connections (RETWIS_LIMIT_CONNECTIONS) is 0: choose at least 1"},
		{"a rate without a time", nil, []string{"serve", "--limit-posts", "60"}, `--limit-posts (RETWIS_LIMIT_POSTS): invalid rate "60": use a form like 10/1m`},
		{"a rate of 0", []string{"RETWIS_LIMIT_LOGINS=0/1m"}, []string{"serve"}, "with a count from 1 to 10000000, or off"},
		{"an invalid origin", nil, []string{"serve", "--allowed-origins", "example.com"}, "--allowed-origins (RETWIS_ALLOWED_ORIGINS): allowed origin \"example.com\": use the form https://example.com"},
		{"an invalid proxy", nil, []string{"serve", "--trusted-proxies", "gateway"}, "use addresses or networks"},
		{"a worker without a Redis", nil, []string{"worker"}, "set --redis-url (RETWIS_REDIS_URL) to the Redis of the service"},
		{"a worker in memory", []string{"RETWIS_REDIS_URL=memory"}, []string{"worker"}, "set --redis-url (RETWIS_REDIS_URL) to the Redis of the service"},
		{"a lease that is too long", nil, []string{"worker", "--redis-url", "redis://localhost", "--worker-lease", "1h"}, "choose 1s to 5m0s"},
		{"a negative sample", nil, []string{"check", "--sample", "-3"}, "--sample is -3: choose a number of users"},
		{"a negative duration", nil, []string{"serve", "--drain-time", "-5s"}, "is -5s: choose 0s to 7s"},
		{"a missing number", nil, []string{"seed", "--users", "--posts", "3"}, `expected int value but got "--posts"`},
		{"seed with a cap that is too large", nil, []string{"seed", "--home-cap", "20000"}, "choose 100 to 10000"},
		{"seed in memory", nil, []string{"seed", "--redis-url", "memory"}, "a Redis inside this process loses its data"},
		{"a negative number of users", nil, []string{"seed", "--users", "-1"}, "--users is -1: choose 0 to 10000000"},
		{"dead letters in memory", nil, []string{"deadletter", "list", "--redis-url", "memory"}, "a Redis inside this process loses its data"},
		{"requeue without a selection", nil, []string{"deadletter", "requeue"}, "--all or --id"},
		{"requeue all and one", nil, []string{"deadletter", "requeue", "--all", "--id", "1/2-3"}, "--all and --id can't be used together"},
		{"requeue an empty id", nil, []string{"deadletter", "requeue", "--id="}, "--id is empty: use an id of retwis deadletter list"},
		{"rebuild without a username", nil, []string{"rebuild", "--user="}, "set it to a username"},
		{"check a directory without data", []string{"RETWIS_DATA_DIR=/nowhere/at/all"}, []string{"check"}, "/nowhere/at/all contains no data"},
		{"requeue an invalid id", nil, []string{"deadletter", "requeue", "--id", "17"}, "use an id of retwis deadletter list"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := invoke(t, environment(tt.env...), tt.args...)
			if code != 2 || stdout != "" || !strings.Contains(stderr, tt.want) || strings.Contains(stderr, "secret") {
				t.Errorf("code %d, printed %q and\n%swant code 2 and %q", code, stdout, stderr, tt.want)
			}
		})
	}
}

func TestStart_RefusesUnusableRedis(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, code int, want string, env []string, args ...string) {
		t.Helper()
		got, stdout, stderr := invoke(t, env, args...)
		if got != code || strings.Contains(stdout, "ready") || !strings.Contains(stderr, want) {
			t.Errorf("code %d, printed %q and\n%swant code %d and %q", got, stdout, stderr, code, want)
		}
	}

	t.Run("no server", func(t *testing.T) {
		t.Parallel()
		env := environment("RETWIS_REDIS_URL=redis://:secret@127.0.0.1:1/0")
		code, _, stderr := invoke(t, env, "serve")
		if code != 1 || !strings.Contains(stderr, "connect to Redis at redis://:xxxxx@127.0.0.1:1/0") || strings.Contains(stderr, "secret") {
			t.Errorf("code %d, printed\n%s", code, stderr)
		}
	})
	t.Run("eviction of keys", func(t *testing.T) {
		t.Parallel()
		node := redistest.Server(t, "--maxmemory-policy", "allkeys-lru")
		for _, command := range []string{"serve", "worker"} {
			refused(t, 2, "set maxmemory-policy noeviction", environment("RETWIS_REDIS_URL="+node.URL()), command)
		}
	})
	t.Run("no database", func(t *testing.T) {
		t.Parallel()
		node := redistest.Server(t)
		env := environment("RETWIS_REDIS_URL=" + node.URL())
		for _, args := range [][]string{{"check"}, {"rebuild", "--all"}, {"deadletter", "list"}, {"deadletter", "requeue", "--all"}} {
			refused(t, 2, "there is no database at", env, args...)
		}
		if keys := node.Client().Keys(t.Context(), "*").Val(); len(keys) > 0 {
			t.Errorf("they created %q", keys)
		}
	})
	t.Run("a replica", func(t *testing.T) {
		t.Parallel()
		node := redistest.Server(t, "--replicaof", "127.0.0.1 1")
		refused(t, 1, "set --redis-url (RETWIS_REDIS_URL) to the URL of the master", environment("RETWIS_REDIS_URL="+node.URL()), "serve")
	})
	t.Run("no memory left", func(t *testing.T) {
		t.Parallel()
		node := redistest.Server(t)
		env := environment("RETWIS_REDIS_URL=" + node.URL())
		full := func(limit string) {
			if err := node.Client().ConfigSet(t.Context(), "maxmemory", limit).Err(); err != nil {
				t.Fatal(err)
			}
		}
		full("1mb")
		refused(t, 1, "raise maxmemory, or add memory", env, "serve")
		full("0")
		serve(t, env).stop()
		full("1mb")
		serve(t, env).stop() // an existing database is readable
	})
	t.Run("a wrong password", func(t *testing.T) {
		t.Parallel()
		node := redistest.Server(t)
		if err := node.Client().ConfigSet(t.Context(), "requirepass", "right").Err(); err != nil {
			t.Fatal(err)
		}
		refused(t, 1, "check that Redis is running, and that host, port, user, password and TLS", environment("RETWIS_REDIS_URL="+node.URL()), "worker")
	})
	t.Run("another number of partitions", func(t *testing.T) {
		t.Parallel()
		env := environment("RETWIS_REDIS_URL=" + redistest.Server(t).URL())
		p := serve(t, env, "--partitions", "4")
		register(t, p.url, "somebody")
		refused(t, 2, "set RETWIS_PARTITIONS to 4", env, "serve", "--partitions", "8")
		again := serve(t, env)
		newClient(t, again.url).login("somebody", somePassword)
		again.stop()
		p.stop()
	})
	t.Run("the data directory is in use", func(t *testing.T) {
		t.Parallel()
		env := environment("RETWIS_DATA_DIR=" + filepath.Join(t.TempDir(), "data"))
		p := serve(t, env)
		refused(t, 1, "the data directory is in use", env, "serve", "--listen", "127.0.0.1:0")
		refused(t, 1, "--redis-url", env, "seed")
		p.stop()
	})
	t.Run("the address of the metrics is in use", func(t *testing.T) {
		t.Parallel()
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		refused(t, 1, "choose another address with --metrics-listen", environment("RETWIS_METRICS_LISTEN="+listener.Addr().String()),
			"serve", "--redis-url", "memory")
	})
	t.Run("the address is in use", func(t *testing.T) {
		t.Parallel()
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		dir := filepath.Join(t.TempDir(), "data")
		refused(t, 1, "choose another address with --listen", environment("RETWIS_LISTEN="+listener.Addr().String(), "RETWIS_DATA_DIR="+dir), "serve")
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the data directory was created: %v", err)
		}
	})
}

func TestFlags_OverrideVariables(t *testing.T) {
	t.Parallel()
	env := environment("RETWIS_HOME_CAP=1", "RETWIS_PARTITIONS=", "RETWIS_REDIS_URL=http://nowhere", "RETWIS_HOME_CUP=9")
	p := serve(t, env, "--home-cap", "500", "--redis-url", "memory")
	p.await(p.stderr, "unknown variable RETWIS_HOME_CUP has no effect")
	p.stop()
	if text := p.stderr.String(); strings.Contains(text, "RETWIS_PARTITIONS") {
		t.Errorf("an empty variable is not ignored:\n%s", text)
	}
}

func TestHelp_ListsAllSettings(t *testing.T) {
	t.Parallel()
	code, stdout, _ := invoke(t, environment(), "serve", "-h")
	if code != 0 {
		t.Errorf("code %d", code)
	}
	text := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{
		"--listen=ADDR", "[default 127.0.0.1:8080, RETWIS_LISTEN]",
		"--redis-url=URL", "[RETWIS_REDIS_URL]",
		"--partitions=N", "[RETWIS_PARTITIONS]",
		"--[no-]worker", "[default true, RETWIS_WORKER]",
		"--allowed-origins=ORIGIN,...", "[RETWIS_ALLOWED_ORIGINS]",
		"--trusted-proxies=ADDR,...", "[RETWIS_TRUSTED_PROXIES]",
		"--home-cap=N", "[default 1000, RETWIS_HOME_CAP]",
		"--profile-cap=N", "[default 20000, RETWIS_PROFILE_CAP]",
		"--follow-limit=N", "[default 5000, RETWIS_FOLLOW_LIMIT]",
		"--idle-home-days=N", "[default 30, RETWIS_IDLE_HOME_DAYS]",
		"--pull-above=N", "[default 1000000, RETWIS_PULL_ABOVE]",
		"--data-dir=DIR", "[default data, RETWIS_DATA_DIR]",
		"--log-format=FORMAT", "[default text, RETWIS_LOG_FORMAT]",
		"--log-level=LEVEL", "[default info, RETWIS_LOG_LEVEL]",
		"--drain-time=TIME", "[default 5s, RETWIS_DRAIN_TIME]",
		"--metrics-listen=ADDR", "[RETWIS_METRICS_LISTEN]",
		"--ready-max-lag=TIME", "[default 5m, RETWIS_READY_MAX_LAG]",
		"--worker-lease=TIME", "[default 5s, RETWIS_WORKER_LEASE]",
		"--[no-]introspection", "[default true, RETWIS_INTROSPECTION]",
		"--rate-limits=on|off", "[default on, RETWIS_RATE_LIMITS]",
		"--trusted-documents=FILE", "[RETWIS_TRUSTED_DOCUMENTS]",
		"--trusted-only", "[RETWIS_TRUSTED_ONLY]",
		"--limit-reads=RATE", "[default 120000/1m, RETWIS_LIMIT_READS]",
		"--limit-posts=RATE", "[default 60/1m, RETWIS_LIMIT_POSTS]",
		"--limit-follows=RATE", "[default 120/1m, RETWIS_LIMIT_FOLLOWS]",
		"--limit-logins=RATE", "[default 10/1m, RETWIS_LIMIT_LOGINS]",
		"--limit-registrations=RATE", "[default 5/1h, RETWIS_LIMIT_REGISTRATIONS]",
		"--limit-connections=N", "[default 1000, RETWIS_LIMIT_CONNECTIONS]",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("serve -h does not print %s", want)
		}
	}
	code, stdout, _ = invoke(t, environment())
	if code != 0 || !strings.Contains(stdout, "Usage: retwis <command>") {
		t.Errorf("without a command: code %d, printed %q", code, stdout)
	}
}

func TestLogFormat_JSONAppliesToAllOutput(t *testing.T) {
	t.Parallel()
	p := launch(t, environment("RETWIS_DATA_DIR="+filepath.Join(t.TempDir(), "data")),
		"serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--log-level", "debug")
	p.await(p.stdout, `"msg":"ready"`)
	p.stop()
	for line := range strings.Lines(p.stdout.String() + p.stderr.String()) {
		var record struct{ Time, Level, Msg string }
		if err := json.Unmarshal([]byte(line), &record); err != nil || record.Msg == "" {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestVersion_PrintsTheBuild(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := invoke(t, environment(), "version")
	if code != 0 || !strings.HasPrefix(stdout, "retwis ") || !strings.Contains(stdout, ", go1.") {
		t.Errorf("code %d, printed %q, error %q", code, stdout, stderr)
	}
}
