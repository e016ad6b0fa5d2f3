package sleep_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/sleep"
)

func TestFor_ReturnsAfterTheDurationOrTheContext(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		endsIn time.Duration // duration of the context; 0 if it has ended
		d      time.Duration
		after  time.Duration
		want   error
	}{
		{"the time passes", time.Hour, time.Minute, time.Minute, nil},
		{"the context ends first", time.Minute, time.Hour, time.Minute, context.DeadlineExceeded},
		{"the context has ended", 0, time.Hour, 0, context.DeadlineExceeded},
		{"a zero duration", time.Hour, 0, 0, nil},
		{"a negative duration", time.Hour, -time.Minute, 0, nil},
		{"a zero duration and the context has ended", 0, 0, 0, context.DeadlineExceeded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tt.endsIn)
				defer cancel()
				start := time.Now()
				if err := sleep.For(ctx, tt.d); !errors.Is(err, tt.want) {
					t.Errorf("err = %v, want %v", err, tt.want)
				}
				if after := time.Since(start); after != tt.after {
					t.Errorf("it took %v, want %v", after, tt.after)
				}
			})
		})
	}
}
