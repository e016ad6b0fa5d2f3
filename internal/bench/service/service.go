// Package service measures the service's own binary: how fast it creates and delivers posts, and serves pages, over HTTP.
package service

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"retwis/internal/bench/load"
	"retwis/internal/bench/measure"
	"retwis/internal/bench/page"
	"retwis/internal/bench/process"
	"retwis/internal/bench/world"
	"retwis/internal/retwis"
)

// OverHTTP measures how fast the service creates posts, while it delivers them, and how fast it serves home pages.
func OverHTTP(ctx context.Context, r *measure.Run) error {
	return withService(ctx, r, func(w *world.World, c *load.Client) error {
		if err := posting(ctx, r, w, c); err != nil {
			return err
		}
		return reading(ctx, r, w, c)
	})
}

// withService calls run with an empty world and a client of the service's binary, which runs on it.
func withService(ctx context.Context, r *measure.Run, run func(*world.World, *load.Client) error) error {
	w, err := world.Start(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	service, c, err := start(ctx, r, w.URL)
	if err != nil {
		return err
	}
	defer service.Stop()
	defer c.Close()
	return run(w, c)
}

// start starts the service on a Redis, and returns a client of it.
func start(ctx context.Context, r *measure.Run, redisURL string, args ...string) (*process.Service, *load.Client, error) {
	service, err := process.StartService(ctx, r.Service(), append([]string{"--redis-url", redisURL, "--rate-limits", "off"}, args...)...)
	if err != nil {
		return nil, nil, err
	}
	c, err := load.NewClient(service.URL, 64, page.Timeout)
	if err != nil {
		service.Stop()
		return nil, nil, err
	}
	return service, c, nil
}

func posting(ctx context.Context, r *measure.Run, w *world.World, c *load.Client) error {
	const posters = 8
	followers := r.Size(1000, 10)
	token, author, err := register(ctx, c, "author")
	if err != nil {
		return err
	}
	fans, err := w.AddUsers(ctx, "fan", followers)
	if err != nil {
		return err
	}
	if err := w.AddFollowers(ctx, author, fans); err != nil {
		return err
	}
	if err := w.AwaitDelivery(ctx); err != nil {
		return err
	}
	start := time.Now()
	posts, err := load.Loop{Clients: posters}.Repeat(ctx, r.Duration(5*time.Second, 200*time.Millisecond), func(ctx context.Context) error {
		return c.Do(ctx, token, createPost(), nil)
	})
	if err != nil {
		return err
	}
	if err := w.AwaitDelivery(ctx); err != nil {
		return err
	}
	delivered := float64(posts.Operations) / time.Since(start).Seconds()
	name := fmt.Sprintf("createPost over HTTP, %d followers, %d clients", followers, posters)
	r.Add(measure.Figure{
		Name: name, Unit: "posts/s", Value: posts.PerSecond(),
		Beside: []measure.Baseline{earlier("the same", 78, 10)},
	})
	r.Add(measure.Figure{Name: name + ", until all are delivered", Unit: "posts/s", Value: delivered})
	r.Add(measure.Figure{Name: name + ", p99", Unit: "ms", Value: posts.P99()})
	return nil
}

func reading(ctx context.Context, r *measure.Run, w *world.World, c *load.Client) error {
	token, reading, err := register(ctx, c, "reader")
	if err != nil {
		return err
	}
	authors, err := w.AddUsers(ctx, "writer", r.Size(50, 5))
	if err != nil {
		return err
	}
	for _, author := range authors {
		if err := errors.Join(w.Follows.Follow(ctx, reading, author), w.AddPost(ctx, author)); err != nil {
			return err
		}
	}
	if err := w.AwaitDelivery(ctx); err != nil {
		return err
	}
	pages, err := load.Loop{Clients: page.Clients}.Repeat(ctx, r.Duration(5*time.Second, 200*time.Millisecond), page.Reader(c, token))
	if err != nil {
		return err
	}
	name := fmt.Sprintf("home page from the service, %d clients", page.Clients)
	r.Add(measure.Figure{
		Name: name, Unit: "pages/s", Value: pages.PerSecond(),
		Beside: []measure.Baseline{earlier("a page of 10 posts", 1800, 4)},
	})
	r.Add(measure.Figure{Name: name + ", p99", Unit: "ms", Value: pages.P99()})
	return nil
}

func createPost() load.Request {
	return load.NewRequest(`mutation { createPost(input: { text: "`+world.PostText+`" }) { edge { node { id } } userErrors { code } } }`, nil)
}

// logIn returns a session token of an account.
func logIn(ctx context.Context, c *load.Client, name, password string) (string, error) {
	var data struct{ Login struct{ Token string } }
	query := fmt.Sprintf(`mutation { login(input: { username: %q, password: %q }) { token } }`, name, password)
	err := c.Do(ctx, "", load.NewRequest(query, nil), &data)
	return data.Login.Token, err
}

// register creates an account over the API and returns its token and id.
func register(ctx context.Context, c *load.Client, name string) (string, retwis.UserID, error) {
	var data struct {
		Register struct {
			Token string
			User  struct{ ID string }
		}
	}
	query := fmt.Sprintf(`mutation { register(input: { username: %q, password: "a long password" }) { token user { id } } }`, name)
	if err := c.Do(ctx, "", load.NewRequest(query, nil), &data); err != nil {
		return "", 0, err
	}
	id, err := userID(data.Register.User.ID)
	return data.Register.Token, id, err
}

// userID extracts the number from a global id. Clients must not do that; this program does, because it
// adds followers through the store.
func userID(global string) (retwis.UserID, error) {
	text, err := base64.RawURLEncoding.DecodeString(global)
	if err != nil {
		return 0, err
	}
	_, number, _ := strings.Cut(string(text), ":")
	return retwis.ParseUserID(number)
}

// earlier returns what Retwis in PHP did on a machine of two cores (nginx, php-fpm 8.2 with opcache),
// which is not part of a run.
func earlier(name string, value, atLeast float64) measure.Baseline {
	return measure.Baseline{Name: "Retwis in PHP, " + name, Value: value, Earlier: true, Goal: measure.AtLeast(atLeast)}
}
