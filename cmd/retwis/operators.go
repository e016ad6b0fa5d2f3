package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"retwis/internal/server"
	"retwis/internal/store"
)

// operatorSettings configure monitoring.
type operatorSettings struct {
	MetricsListen      string        `env:"RETWIS_METRICS_LISTEN" placeholder:"ADDR" help:"Address for /metrics, /healthz and a /readyz with reasons; by default they are not served. Do not expose it to the public."`
	ReadyMinPartitions int           `name:"ready-min-partitions" env:"RETWIS_READY_MIN_PARTITIONS" default:"50" placeholder:"PERCENT" help:"Share of the partitions, 1 to 100 percent, that must accept writes and deliver live messages; /readyz fails below it."`
	ReadyMaxLag        time.Duration `env:"RETWIS_READY_MAX_LAG" default:"5m" placeholder:"TIME" help:"Age of the oldest outbox entry above which /readyz reports that fan-out lags; 0s disables this check."`
}

func (s operatorSettings) check() error {
	if s.MetricsListen != "" {
		if err := checkAddress("metrics-listen", s.MetricsListen, "127.0.0.1:9464"); err != nil {
			return err
		}
	}
	if s.ReadyMinPartitions < 1 || s.ReadyMinPartitions > 100 {
		return fmt.Errorf("--ready-min-partitions (RETWIS_READY_MIN_PARTITIONS) is %d: choose a percentage from 1 to 100", s.ReadyMinPartitions)
	}
	return checkDuration("ready-max-lag", s.ReadyMaxLag, 0, 7*24*time.Hour)
}

// operators serves metrics and health to those who run a process.
type operators struct {
	registry *prometheus.Registry
	listener net.Listener // nil if nothing is served
	log      *slog.Logger
}

// open opens the listener, if one is configured.
func (s operatorSettings) open(ctx context.Context, log *slog.Logger) (*operators, error) {
	o := &operators{registry: prometheus.NewRegistry(), log: log}
	o.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewBuildInfoCollector(),
	)
	if s.MetricsListen == "" {
		return o, nil
	}
	listener, err := listen(ctx, "metrics-listen", s.MetricsListen)
	if err != nil {
		return nil, err
	}
	o.listener = listener
	log.InfoContext(ctx, "serving metrics", "addr", listener.Addr().String())
	return o, nil
}

// run serves the listener until ctx is done.
func (o *operators) run(ctx context.Context, health server.Health) error {
	if o.listener == nil {
		<-ctx.Done()
		return nil
	}
	return server.ServeOperators(ctx, o.listener, o.handler(), health)
}

func (o *operators) handler() http.Handler {
	return promhttp.HandlerFor(o.registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(o.log.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: 4,
		Timeout:             10 * time.Second,
	})
}

// close closes the listener. [operators.run] closes it too.
func (o *operators) close() {
	if o.listener != nil {
		_ = o.listener.Close()
	}
}

// checks returns the checks of /readyz that every process has.
func (s operatorSettings) checks(db *store.Store) []server.Check {
	all := []server.Check{{Name: "redis", Run: func(context.Context) error { return db.Health.CheckWritable(s.ReadyMinPartitions) }}}
	if s.ReadyMaxLag > 0 {
		// All processes see the same lag, and one client may cause it: if they became unready, nobody could read.
		all = append(all, server.Check{Name: "outbox", Advisory: true, Run: func(ctx context.Context) error {
			return db.Outbox.CheckBacklog(ctx, s.ReadyMaxLag)
		}})
	}
	return all
}

// liveCheck returns the check of what subscriptions depend on.
func (s operatorSettings) liveCheck(db *store.Store, hub interface{ Ready(percent int) error }) server.Check {
	return server.Check{Name: "live", Run: func(ctx context.Context) error {
		return errors.Join(hub.Ready(s.ReadyMinPartitions), db.Live.CheckPubSub(ctx))
	}}
}
