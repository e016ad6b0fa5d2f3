package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// ServeOperators serves what is for those who run a process, and for nobody else: its
// metrics at /metrics, and its health with what is wrong. It ends, at once, when ctx is
// done, and closes the listener.
func ServeOperators(ctx context.Context, listener net.Listener, metrics http.Handler, health Health) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /healthz", ServeAlive)
	mux.HandleFunc("GET /readyz", health.ServeReasons)
	srv := &http.Server{
		Handler:           mux,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(health.Log.Handler(), slog.LevelDebug),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
	}
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve metrics: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-running.Done()
		return srv.Close()
	})
	return group.Wait()
}

// noMetrics answers who looks for metrics where the API is, and would take a page of the app
// for an answer.
func noMetrics(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "metrics are served on an address of their own: see --metrics-listen", http.StatusNotFound)
}
