package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"retwis/internal/bench/load"
	"retwis/internal/bench/measure"
	"retwis/internal/bench/process"
	"retwis/internal/bench/world"
	"retwis/internal/retwis"
)

// WithLikes measures the home page with the likes of its posts. The baseline is the page without them, from the same server. The
// two alternate, and the figures are the medians of their rounds.
func WithLikes(ctx context.Context, r *measure.Run) error {
	w, token, stop, err := homeTimeline(ctx, r)
	if err != nil {
		return err
	}
	defer stop()
	server, err := process.StartChild(ctx, Ours, w.URL)
	if err != nil {
		return err
	}
	defer server.Stop()
	c, err := load.NewClient(server.URL(), Clients, Timeout)
	if err != nil {
		return err
	}
	defer c.Close()
	c.AcceptOnlyPlain()
	if err := addLikes(ctx, w, c, token, r.Size(20, 2)); err != nil {
		return err
	}
	var with, without costs
	for round := range r.Size(7, 1) + 1 {
		plain, err := readingFor(ctx, r, w, server, c, homePage, token)
		if err != nil {
			return err
		}
		liked, err := readingFor(ctx, r, w, server, c, likedPage, token)
		if err != nil {
			return err
		}
		if round > 0 { // the first one is to warm up
			without, with = append(without, plain), append(with, liked)
		}
	}
	beside := func(value func(cost) float64, goal measure.Goal) []measure.Baseline {
		return []measure.Baseline{{Name: "without likes", Value: without.median(value), Goal: goal}}
	}
	cpu := func(c cost) float64 { return micros(c.cpu) }
	redis := func(c cost) float64 { return micros(c.redis) }
	r.Add(measure.Figure{
		Name: "home page with likes, CPU of the server", Unit: "µs", Value: with.median(cpu), Beside: beside(cpu, measure.AtMost(1.5)),
	})
	r.Add(measure.Figure{
		Name: "home page with likes, CPU of Redis", Unit: "µs", Value: with.median(redis), Beside: beside(redis, measure.Goal{}),
	})
	return addExchanges(ctx, r, server.URL(), token)
}

// costs are those of several rounds.
type costs []cost

func (c costs) median(value func(cost) float64) float64 {
	values := make([]float64, len(c))
	for i, one := range c {
		values[i] = value(one)
	}
	return measure.Median(values)
}

// addLikes makes some users like all posts, and the reader every other post of the first page.
func addLikes(ctx context.Context, w *world.World, c *load.Client, token string, likers int) error {
	users, err := w.AddUsers(ctx, "liker", likers)
	if err != nil {
		return err
	}
	posts, err := w.Timelines.Page(ctx, retwis.Public(), retwis.Page{First: 20})
	if err != nil {
		return err
	}
	for _, edge := range posts.Edges {
		err := world.Concurrently(ctx, len(users), func(ctx context.Context, i int) error {
			return w.Likes.Like(ctx, users[i], edge.Post.ID)
		})
		if err != nil {
			return err
		}
	}
	var home struct {
		Viewer struct {
			HomeTimeline struct {
				Posts struct {
					Edges []struct{ Node struct{ ID string } }
				}
			}
		}
	}
	if err := c.Do(ctx, token, load.NewRequest(homePage, nil), &home); err != nil {
		return err
	}
	for i, edge := range home.Viewer.HomeTimeline.Posts.Edges {
		if i%2 > 0 {
			continue
		}
		like := load.NewRequest(`mutation($id: ID!) { likePost(input: {postId: $id}) { userErrors { code message } } }`, map[string]any{"id": edge.Node.ID})
		if err := c.Do(ctx, token, like, nil); err != nil {
			return err
		}
	}
	return nil
}

// readingFor measures a server while clients read a page for a while.
func readingFor(ctx context.Context, r *measure.Run, w *world.World, server *process.Child, c *load.Client, page, token string) (cost, error) {
	request := load.NewRequest(page, nil)
	read := func(ctx context.Context) error { return c.Do(ctx, token, request, nil) }
	return fullRate(ctx, w, server, read, r.Duration(2*time.Second, 50*time.Millisecond))
}

// addExchanges adds how many exchanges with Redis a page with likes takes more than one without.
func addExchanges(ctx context.Context, r *measure.Run, url, token string) error {
	var exchanges [2]int
	for i, page := range []string{homePage, likedPage} {
		var err error
		if exchanges[i], err = exchangesOf(ctx, url, page, token); err != nil {
			return err
		}
	}
	r.Add(measure.Figure{
		Name: "exchanges with Redis that the likes of a home page add", Value: float64(exchanges[1] - exchanges[0]), Goal: measure.AtMost(1),
	})
	return nil
}

// exchangesOf returns the number of exchanges with Redis for a page, as the server reports it.
func exchangesOf(ctx context.Context, url, page, token string) (int, error) {
	body, err := json.Marshal(map[string]any{"query": page, "extensions": map[string]bool{"cost": true}})
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/graphql", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Extensions struct {
			Cost struct {
				Work struct{ RoundTrips int }
			}
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return 0, fmt.Errorf("read the cost of a page: %w", err)
	}
	if n := answer.Extensions.Cost.Work.RoundTrips; n > 0 {
		return n, nil
	}
	return 0, fmt.Errorf("the server does not report the cost of a page")
}
