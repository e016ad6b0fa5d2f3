package main

import (
	"encoding/json"
	"strings"
	"testing"

	"retwis/internal/cli"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/seed"
)

func TestDemo_UsersPostAndFollow(t *testing.T) {
	t.Parallel()
	env := environment("RETWIS_REDIS_URL=" + redistest.Server(t).URL())
	service := serve(t, env, "--demo")
	line := service.await(service.stdout, "log in as ")
	_, rest, _ := strings.Cut(line, "log in as ")
	names, password, _ := strings.Cut(rest, " with the password: ")
	var known *client
	for name := range strings.SplitSeq(names, ", ") {
		known = newClient(t, service.url).login(name, password)
	}
	if texts, _ := known.home(); len(texts) == 0 {
		t.Error("the home timeline of a demo user is empty")
	}
	watching := known.watchNow()
	newcomer := register(t, service.url, "newcomer")
	eventually(t, "a demo user posts", func() bool { // a follow before that resets the timeline
		var a answer
		if err := json.Unmarshal(watching.read().Payload, &a); err != nil {
			t.Fatal(err)
		}
		return a.Data.TimelineEvents.Typename == "PostAdded"
	})

	db := openTestStore(t, redisOf(env))
	eventually(t, "a demo user follows and mentions the new user", func() bool {
		user, err := db.Accounts.UserByName(t.Context(), "newcomer")
		if err != nil {
			t.Fatal(err)
		}
		mentions, err := db.Timelines.Page(t.Context(), retwis.Mentions(user.ID), retwis.Page{First: 1})
		if err != nil {
			t.Fatal(err)
		}
		return user.FollowerCount > 0 && len(mentions.Edges) > 0
	})
	newcomer.follow(known)
	service.stop()

	// A restart continues the demo, although another user has registered.
	again := serve(t, env, "--demo")
	newClient(t, again.url).login("newcomer", somePassword)
	again.stop()
	worker := launch(t, env, "worker")
	worker.await(worker.stdout, "The fan-out worker is ready")
	sound(t, env)
	worker.stop()
}

func TestDemo_RefusesOtherData(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		fill func(t *testing.T, node *redistest.Node)
	}{
		{"an account", func(t *testing.T, node *redistest.Node) {
			db := openTestStore(t, node.URL())
			if _, err := db.Accounts.Register(t.Context(), retwis.Registration{Username: "somebody", PasswordHash: "x"}); err != nil {
				t.Fatal(err)
			}
		}},
		{"another program's key", func(t *testing.T, node *redistest.Node) {
			if err := node.Client().Set(t.Context(), "theirs", 1, 0).Err(); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			node := redistest.Server(t)
			tt.fill(t, node)
			env := environment("RETWIS_REDIS_URL=" + node.URL())
			code, _, stderr := invoke(t, env, "serve", "--demo", "--listen", "127.0.0.1:0")
			if code != cli.ExitMisuse || !strings.Contains(stderr, "add --demo-anyway") {
				t.Errorf("code %d, error %q", code, stderr)
			}
			service := serve(t, env, "--demo", "--demo-anyway")
			name := demoPopulation().Member(0).Username
			newClient(t, service.url).login(name, seed.Password)
			service.stop()
		})
	}
	code, _, stderr := invoke(t, environment(), "serve", "--demo-anyway")
	if code != cli.ExitMisuse || !strings.Contains(stderr, "set both, or neither") {
		t.Errorf("code %d, error %q", code, stderr)
	}
}
