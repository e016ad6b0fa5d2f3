package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/seed"
)

func TestSeed_CreatesThePopulation(t *testing.T) {
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
		t.Errorf("without a terminal it prints escape sequences: %q", stderr)
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

	// A second run with one more reader, whose name another user has registered.
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
	stranger, err := db.Accounts.UserByName(t.Context(), "reader25")
	if err != nil || stranger.FollowingCount != 0 {
		t.Errorf("the other user is %+v: %v", stranger, err)
	}
}

func TestSeed_WarnsOfTooFewUsers(t *testing.T) {
	t.Parallel()
	env := environment("RETWIS_REDIS_URL=" + redistest.Server(t).URL())
	for follows, told := range map[string]bool{"4": true, "3": false} {
		code, stdout, stderr := invoke(t, env, "seed", "--users", "4", "--posts", "4", "--avg-follows", follows)
		if code != 0 || strings.Contains(stderr, "using --avg-follows 3 instead of "+follows) != told {
			t.Errorf("--avg-follows %s: code %d, printed\n%s%s", follows, code, stdout, stderr)
		}
	}
}

func TestSeed_StopsOnSignal(t *testing.T) {
	t.Parallel()
	url := redistest.Server(t).URL()
	db := openTestStore(t, url)
	env := environment("RETWIS_REDIS_URL=" + url)
	const many, checked = 200_000, 20_000 // so many that it is still running at the signal
	p := seed.Population{Seed: 1, People: many}
	running := launch(t, env, "seed", "--users", fmt.Sprint(many), "--posts", "0", "--parallel", "4")
	eventually(t, "some users are registered", func() bool {
		_, err := db.Accounts.UserByName(t.Context(), p.Member(30).Username)
		return err == nil
	})
	running.signal(syscall.SIGINT)
	if code := running.code(); code != 0 {
		t.Errorf("it ended with code %d", code)
	}
	if text := running.stdout.String(); !strings.Contains(text, "Stopped.") {
		t.Errorf("it printed %q", text)
	}
	// Each registration is complete: the current batches were completed.
	begun := 0
	for i := range checked {
		name := p.Member(i).Username
		_, err := db.Accounts.UserByName(t.Context(), name)
		if errors.Is(err, retwis.ErrNotFound) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if begun++; begun > 200 {
			break
		}
		if _, err := db.Accounts.Credentials(t.Context(), name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
