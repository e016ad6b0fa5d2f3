package graph

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retwis/graph/limits"
	"retwis/internal/retwis"
)

func TestErrorPresenter_HidesInternalErrors(t *testing.T) {
	t.Parallel()
	const secret = "redis://:secret@10.0.0.1"
	tests := []struct {
		name        string
		fakeBackend func(*api)
		path        string
	}{
		{"from behind", func(a *api) { a.fail["UserByName"] = errors.New(secret) }, "user"},
		{"from a loader", func(a *api) { a.fail["Follows"] = fmt.Errorf("follows: %w", errors.New(secret)) }, "user.viewerFollows"},
		{"a panic", func(a *api) { a.users[0] = nil }, "user"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAPI(Options{})
			alice := a.addUser("alice")
			tt.fakeBackend(a)
			response := a.run(as(t, alice), `query Named { user(username: "alice") { viewerFollows } }`, "")
			err := wantError(t, response, "INTERNAL_SERVER_ERROR")
			id, _ := err.Extensions["id"].(string)
			if err.Message != "internal error" || len(id) < 20 || len(err.Extensions) != 2 {
				t.Errorf("the client sees %q with %v", err.Message, err.Extensions)
			}
			if err.Path.String() != tt.path || len(err.Locations) != 1 {
				t.Errorf("got an error at %s, %v", err.Path, err.Locations)
			}
			wantJSON(t, string(response.Data), `{"user": null}`)
			for _, want := range []string{"id=" + id, "operation=Named", "path=" + tt.path} {
				if strings.Count(a.log.String(), want) != 1 {
					t.Errorf("%s is not in the log exactly once:\n%s", want, a.log)
				}
			}
			if tt.name == "a panic" {
				if !strings.Contains(a.log.String(), "nil pointer") || !strings.Contains(a.log.String(), "fakebackend_test.go") {
					t.Errorf("the panic and its stack are not in the log:\n%s", a.log)
				}
			} else if !strings.Contains(a.log.String(), secret) {
				t.Errorf("the cause is not in the log:\n%s", a.log)
			}
		})
	}
}

func TestErrorPresenter_HidesMissingAuthors(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	a.addPost(a.addUser("alice"), "one").AuthorID = 99
	response := a.run(as(t, nil), `{ publicTimeline { posts { edges { node { author { id } } } } } }`, "")
	err := wantError(t, response, "INTERNAL_SERVER_ERROR")
	if err.Path.String() != "publicTimeline.posts.edges[0].node.author" {
		t.Errorf("got an error at %s", err.Path)
	}
	if !strings.Contains(a.log.String(), "user 99") {
		t.Errorf("the user is not in the log:\n%s", a.log)
	}
}

func TestErrorPresenter_IgnoresCancelledRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(Options{})
		resolver := a.resolver()
		resolver.Users = stuck{a.fakeBackend}
		a.serve(resolver, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			synctest.Wait()
			cancel()
		}()
		err := wantError(t, a.run(ctx, `{ user(username: "x") { id } }`, ""), "INTERNAL_SERVER_ERROR")
		if err.Message != "the request was cancelled" || a.log.Len() > 0 {
			t.Errorf("got %q, logged %s", err.Message, a.log)
		}
	})
}

func TestErrorPresenter_LogsTimeouts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(Options{})
		resolver := a.resolver()
		resolver.Users = stuck{a.fakeBackend}
		a.serve(resolver, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := wantError(t, a.run(ctx, `{ user(username: "x") { id } }`, ""), "INTERNAL_SERVER_ERROR")
		if err.Message != "internal error" || !strings.Contains(a.log.String(), context.DeadlineExceeded.Error()) {
			t.Errorf("got %q, logged %s", err.Message, a.log)
		}
	})
}

// stuck is a backend that answers only when the context is done.
type stuck struct{ *fakeBackend }

func (stuck) UserByName(ctx context.Context, _ string) (*retwis.User, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestExecutor_ReturnsErrorsOfDocuments(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	tests := []struct{ name, query, variables, code string }{
		{"not GraphQL", `{`, "", "GRAPHQL_PARSE_FAILED"},
		{"nothing", ``, "", "GRAPHQL_VALIDATION_FAILED"},
		{"an unknown field", `{ nothing }`, "", "GRAPHQL_VALIDATION_FAILED"},
		{"a number that is none", `query($n: Int) { publicTimeline { posts(first: $n) { liveCursor } } }`, `{"n": "x"}`, "GRAPHQL_VALIDATION_FAILED"},
		{"a cursor that is a number", `query($after: Cursor) { publicTimeline { posts(after: $after) { liveCursor } } }`, `{"after": 1}`, "GRAPHQL_VALIDATION_FAILED"},
		{"a cursor that is an object", `query($after: Cursor) { publicTimeline { posts(after: $after) { liveCursor } } }`, `{"after": {"a": 1}}`, "GRAPHQL_VALIDATION_FAILED"},
		{"a literal cursor that is a number", `{ publicTimeline { posts(after: 1) { liveCursor } } }`, "", "GRAPHQL_VALIDATION_FAILED"},
		{"a missing variable", `query($n: String!) { user(username: $n) { id } }`, "", "GRAPHQL_VALIDATION_FAILED"},
		{"a fragment that holds itself", `{ ...F } fragment F on Query { ...F }`, "", "GRAPHQL_VALIDATION_FAILED"},
		{"two operations and no name", `query A { viewer { id } } query B { viewer { id } }`, "", "GRAPHQL_VALIDATION_FAILED"},
		{"a large Int", `{ publicTimeline { posts(first: 3000000000) { liveCursor } } }`, "", "BAD_USER_INPUT"},
		{"a very large Int", `{ publicTimeline { posts(first: 99999999999999999999) { liveCursor } } }`, "", "GRAPHQL_VALIDATION_FAILED"},
		{"a wrong enum", `{ nodes(ids: [RED]) { id } }`, "", "GRAPHQL_VALIDATION_FAILED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			response := a.run(as(t, nil), tt.query, tt.variables)
			if len(response.Errors) == 0 || response.Errors[0].Extensions["code"] != tt.code {
				t.Errorf("got %v %v, want %s", response.Errors, response.Errors[0].Extensions, tt.code)
			}
		})
	}
	if a.log.Len() > 0 {
		t.Errorf("logged %s", a.log)
	}
}

func TestExecutor_ReturnsFewErrorsOfADocument(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	response := a.run(as(t, nil), `{ viewer { `+strings.Repeat("a: id a: user { id } ", 25)+` } }`, "")
	if n := len(response.Errors); n < 2 || n > limits.MaxErrors {
		t.Errorf("got %d errors, want %d at most", n, limits.MaxErrors)
	}
}
