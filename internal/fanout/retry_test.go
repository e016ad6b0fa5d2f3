package fanout_test

import (
	"errors"
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/retwis"
)

// retry repeats a call as a client would: after any error except one of the service.
func retry[V any](t enginetest.T, act func() (V, error)) V {
	t.Helper()
	for try := 0; ; try++ {
		value, err := act()
		var answer *retwis.Error
		if err == nil {
			return value
		}
		if errors.As(err, &answer) || try == 20 || t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

// retryFor repeats a call until it succeeds or the limit has passed.
func retryFor[T any](t *testing.T, limit time.Duration, act func() (T, error)) T {
	t.Helper()
	for deadline := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		value, err := act()
		if err == nil {
			return value
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
