package store

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"retwis/internal/redistest"
)

func TestOutbox_WaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := open(t, Options{URL: redistest.Server(t).URL()})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := s.Outbox.ReadOutbox(ctx, 0, "0", 1, time.Hour)
		done <- err
	}()
	eventually(t, func() bool {
		info, err := s.db.Client.Info(t.Context(), "clients").Result()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(info, "blocked_clients:1")
	})
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("it waits on")
	}
}
