package main

import (
	"encoding/json"
	"strings"
	"testing"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
)

func TestCheck_FindsAndRepairsProblems(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	env := environment("RETWIS_REDIS_URL="+server.URL(), "RETWIS_WORKER_LEASE=1s")
	p := serve(t, env)
	author, reader := register(t, p.url, "author"), register(t, p.url, "reader")
	reader.follow(author)
	author.createPost("one")
	author.createPost("two")
	reader.awaitHome("two", "one")

	code, stdout, stderr := invoke(t, env, "check")
	if code != 0 || !strings.Contains(stdout, "Checked 2 users and 4 timelines with 4 entries in ") {
		t.Fatalf("code %d, printed\n%s%s", code, stdout, stderr)
	}
	if strings.ContainsAny(stderr, "\r\x1b") || !strings.Contains(stderr, "timelines: 2 of 2 in ") {
		t.Errorf("without a terminal it prints %q", stderr)
	}

	db := openTestStore(t, server.URL())
	user, err := db.Accounts.UserByName(t.Context(), "reader")
	if err != nil {
		t.Fatal(err)
	}
	client := server.Client()
	home := onlyKey(t, client, "*:home:"+user.ID.String())
	oldest := client.LIndex(t.Context(), home, -2).Val()
	if err := client.LRem(t.Context(), home, 0, oldest).Err(); err != nil {
		t.Fatal(err)
	}
	if err := client.HIncrBy(t.Context(), onlyKey(t, client, "*:user:"+user.ID.String()), "following", 1).Err(); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = invoke(t, env, "check", "--sample", "5", "--seed", "3")
	for _, line := range []string{
		"missing 1 3.333e+05 per million entries", "duplicate 0 0 per million entries", "count 1",
		"count: user " + user.ID.String() + " has 1 follows, the stored count is 2",
		"--sample 5 --seed 3",
	} {
		if !strings.Contains(strings.Join(strings.Fields(stdout), " "), line) {
			t.Errorf("%q is missing in\n%s", line, stdout)
		}
	}
	if code != 1 || !strings.Contains(stderr, "2 problems found") {
		t.Errorf("code %d, error %s", code, stderr)
	}

	code, stdout, _ = invoke(t, env, "check", "--repair", "--json")
	var report struct {
		Users, Findings, Repaired int
		Counts                    map[string]int
		PerMillionEntries         map[string]float64
		Examples                  []struct{ Kind, User, Post, Text string }
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatalf("%v in\n%s", err, stdout)
	}
	if code != 1 || report.Users != 2 || report.Findings != 2 || report.Repaired != 2 || report.Counts["missing"] != 1 ||
		report.PerMillionEntries["missing"] < 300_000 || len(report.Examples) != 2 {
		t.Errorf("code %d, reported %s", code, stdout)
	}
	if code, stdout, _ = invoke(t, env, "check"); code != 0 {
		t.Errorf("after the repair: code %d, printed\n%s", code, stdout)
	}
	reader.awaitHome("two", "one")
	p.stop()
}

func TestRebuild_ReplacesHomeTimelines(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	env := environment("RETWIS_REDIS_URL="+server.URL(), "RETWIS_WORKER_LEASE=1s")
	p := serve(t, env)
	author, reader := register(t, p.url, "author"), register(t, p.url, "reader")
	reader.follow(author)
	author.createPost("one")
	author.createPost("two")
	reader.awaitHome("two", "one")
	db := openTestStore(t, server.URL())
	user, err := db.Accounts.UserByName(t.Context(), "reader")
	if err != nil {
		t.Fatal(err)
	}
	client := server.Client()
	home := onlyKey(t, client, "*:home:"+user.ID.String())
	generation := func() int64 {
		now, _, err := db.Live.CurrentPosition(t.Context(), retwis.Home(user.ID))
		if err != nil {
			t.Fatal(err)
		}
		return now.Epoch
	}

	for _, how := range [][]string{{"--user", "READER"}, {"--all"}} {
		before := generation()
		if err := client.LPop(t.Context(), home).Err(); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := invoke(t, env, append([]string{"rebuild"}, how...)...)
		if code != 0 || !strings.Contains(stdout, "Rebuilt ") {
			t.Errorf("%v: code %d, printed\n%s%s", how, code, stdout, stderr)
		}
		reader.awaitHome("two", "one")
		if now := generation(); now <= before {
			t.Errorf("%v: the generation was %d and is %d", how, before, now)
		}
	}
	// The next read rebuilds a home timeline that is not stored.
	if err := client.Del(t.Context(), home).Err(); err != nil {
		t.Fatal(err)
	}
	code, stdout, _ := invoke(t, env, "rebuild", "--all")
	if code != 0 || !strings.Contains(stdout, "Rebuilt 1 home timelines of 2 users") {
		t.Errorf("code %d, printed %s", code, stdout)
	}
	if n := client.Exists(t.Context(), home).Val(); n != 0 {
		t.Error("rebuild --all rebuilt a home timeline that is not stored")
	}
	p.stop()
}

func TestCheckAndRebuild_RefuseInvalidArguments(t *testing.T) {
	t.Parallel()
	nobody := "redis://127.0.0.1:1"
	server := redistest.Server(t).URL()
	for _, args := range [][]string{
		{"check", "--redis-url", nobody},
		{"check", "--redis-url", server, "--sample", "-1"},
		{"check", "--redis-url", "memory"},
		{"check", "--redis-url", server, "--partitions", "3"},
		{"rebuild", "--redis-url", server},
		{"rebuild", "--redis-url", server, "--all", "--user", "x"},
		{"rebuild", "--redis-url", server, "--user", "nobody"},
	} {
		if code, stdout, stderr := invoke(t, environment(), args...); code != 2 || stdout != "" || stderr == "" {
			t.Errorf("%v: code %d, printed %q, error %q", args, code, stdout, stderr)
		}
	}
}
