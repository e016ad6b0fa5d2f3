package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// client is a user of the API of one process.
type client struct {
	t     *testing.T
	url   string
	http  *http.Client
	token string
	id    string // of the user
}

func newClient(t *testing.T, url string) *client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t: t, url: url, http: &http.Client{Transport: transport, Timeout: patience}}
}

// newClientAt returns a client that connects from an address of this machine, but for its websockets.
func newClientAt(t *testing.T, url, address string) *client {
	t.Helper()
	c := newClient(t, url)
	c.http.Transport.(*http.Transport).DialContext = dialer(address).DialContext //nolint:forcetypeassert // made by newClient
	return c
}

// at returns the same user as a client of another process.
func (c *client) at(url string) *client {
	other := newClient(c.t, url)
	other.token, other.id = c.token, c.id
	return other
}

// answer is the response to an operation.
type answer struct {
	Data struct {
		Register, Login, ChangePassword session
		Logout, LogoutEverywhere        payload
		FollowUser, UnfollowUser        payload
		CreatePost                      struct {
			Edge edge
			payload
		}
		DeletePost struct {
			DeletedPostID string
			payload
		}
		RevokeSession struct {
			RevokedSessionID string
			payload
		}
		Viewer *struct {
			User         user
			HomeTimeline timeline
			Sessions     []openSession
		}
		User           *user
		PublicTimeline timeline
		TimelineEvents event
	}
	Errors []struct {
		Message    string
		Extensions struct{ Code string }
	}
}

type payload struct {
	UserErrors []struct{ Code, Message string }
}

type session struct {
	Token string
	User  user
	payload
}

type openSession struct {
	ID, UserAgent string
	Current       bool
}

type user struct {
	ID, Username, DisplayName, Bio           string
	PostCount, FollowerCount, FollowingCount int
	Timeline                                 timeline
}

type timeline struct {
	ID    string
	Posts struct {
		Edges    []edge
		PageInfo struct {
			HasNextPage bool
			EndCursor   string
		}
		LiveCursor string
	}
}

type edge struct {
	Cursor string
	Node   struct{ ID, Text string }
}

type event struct {
	Typename string `json:"__typename"`
	Cursor   string
	Edge     edge
	PostID   string
	Replayed int
	Reason   string
}

// reply holds the status and the headers of a response.
type reply struct {
	status  int
	header  http.Header
	cookies []*http.Cookie
}

// post sends an operation and returns the response, with or without errors. A header is "Name: value".
func (c *client) post(document string, variables map[string]any, headers ...string) (reply, answer) {
	c.t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		c.t.Fatal(err)
	}
	headers = append([]string{"Content-Type: application/json"}, headers...)
	if c.token != "" {
		headers = append(headers, "Authorization: Bearer "+c.token)
	}
	got, text := c.request(http.MethodPost, "/graphql", body, headers...)
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		c.t.Fatalf("status %d: %v: %s", got.status, err, text)
	}
	return got, a
}

func (c *client) request(method, path string, body []byte, headers ...string) (reply, []byte) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	response, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, response.Cookies()}, text
}

// do sends an operation that must succeed.
func (c *client) do(document string, variables map[string]any) answer {
	c.t.Helper()
	_, a := c.post(document, variables)
	d := a.Data
	all := slices.Concat(d.Register.UserErrors, d.Login.UserErrors, d.ChangePassword.UserErrors, d.Logout.UserErrors,
		d.FollowUser.UserErrors, d.UnfollowUser.UserErrors, d.CreatePost.UserErrors, d.DeletePost.UserErrors)
	if len(a.Errors) > 0 || len(all) > 0 {
		c.t.Fatalf("%s: errors %v, user errors %v", document, a.Errors, all)
	}
	return a
}

// get requests a path and returns the status and the body.
func (c *client) get(path string) (int, string) {
	c.t.Helper()
	got, body := c.request(http.MethodGet, path, nil)
	return got.status, string(body)
}

const somePassword = "correct horse"

// register creates an account and returns a client that is logged in.
func register(t *testing.T, url, username string) *client {
	t.Helper()
	return newClient(t, url).register(username)
}

// register creates an account and logs in.
func (c *client) register(username string) *client {
	c.t.Helper()
	made := c.do(`mutation ($name: String!, $password: String!) {
		register(input: {username: $name, password: $password}) { token user { id username } userErrors { code message } }
	}`, map[string]any{"name": username, "password": somePassword}).Data.Register
	c.token, c.id = made.Token, made.User.ID
	return c
}

// login returns a client with another session of an account.
func (c *client) login(username, password string) *client {
	c.t.Helper()
	other := newClient(c.t, c.url)
	made := other.do(`mutation ($name: String!, $password: String!) {
		login(input: {username: $name, password: $password}) { token user { id } userErrors { code message } }
	}`, map[string]any{"name": username, "password": password}).Data.Login
	other.token, other.id = made.Token, made.User.ID
	return other
}

func (c *client) follow(author *client) {
	c.t.Helper()
	c.do(`mutation ($id: ID!) { followUser(input: {userId: $id}) { userErrors { code message } } }`, map[string]any{"id": author.id})
}

func (c *client) unfollow(author *client) {
	c.t.Helper()
	c.do(`mutation ($id: ID!) { unfollowUser(input: {userId: $id}) { userErrors { code message } } }`, map[string]any{"id": author.id})
}

func (c *client) createPost(text string) edge {
	c.t.Helper()
	return c.do(`mutation ($text: String!) {
		createPost(input: {text: $text}) { edge { cursor node { id text } } userErrors { code message } }
	}`, map[string]any{"text": text}).Data.CreatePost.Edge
}

func (c *client) deletePost(id string) {
	c.t.Helper()
	c.do(`mutation ($id: ID!) { deletePost(input: {postId: $id}) { deletedPostId userErrors { code message } } }`, map[string]any{"id": id})
}

// home reads the home timeline in pages of two.
func (c *client) home() (texts []string, liveCursor string) {
	c.t.Helper()
	var after *string
	for {
		page := c.do(`query ($after: Cursor) { viewer { homeTimeline {
			posts(first: 2, after: $after) { edges { node { id text } } pageInfo { hasNextPage endCursor } liveCursor }
		} } }`, map[string]any{"after": after}).Data.Viewer.HomeTimeline.Posts
		if liveCursor == "" {
			liveCursor = page.LiveCursor
		}
		for _, e := range page.Edges {
			texts = append(texts, e.Node.Text)
		}
		if !page.PageInfo.HasNextPage {
			return texts, liveCursor
		}
		after = &page.PageInfo.EndCursor
	}
}

// awaitHome waits until the home timeline has these texts, newest first.
func (c *client) awaitHome(want ...string) {
	c.t.Helper()
	eventually(c.t, fmt.Sprintf("the home timeline is %q", want), func() bool {
		got, _ := c.home()
		return slices.Equal(got, want)
	})
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decode sends an operation that must succeed, and decodes the response.
func (c *client) decode(into any, document string, variables map[string]any) {
	c.t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		c.t.Fatal(err)
	}
	_, text := c.request("POST", "/graphql", body, "Content-Type: application/json", "Authorization: Bearer "+c.token)
	if err := json.Unmarshal(text, into); err != nil || strings.Contains(string(text), `"errors"`) {
		c.t.Fatalf("%v: %s", err, text)
	}
}
