package main

import (
	"context"
	"log/slog"

	"retwis/internal/cli"
	"retwis/internal/tracing"
)

// traces are the tracers of a process.
type traces struct {
	*tracing.Tracing
	log *slog.Logger
}

func startTracing(ctx context.Context, log *slog.Logger) (traces, error) {
	t, err := tracing.Start(ctx, log)
	if err != nil {
		return traces{}, cli.Misuse(err)
	}
	if t.On() {
		log.InfoContext(ctx, "tracing is enabled")
	}
	return traces{t, log}, nil
}

// stop exports the remaining spans.
func (t traces) stop(ctx context.Context) {
	if err := t.Close(ctx); err != nil {
		t.log.WarnContext(ctx, "some spans were not exported", "err", err)
	}
}
