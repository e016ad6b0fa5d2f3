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

// ServeOperators serves the metrics at /metrics, and detailed health checks. It ends at once when ctx is done, and closes
// the listener.
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

// noMetrics answers requests for metrics at the address of the API. Otherwise they would get
// a page of the web app.
func noMetrics(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "metrics are served at a separate address: see --metrics-listen", http.StatusNotFound)
}
