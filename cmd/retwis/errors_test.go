package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"retwis/internal/redistest"
)

// TestErrors_HideInternalsOfADamagedDatabase replaces the value of each key by one of another type, and then stops
// Redis. Clients must receive nothing but an internal error and its id.
func TestErrors_HideInternalsOfADamagedDatabase(t *testing.T) {
	t.Parallel()
	node := redistest.Server(t)
	p := serve(t, environment("RETWIS_REDIS_URL="+node.URL()))
	c := register(t, p.url, "reader")
	other := register(t, p.url, "other")
	c.follow(other)
	c.createPost("hello")
	operations := []string{
		`{ viewer { sessions { id } lists { edges { cursor } } homeTimeline { posts { edges { node { text } } } } mentionsTimeline { posts { liveCursor } } } }`,
		`{ publicTimeline { posts { edges { node { text } } } } newestUsers { totalCount } searchUsers(prefix: "r") { totalCount } }`,
		`{ user(username: "other") { username followers { totalCount } viewerFollows } }`,
		`mutation { createPost(input: {text: "x"}) { edge { cursor } userErrors { message } } }`,
		`mutation { followUser(input: {userId: "` + other.id + `"}) { user { id } userErrors { message } } }`,
		`mutation { login(input: {username: "reader", password: "correct horse"}) { token userErrors { message } } }`,
		`mutation { register(input: {username: "another", password: "correct horse"}) { token userErrors { message } } }`,
		`mutation { changePassword(input: {currentPassword: "correct horse", newPassword: "battery staple"}) { token userErrors { message } } }`,
		`mutation { logoutEverywhere { userErrors { message } } }`,
	}
	leaks := regexp.MustCompile(`(?i)redis|wrongtype|script|@user|dial|unix|EOF|connect|refused|/tmp|\.go\b|deadline|timeout|goroutine|\{?p\d+\}?:|[0-9a-f]{64}`)
	random := regexp.MustCompile(`"id":"[A-Z2-7]{26}"|"token":"[\w-]{43}"`) // may contain any word
	failures := 0
	ask := func(when string, operations ...string) {
		t.Helper()
		for _, operation := range operations {
			subscription := strings.HasPrefix(operation, "subscription")
			headers := []string{"Content-Type: application/json", "Authorization: Bearer " + c.token}
			if subscription {
				headers = append(headers, "Accept: text/event-stream")
			}
			got, text := c.request("POST", "/graphql", mustJSON(t, map[string]any{"query": operation}), headers...)
			if strings.Contains(string(text), "INTERNAL_SERVER_ERROR") {
				failures++
			}
			if found := leaks.FindString(random.ReplaceAllString(string(text), "")); found != "" || len(text) > 4<<10 {
				t.Errorf("%s, %s: status %d, %d bytes, %q in %.400s", when, operation, got.status, len(text), found, text)
			}
		}
	}

	db := node.Client()
	keys, err := db.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	damage := func(keep func(key string) bool) {
		_, err := db.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
			for _, key := range keys {
				if !keep(key) {
					pipe.Del(t.Context(), key)
					pipe.SetBit(t.Context(), key, 7, 1)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	damage(func(key string) bool { // sessions stay readable
		return strings.Contains(key, ":user:") || strings.Contains(key, ":session") || strings.HasPrefix(key, "retwis:")
	})
	ask("damaged", operations...)
	if failures < 4 {
		t.Errorf("only %d operations failed on a damaged database", failures)
	}
	damage(func(string) bool { return false })
	ask("all damaged", operations...)
	node.Stop()
	ask("without Redis", operations[0], operations[5], `subscription { timelineEvents { cursor } }`)
	if _, text := c.get("/readyz"); leaks.MatchString(strings.ReplaceAll(text, `"redis"`, "")) {
		t.Errorf("/readyz says %s", text)
	}
}
