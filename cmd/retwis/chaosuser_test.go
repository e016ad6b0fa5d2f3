package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// chaosUser is a client that tolerates all failures: it sends an unanswered request again to another process,
// with the same idempotency key, and resumes a broken subscription.
type chaosUser struct {
	*client
	deployment *deployment
	name       string

	posts []string // created and not deleted, oldest first

	mu         sync.Mutex
	follows    map[*chaosUser]bool
	home       homeView
	reconnects int
}

// homeView is a home timeline as a client has it.
type homeView struct {
	posts  []string // newest first
	cursor string   // of the newest event
}

// maxPosts is how many posts of one author are kept.
const maxPosts = 60

func (d *deployment) addUser(name string) *chaosUser {
	d.t.Helper()
	c := &chaosUser{client: register(d.t, d.url(0), name), deployment: d, name: name, follows: map[*chaosUser]bool{}}
	c.http.Timeout = 5 * time.Second
	return c
}

func (c *chaosUser) follow(author *chaosUser) {
	c.t.Helper()
	c.client.follow(author.client)
	c.follows[author] = true
}

func (c *chaosUser) followed() (authors []*chaosUser) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for author, follows := range c.follows {
		if follows {
			authors = append(authors, author)
		}
	}
	return authors
}

// write creates posts, and deletes some, until writing is done.
func (c *chaosUser) write(ctx, writing context.Context) error {
	for n := 0; writing.Err() == nil; n++ {
		made, err := c.retry(ctx, `mutation ($key: String!) {
			createPost(input: {text: $key, idempotencyKey: $key}) { edge { node { id } } userErrors { code message } }
		}`, map[string]any{"key": fmt.Sprintf("%s posts %d", c.name, n)})
		if err != nil {
			return err
		}
		c.posts = append(c.posts, made.Data.CreatePost.Edge.Node.ID)
		if len(c.posts) > maxPosts || n%7 == 0 {
			i := 0
			if n%7 == 0 {
				i = rand.IntN(len(c.posts))
			}
			if _, err := c.retry(ctx, `mutation ($id: ID!) {
				deletePost(input: {postId: $id}) { deletedPostId userErrors { code message } }
			}`, map[string]any{"id": c.posts[i]}); err != nil {
				return err
			}
			c.posts = slices.Delete(c.posts, i, i+1)
		}
		pause(writing, 150)
	}
	return nil
}

// toggleFollows follows and unfollows authors until writing is done.
func (c *chaosUser) toggleFollows(ctx, writing context.Context, authors []*chaosUser) error {
	for writing.Err() == nil {
		author := authors[rand.IntN(len(authors))]
		c.mu.Lock()
		follow := !c.follows[author]
		c.mu.Unlock()
		mutation := "unfollowUser"
		if follow {
			mutation = "followUser"
		}
		if _, err := c.retry(ctx, `mutation ($id: ID!) { `+mutation+`(input: {userId: $id}) { userErrors { code message } } }`,
			map[string]any{"id": author.id}); err != nil {
			return err
		}
		c.mu.Lock()
		c.follows[author] = follow
		c.mu.Unlock()
		pause(writing, 500)
	}
	return nil
}

// pause waits for a random time between half and one and a half of a number of milliseconds, or until ctx is done.
func pause(ctx context.Context, millis int) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(millis/2+rand.IntN(millis)) * time.Millisecond):
	}
}

// retry sends an operation until a process answers it. It returns the errors that a repetition does not avoid.
func (c *chaosUser) retry(ctx context.Context, document string, variables map[string]any) (answer, error) {
	deadline := time.Now().Add(patience)
	for choice := rand.Int(); ; choice++ {
		a, err := c.ask(ctx, c.deployment.url(choice), document, variables)
		switch {
		case err == nil:
			d := a.Data
			refused := slices.Concat(d.CreatePost.UserErrors, d.DeletePost.UserErrors, d.FollowUser.UserErrors, d.UnfollowUser.UserErrors)
			if len(refused) > 0 {
				return a, fmt.Errorf("%s: %v is refused: %v", c.name, variables, refused)
			}
			return a, nil
		case ctx.Err() != nil:
			return answer{}, ctx.Err()
		case time.Now().After(deadline):
			return answer{}, fmt.Errorf("%s: no answer to %v: %w", c.name, variables, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (c *chaosUser) ask(ctx context.Context, url, document string, variables map[string]any) (a answer, err error) {
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		return a, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/graphql", bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+c.token)
	response, err := c.http.Do(request)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
		return a, err
	}
	if len(a.Errors) > 0 {
		return a, fmt.Errorf("errors %v", a.Errors)
	}
	return a, nil
}

// fetchHome reads the whole home timeline.
func (c *chaosUser) fetchHome(ctx context.Context) (homeView, error) {
	var view homeView
	var after *string
	for {
		a, err := c.retry(ctx, `query ($after: Cursor) { viewer { homeTimeline {
			posts(first: 100, after: $after) { edges { node { id } } pageInfo { hasNextPage endCursor } liveCursor }
		} } }`, map[string]any{"after": after})
		if err != nil {
			return view, err
		}
		page := a.Data.Viewer.HomeTimeline.Posts
		if after == nil {
			view.cursor = page.LiveCursor
		}
		for _, edge := range page.Edges {
			view.posts = append(view.posts, edge.Node.ID)
		}
		if !page.PageInfo.HasNextPage {
			return view, nil
		}
		after = &page.PageInfo.EndCursor // a page may end early, without posts: among many deleted ones
	}
}

var errReset = errors.New("the timeline was reset")

// read keeps a home timeline current until ctx is done. It returns an error for a duplicate post.
func (c *chaosUser) read(ctx context.Context) error {
	lost := errReset
	for ctx.Err() == nil {
		if errors.Is(lost, errReset) {
			view, err := c.fetchHome(ctx)
			if err != nil && ctx.Err() == nil {
				return err
			}
			c.mu.Lock()
			c.home = view
			c.mu.Unlock()
		}
		lost = c.watchHome(ctx)
		if errors.Is(lost, errDuplicate) {
			return lost
		}
		c.mu.Lock()
		c.reconnects++
		c.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

var errDuplicate = errors.New("a post arrived twice")

// watchHome receives events after the cursor until the socket closes.
func (c *chaosUser) watchHome(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}, HandshakeTimeout: 5 * time.Second}
	url := c.deployment.url(rand.Int())
	ws, response, err := dialer.DialContext(ctx, "ws"+strings.TrimPrefix(url, "http")+"/graphql", nil)
	if err != nil {
		return err
	}
	response.Body.Close()
	defer ws.Close()
	stop := context.AfterFunc(ctx, func() { _ = ws.Close() })
	defer stop()
	for _, m := range []map[string]any{
		{"type": "connection_init", "payload": map[string]any{"authorization": "Bearer " + c.token}},
		{"type": "subscribe", "id": "1", "payload": map[string]any{
			"query": `subscription ($after: Cursor) { timelineEvents(after: $after) { __typename cursor
				... on PostAdded { edge { node { id } } } ... on PostRemoved { postId } } }`,
			"variables": map[string]any{"after": c.home.cursor},
		}},
	} {
		if err := ws.WriteJSON(m); err != nil {
			return err
		}
	}
	for {
		var m message
		if err := ws.ReadJSON(&m); err != nil {
			return err
		}
		if m.Type == "ping" {
			_ = ws.WriteJSON(map[string]any{"type": "pong"})
		}
		if m.Type == "error" || m.Type == "complete" {
			return fmt.Errorf("%s %s", m.Type, m.Payload)
		}
		if m.Type != "next" {
			continue
		}
		var a answer
		if err := json.Unmarshal(m.Payload, &a); err != nil || len(a.Errors) > 0 {
			return fmt.Errorf("event %s: %w", m.Payload, err)
		}
		if err := c.take(a.Data.TimelineEvents); err != nil {
			return err
		}
	}
}

// take applies an event.
func (c *chaosUser) take(e event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Typename {
	case "TimelineReset":
		return errReset
	case "PostAdded":
		if slices.Contains(c.home.posts, e.Edge.Node.ID) {
			return fmt.Errorf("%s: %w: %s", c.name, errDuplicate, e.Edge.Node.ID)
		}
		c.home.posts = slices.Insert(c.home.posts, 0, e.Edge.Node.ID)
	case "PostRemoved":
		c.home.posts = slices.DeleteFunc(c.home.posts, func(id string) bool { return id == e.PostID })
	}
	c.home.cursor = e.Cursor
	return nil
}

func (c *chaosUser) seenPosts() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.home.posts)
}

// hasExactly reports whether the home timeline has these posts and no others.
func (c *chaosUser) hasExactly(want map[string]bool) bool {
	seenPosts := c.seenPosts()
	return len(seenPosts) == len(want) && !slices.ContainsFunc(seenPosts, func(id string) bool { return !want[id] })
}
