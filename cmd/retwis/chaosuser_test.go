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

// citizen is somebody who goes on whatever fails: what was not answered is asked again,
// elsewhere, with the same key, and what was cut off is resumed.
type citizen struct {
	*client
	works *works
	name  string

	posts []string // of those made, the ones not deleted, oldest first

	mu      sync.Mutex
	follows map[*citizen]bool
	home    homeView
	cuts    int
}

// homeView is a home as a client knows it.
type homeView struct {
	posts  []string // newest first
	cursor string   // up to where
}

// keptPosts is how many posts of one author are left.
const keptPosts = 60

func (w *works) settle(name string) *citizen {
	w.t.Helper()
	c := &citizen{client: register(w.t, w.url(0), name), works: w, name: name, follows: map[*citizen]bool{}}
	c.http.Timeout = 5 * time.Second
	return c
}

func (c *citizen) follow(author *citizen) {
	c.t.Helper()
	c.client.follow(author.client)
	c.follows[author] = true
}

func (c *citizen) followed() (authors []*citizen) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for author, follows := range c.follows {
		if follows {
			authors = append(authors, author)
		}
	}
	return authors
}

// write makes posts, and deletes some, until the day is over.
func (c *citizen) write(ctx, day context.Context) error {
	for n := 0; day.Err() == nil; n++ {
		made, err := c.insist(ctx, `mutation ($key: String!) {
			createPost(input: {text: $key, idempotencyKey: $key}) { edge { node { id } } userErrors { code message } }
		}`, map[string]any{"key": fmt.Sprintf("%s says %d", c.name, n)})
		if err != nil {
			return err
		}
		c.posts = append(c.posts, made.Data.CreatePost.Edge.Node.ID)
		if len(c.posts) > keptPosts || n%7 == 0 {
			i := 0
			if n%7 == 0 {
				i = rand.IntN(len(c.posts))
			}
			if _, err := c.insist(ctx, `mutation ($id: ID!) {
				deletePost(input: {postId: $id}) { deletedPostId userErrors { code message } }
			}`, map[string]any{"id": c.posts[i]}); err != nil {
				return err
			}
			c.posts = slices.Delete(c.posts, i, i+1)
		}
		pause(day, 150)
	}
	return nil
}

// waver follows and unfollows until the day is over.
func (c *citizen) waver(ctx, day context.Context, authors []*citizen) error {
	for day.Err() == nil {
		author := authors[rand.IntN(len(authors))]
		c.mu.Lock()
		follow := !c.follows[author]
		c.mu.Unlock()
		mutation := "unfollowUser"
		if follow {
			mutation = "followUser"
		}
		if _, err := c.insist(ctx, `mutation ($id: ID!) { `+mutation+`(input: {userId: $id}) { userErrors { code message } } }`,
			map[string]any{"id": author.id}); err != nil {
			return err
		}
		c.mu.Lock()
		c.follows[author] = follow
		c.mu.Unlock()
		pause(day, 500)
	}
	return nil
}

// pause waits some milliseconds, half as many at least, or until ctx is done.
func pause(ctx context.Context, millis int) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(millis/2+rand.IntN(millis)) * time.Millisecond):
	}
}

// insist asks until it is answered. An error is one that asking again does not mend.
func (c *citizen) insist(ctx context.Context, document string, variables map[string]any) (answer, error) {
	deadline := time.Now().Add(patience)
	for choice := rand.Int(); ; choice++ {
		a, err := c.ask(ctx, c.works.url(choice), document, variables)
		switch {
		case err == nil:
			d := a.Data
			refused := slices.Concat(d.CreatePost.UserErrors, d.DeletePost.UserErrors, d.FollowUser.UserErrors, d.UnfollowUser.UserErrors)
			if len(refused) > 0 {
				return a, fmt.Errorf("%s is refused %v: %v", c.name, variables, refused)
			}
			return a, nil
		case ctx.Err() != nil:
			return answer{}, ctx.Err()
		case time.Now().After(deadline):
			return answer{}, fmt.Errorf("%s asks for %v in vain: %w", c.name, variables, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (c *citizen) ask(ctx context.Context, url, document string, variables map[string]any) (a answer, err error) {
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

// fetchHome reads all of the home.
func (c *citizen) fetchHome(ctx context.Context) (homeView, error) {
	var view homeView
	var after *string
	for {
		a, err := c.insist(ctx, `query ($after: Cursor) { viewer { homeTimeline {
			posts(first: 100, after: $after) { edges { cursor node { id } } pageInfo { hasNextPage } liveCursor }
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
			after = &edge.Cursor
		}
		if !page.PageInfo.HasNextPage {
			return view, nil
		}
	}
}

var errReset = errors.New("the timeline was reset")

// read keeps a home up to date until ctx is done. An error is a post that came twice.
func (c *citizen) read(ctx context.Context) error {
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
		if errors.Is(lost, errTwice) {
			return lost
		}
		c.mu.Lock()
		c.cuts++
		c.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

var errTwice = errors.New("a post came twice")

// watchHome takes events after the cursor until the socket ends.
func (c *citizen) watchHome(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}, HandshakeTimeout: 5 * time.Second}
	url := c.works.url(rand.Int())
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

// take brings what is known of the home up to date.
func (c *citizen) take(e event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Typename {
	case "TimelineReset":
		return errReset
	case "PostAdded":
		if slices.Contains(c.home.posts, e.Edge.Node.ID) {
			return fmt.Errorf("%s: %w: %s", c.name, errTwice, e.Edge.Node.ID)
		}
		c.home.posts = slices.Insert(c.home.posts, 0, e.Edge.Node.ID)
	case "PostRemoved":
		c.home.posts = slices.DeleteFunc(c.home.posts, func(id string) bool { return id == e.PostID })
	}
	c.home.cursor = e.Cursor
	return nil
}

func (c *citizen) known() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.home.posts)
}

// knows reports whether the home holds these posts and no others.
func (c *citizen) knows(want map[string]bool) bool {
	known := c.known()
	return len(known) == len(want) && !slices.ContainsFunc(known, func(id string) bool { return !want[id] })
}
