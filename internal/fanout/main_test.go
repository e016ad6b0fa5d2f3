package fanout_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/store"
)

// workerURL is an environment variable that makes the test binary run a worker on the given
// Redis, as a process that a test can kill and suspend.
const workerURL = "RETWIS_TEST_WORKER_URL"

func TestMain(m *testing.M) {
	if url := os.Getenv(workerURL); url != "" {
		if err := workForever(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	redistest.Main(m)
}

func workForever(url string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{URL: url, Chunk: slowChunk, DeletedAccountTTL: enginetest.ShortAccountTTL})
	if err != nil {
		return err
	}
	return fanout.New(s.Outbox, s.Tasks, slowWorker()).Run(ctx)
}

// slowChunk and slowWorker slow down deliveries, so that faults interrupt them.
const slowChunk = 50

func slowWorker() fanout.Options {
	return fanout.Options{Lease: 400 * time.Millisecond, Pause: 15 * time.Millisecond}
}
