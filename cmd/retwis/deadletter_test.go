package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"retwis/internal/redistest"
	"retwis/internal/store"
)

func TestDeadLetter_ListsAndRequeues(t *testing.T) {
	t.Parallel()
	url := redistest.Server(t).URL()
	env := environment("RETWIS_REDIS_URL=" + url)
	p := serve(t, env, "--no-worker")
	code, stdout, _ := invoke(t, env, "deadletter", "list")
	if code != 0 || stdout != "The dead-letter queue is empty.\n" {
		t.Errorf("code %d, printed %q", code, stdout)
	}
	author, reader := register(t, p.url, "author"), register(t, p.url, "reader")
	reader.follow(author)
	author.createPost("one")
	author.createPost("two")
	db := openTestStore(t, url)
	buried := bury(t, db)
	if buried < 3 {
		t.Fatalf("only %d entries were pending", buried)
	}

	code, stdout, _ = invoke(t, env, "deadletter", "list")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != 0 || len(lines) != 1+buried || strings.Join(strings.Fields(lines[0]), " ") != "ID PARTITION KIND AUTHOR FOR POST AGE REASON" {
		t.Fatalf("code %d, printed\n%s", code, stdout)
	}
	var one string
	for _, line := range lines[1:] {
		if !strings.HasSuffix(line, "the disk is full") {
			t.Errorf("the line is %q", line)
		}
		if strings.Contains(line, " backfill ") {
			one = strings.Fields(line)[0]
			if !strings.Contains(line, " home:") {
				t.Errorf("the owner of the home timeline is missing in %q", line)
			}
		}
	}

	code, stdout, stderr := invoke(t, env, "deadletter", "replay", "--id", one, "--id", "0/1-1")
	if code != 1 || !strings.HasPrefix(stdout, "Requeued 1 of ") || !strings.Contains(stderr, "not in the dead-letter queue: 0/1-1") {
		t.Errorf("code %d, printed %q, error %q", code, stdout, stderr)
	}
	want := fmt.Sprintf("Requeued %d of %d entries.\n", buried-1, buried-1)
	code, stdout, _ = invoke(t, env, "deadletter", "requeue", "--all")
	if code != 0 || stdout != want {
		t.Errorf("code %d, printed %q, want %q", code, stdout, want)
	}
	worker := launch(t, env, "worker")
	reader.awaitHome("two", "one")
	worker.stop()
	p.stop()
}

// bury moves all pending entries to the dead-letter queue, and returns their number.
func bury(t *testing.T, db *store.Store) int {
	t.Helper()
	n := 0
	for outbox := range db.Outbox.Partitions() {
		entries, err := db.Outbox.ReadOutbox(t.Context(), outbox, "0", 100, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if err := errors.Join(db.Outbox.AddDeadLetter(context.WithoutCancel(t.Context()), e, "the disk\nis full"), db.Outbox.TrimOutbox(t.Context(), outbox, e.ID)); err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	return n
}
