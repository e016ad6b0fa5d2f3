package main

import (
	"context"
	"log/slog"

	"retwis/internal/tracing"
)

// traces are the spans of a process.
type traces struct {
	*tracing.Tracing
	log *slog.Logger
}

func startTracing(ctx context.Context, log *slog.Logger) (traces, error) {
	t, err := tracing.Start(ctx, log)
	if err != nil {
		return traces{}, misuse{err}
	}
	if t.On() {
		log.InfoContext(ctx, "requests are traced")
	}
	return traces{t, log}, nil
}

// stop sends what is left.
func (t traces) stop(ctx context.Context) {
	if err := t.Close(ctx); err != nil {
		t.log.WarnContext(ctx, "some spans are lost", "err", err)
	}
}
