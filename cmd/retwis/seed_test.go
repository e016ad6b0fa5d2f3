package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/seed"
	"retwis/internal/store"
)

func openTestStore(t *testing.T, url string) *store.Store {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// members reads everybody a population has.
func members(t *testing.T, db *store.Store, p seed.Population) []*retwis.User {
	t.Helper()
	all := make([]*retwis.User, p.Size())
	for i := range all {
		user, err := db.UserByName(t.Context(), p.Member(i).Username)
		if err != nil {
			t.Fatalf("%s: %v", p.Member(i).Username, err)
		}
		all[i] = user
	}
	return all
}

// settled waits until everything is carried out: a follow that still is would have its reader
// told that the timeline has changed.
func settled(t *testing.T, url string) {
	t.Helper()
	db := openTestStore(t, url)
	eventually(t, "nothing waits to be carried out", func() bool {
		n, err := db.OutboxLength(t.Context())
		return err == nil && n == 0
	})
}

func drained(t *testing.T, db *store.Store) {
	t.Helper()
	if n, err := db.OutboxLength(t.Context()); err != nil || n != 0 {
		t.Errorf("%d entries wait in the outboxes: %v", n, err)
	}
}

func TestSeeding(t *testing.T) {
	t.Parallel()
	url := redistest.Server(t).URL()
	env := environment("RETWIS_REDIS_URL=" + url)
	args := []string{"seed", "--users", "41", "--avg-follows", "7", "--posts", "150", "--star", "25", "--seed", "4"}
	p := seed.Population{Seed: 4, People: 41, Follows: 7, Posts: 150, Readers: 25}

	code, stdout, stderr := invoke(t, env, args...)
	if code != 0 || !strings.Contains(stdout, "67 new accounts; 312 new follows; 150 new posts; all posts are delivered.") {
		t.Fatalf("code %d, printed\n%s%s", code, stdout, stderr)
	}
	if strings.ContainsAny(stderr, "\r\x1b") {
		t.Errorf("there is no terminal, and yet it drew on it: %q", stderr)
	}
	db := openTestStore(t, url)
	drained(t, db)
	follows, followers, posts := 0, 0, 0
	everybody := members(t, db, p)
	for i, user := range everybody {
		m := p.Member(i)
		if user.DisplayName != m.DisplayName || user.Bio != m.Bio || user.FollowingCount != len(p.Following(i)) {
			t.Errorf("%+v is not %+v, who follows %d", user, m, len(p.Following(i)))
		}
		follows += user.FollowingCount
		followers += user.FollowerCount
		posts += user.PostCount
	}
	if follows != 312 || followers != 312 || posts != 150 || everybody[41].FollowerCount != 25 {
		t.Errorf("there are %d follows, %d followers, %d posts, and the star has %d followers",
			follows, followers, posts, everybody[41].FollowerCount)
	}

	service := serve(t, env)
	for _, name := range []string{"star", "reader24", p.Member(0).Username, p.Member(40).Username} {
		newClient(t, service.url).login(name, seed.Password)
	}
	star := newClient(t, service.url).login("star", seed.Password)
	star.createPost("hello, readers")
	newClient(t, service.url).login("reader7", seed.Password).awaitHome("hello, readers")
	register(t, service.url, "reader25")
	service.stop()

	// Again, and with one reader more, whose name somebody else has by now.
	args[8] = "26"
	code, stdout, stderr = invoke(t, env, args...)
	want := "0 new accounts, 67 existing accounts, 1 usernames skipped because other users have them; 0 new follows; 0 new posts;"
	if code != 0 || !strings.Contains(stdout, want) {
		t.Fatalf("again: code %d, printed\n%s%s", code, stdout, stderr)
	}
	drained(t, db)
	posts = 0
	for _, user := range members(t, db, p) {
		posts += user.PostCount
	}
	if posts != 151 {
		t.Errorf("after seeding again there are %d posts, want 151", posts)
	}
	stranger, err := db.UserByName(t.Context(), "reader25")
	if err != nil || stranger.FollowingCount != 0 {
		t.Errorf("somebody else is %+v: %v", stranger, err)
	}
}

func TestSeedingSaysThatThereAreTooFewToFollow(t *testing.T) {
	t.Parallel()
	env := environment("RETWIS_REDIS_URL=" + redistest.Server(t).URL())
	for follows, told := range map[string]bool{"4": true, "3": false} {
		code, stdout, stderr := invoke(t, env, "seed", "--users", "4", "--posts", "4", "--avg-follows", follows)
		if code != 0 || strings.Contains(stderr, "using --avg-follows 3 instead of "+follows) != told {
			t.Errorf("--avg-follows %s: code %d, printed\n%s%s", follows, code, stdout, stderr)
		}
	}
}

func TestSeedingStopsWhenAsked(t *testing.T) {
	t.Parallel()
	url := redistest.Server(t).URL()
	db := openTestStore(t, url)
	env := environment("RETWIS_REDIS_URL=" + url)
	const many, looked = 200_000, 20_000 // so many that it is still at it when it is asked
	p := seed.Population{Seed: 1, People: many}
	running := launch(t, env, "seed", "--users", fmt.Sprint(many), "--posts", "0", "--parallel", "4")
	eventually(t, "some people are registered", func() bool {
		_, err := db.UserByName(t.Context(), p.Member(30).Username)
		return err == nil
	})
	running.signal(syscall.SIGINT)
	if code := running.code(); code != 0 {
		t.Errorf("it ended with code %d", code)
	}
	if text := running.stdout.String(); !strings.Contains(text, "Stopped.") {
		t.Errorf("it printed %q", text)
	}
	// Nobody was left half registered: what had begun was carried out.
	begun := 0
	for i := range looked {
		name := p.Member(i).Username
		_, err := db.UserByName(t.Context(), name)
		if errors.Is(err, retwis.ErrNotFound) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if begun++; begun > 200 {
			break
		}
		if _, err := db.Credentials(t.Context(), name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDeadLetters(t *testing.T) {
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
		t.Fatalf("only %d entries were there to be buried", buried)
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
				t.Errorf("whose home it is for is missing in %q", line)
			}
		}
	}

	code, stdout, stderr := invoke(t, env, "deadletter", "replay", "--id", one, "--id", "0/1-1")
	if code != 1 || !strings.HasPrefix(stdout, "Requeued 1 of ") || !strings.Contains(stderr, "not in the dead-letter queue: 0/1-1") {
		t.Errorf("code %d, printed %q, said %q", code, stdout, stderr)
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

// bury gives up everything that waits, and returns how much that was.
func bury(t *testing.T, db *store.Store) int {
	t.Helper()
	n := 0
	for outbox := range db.Partitions() {
		entries, err := db.ReadOutbox(t.Context(), outbox, "0", 100, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if err := errors.Join(db.Bury(context.WithoutCancel(t.Context()), e, "the disk\nis full"), db.TrimOutbox(t.Context(), outbox, e.ID)); err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	return n
}
