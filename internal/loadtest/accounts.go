package loadtest

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// account is somebody who uses the server.
type account struct {
	name  string
	id    string
	token string
}

// The accounts of a test have these names, with a number, and this password. They stay, and
// are used by the next test.
const (
	accountName     = "loadtest_"
	accountPassword = "the password of load tests"
	setupParallel   = 8
)

// ErrSetup is that the server cannot be tested as it is. The error around it says why.
var ErrSetup = errors.New("the test cannot begin")

// HowToLift says how a server's limits are switched off.
const HowToLift = "start the server with --rate-limits off (RETWIS_RATE_LIMITS=off) for the time of the test"

// limited asks a server whether it limits how much clients may read. One that does limits the
// rest too, mostly, and finding that out by logging in would use up what the network has for
// people.
func (c *client) limited(ctx context.Context) (bool, error) {
	var answer struct{ RateLimit *struct{ Limit int } }
	err := c.do(ctx, "", newRequest(`{ rateLimit { limit } }`, nil), &answer)
	if errors.Is(err, errLimited) {
		return true, nil
	}
	return answer.RateLimit != nil, err
}

type session struct {
	Token string
	User  struct{ ID string }
}

// enter logs an account in.
func (c *client) enter(ctx context.Context, name, password string) (account, error) {
	var answer struct{ Login session }
	err := c.do(ctx, "", newRequest(`mutation ($name: String!, $password: String!) {
		login(input: { username: $name, password: $password }) { token user { id } userErrors { code message } }
	}`, map[string]any{"name": name, "password": password}), &answer)
	return account{name, answer.Login.User.ID, answer.Login.Token}, err
}

// obtain logs an account of the test in, and makes it where there is none.
func (c *client) obtain(ctx context.Context, name string) (account, error) {
	a, err := c.enter(ctx, name, accountPassword)
	if _, refused := errors.AsType[*failure](err); !refused || kindOf(err) == "connection failed" {
		return a, err
	}
	var answer struct{ Register session }
	err = c.do(ctx, "", newRequest(`mutation ($name: String!, $password: String!) {
		register(input: { username: $name, password: $password }) { token user { id } userErrors { code message } }
	}`, map[string]any{"name": name, "password": accountPassword}), &answer)
	return account{name, answer.Register.User.ID, answer.Register.Token}, err
}

// accounts obtains the accounts of the test.
func (c *client) accounts(ctx context.Context, n int) ([]account, error) {
	all := make([]account, n)
	err := inParallel(ctx, n, func(ctx context.Context, i int) error {
		var err error
		all[i], err = c.obtain(ctx, fmt.Sprint(accountName, i))
		return err
	})
	return all, setup("log in", err)
}

// connect makes everybody follow everybody, and post so much that pages are full.
func (c *client) connect(ctx context.Context, all []account) error {
	err := inParallel(ctx, len(all), func(ctx context.Context, i int) error {
		for j := range all {
			if i != j {
				if err := c.follow(ctx, all[i], all[j].id); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return setup("follow each other", err)
	}
	const page = 20
	each := (2*page + len(all) - 1) / len(all)
	return setup("fill the home timelines", inParallel(ctx, each*len(all), func(ctx context.Context, i int) error {
		text := fmt.Sprintf("Number %d of the posts that fill the pages of a load test.", i)
		return c.do(ctx, all[i%len(all)].token, keyedPostRequest(text, fmt.Sprint("loadtest-fill-", i)), nil)
	}))
}

func (c *client) follow(ctx context.Context, reader account, author string) error {
	return c.do(ctx, reader.token, newRequest(`mutation ($id: ID!) {
		followUser(input: { userId: $id }) { userErrors { code message } }
	}`, map[string]any{"id": author}), nil)
}

// star logs the author of the scenario fanout in, whom all accounts follow from now on, and
// returns how many followers there are.
func (c *client) star(ctx context.Context, o Options, all []account) (account, int, error) {
	author, err := c.enter(ctx, o.Author, o.Password)
	if _, refused := errors.AsType[*failure](err); refused {
		return author, 0, fmt.Errorf("%w: log in as %s: %w: retwis seed --star 10000 makes star with that many followers, "+
			"and --author with --password names another", ErrSetup, o.Author, err)
	}
	if err != nil {
		return author, 0, setup("log in as "+o.Author, err)
	}
	err = inParallel(ctx, len(all), func(ctx context.Context, i int) error { return c.follow(ctx, all[i], author.id) })
	if err != nil {
		return author, 0, setup("follow "+o.Author, err)
	}
	var answer struct {
		Viewer struct{ User struct{ FollowerCount int } }
	}
	err = c.do(ctx, author.token, newRequest(`{ viewer { user { followerCount } } }`, nil), &answer)
	return author, answer.Viewer.User.FollowerCount, setup("count the followers of "+o.Author, err)
}

// setup says what kept the test from beginning.
func setup(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLimited):
		return fmt.Errorf("%w: the server limits how much clients may do, here to %s: %s", ErrSetup, what, HowToLift)
	default:
		return fmt.Errorf("%w: %s: %w", ErrSetup, what, err)
	}
}

func inParallel(ctx context.Context, n int, do func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(setupParallel)
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(ctx, i)
		})
	}
	return group.Wait()
}
