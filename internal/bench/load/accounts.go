package load

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/sync/errgroup"
)

// account is a user of the server.
type account struct {
	name  string
	id    string
	token string
}

// The accounts of a test have these names, with a number, and this password. The next test uses them
// again.
const (
	accountName     = "loadtest_"
	accountPassword = "the password of load tests"
	setupParallel   = 8
)

// ErrSetup means that the test could not begin. The error that wraps it says why.
var ErrSetup = errors.New("the load test cannot start")

// HowToLift says how to switch off the limits of a server.
const HowToLift = "start the server with --rate-limits off (RETWIS_RATE_LIMITS=off) for the time of the test"

// limits returns a description of the server's rate limits, or "" if it has none. It reads them from
// a header: to find out by reaching them would use up the budgets of real clients.
func (c *Client) limits(ctx context.Context) (string, error) {
	header, err := c.exchange(ctx, "", NewRequest(`{ __typename }`, nil), nil)
	if err != nil {
		return "", err
	}
	return describeLimits(header.Values("RateLimit-Policy")), nil
}

// policy matches one limit of the header: "posts";q=60;w=60 is 60 in 60 seconds.
var policy = regexp.MustCompile(`"([^"]*)"\s*;\s*q=(\d+)\s*;\s*w=(\d+)`)

func describeLimits(header []string) string {
	var all []string
	for _, p := range policy.FindAllStringSubmatch(strings.Join(header, ","), -1) {
		all = append(all, fmt.Sprintf("%s: %s in %s s", p[1], p[2], p[3]))
	}
	return strings.Join(all, ", ")
}

type session struct {
	Token string
	User  struct{ ID string }
}

// logIn logs an account in.
func (c *Client) logIn(ctx context.Context, name, password string) (account, error) {
	var data struct{ Login session }
	err := c.Do(ctx, "", NewRequest(`mutation ($name: String!, $password: String!) {
		login(input: { username: $name, password: $password }) { token user { id } userErrors { code message } }
	}`, map[string]any{"name": name, "password": password}), &data)
	return account{name, data.Login.User.ID, data.Login.Token}, err
}

// register creates an account.
func (c *Client) register(ctx context.Context, name, password string) (account, error) {
	var data struct{ Register session }
	err := c.Do(ctx, "", NewRequest(`mutation ($name: String!, $password: String!) {
		register(input: { username: $name, password: $password }) { token user { id } userErrors { code message } }
	}`, map[string]any{"name": name, "password": password}), &data)
	return account{name, data.Register.User.ID, data.Register.Token}, err
}

// obtain logs an account of the test in, and registers it if it does not exist.
func (c *Client) obtain(ctx context.Context, name string) (account, error) {
	a, err := c.logIn(ctx, name, accountPassword)
	if _, refused := errors.AsType[*failure](err); !refused || kindOf(err) == "connection failed" {
		return a, err
	}
	return c.register(ctx, name, accountPassword)
}

// accounts obtains the accounts of the test.
func (c *Client) accounts(ctx context.Context, o Options) ([]account, error) {
	all := make([]account, o.Accounts)
	err := o.inParallel(ctx, "accounts", o.Accounts, func(ctx context.Context, i int) error {
		var err error
		all[i], err = c.obtain(ctx, fmt.Sprint(accountName, i))
		return err
	})
	return all, setupError("log in", err)
}

// connect makes all accounts follow each other, and creates enough posts to fill two pages.
func (c *Client) connect(ctx context.Context, o Options, all []account) error {
	n := len(all)
	err := o.inParallel(ctx, "follows", n*(n-1), func(ctx context.Context, i int) error {
		reader, ahead := i%n, 1+i/n // never the reader
		return c.follow(ctx, all[reader], all[(reader+ahead)%n].id)
	})
	if err != nil {
		return setupError("follow each other", err)
	}
	const page = 20
	each := (2*page + n - 1) / n
	return setupError("fill the home timelines", o.inParallel(ctx, "posts", each*n, func(ctx context.Context, i int) error {
		text := fmt.Sprintf("Number %d of the posts that fill the pages of a load test.", i)
		return c.Do(ctx, all[i%n].token, keyedPostRequest(text, fmt.Sprint("loadtest-fill-", i)), nil)
	}))
}

func (c *Client) follow(ctx context.Context, reader account, author string) error {
	return c.Do(ctx, reader.token, NewRequest(`mutation ($id: ID!) {
		followUser(input: { userId: $id }) { userErrors { code message } }
	}`, map[string]any{"id": author}), nil)
}

// followAuthor logs the author of the scenario fanout in, makes all accounts follow the author, and
// returns the number of followers.
func (c *Client) followAuthor(ctx context.Context, o Options, all []account) (account, int, error) {
	author, err := c.logIn(ctx, o.Author, o.Password)
	if _, refused := errors.AsType[*failure](err); refused {
		return author, 0, fmt.Errorf("%w: log in as %s: %w: retwis seed --star 10000 creates the user star with 10000 followers, "+
			"and --author with --password names another author", ErrSetup, o.Author, err)
	}
	if err != nil {
		return author, 0, setupError("log in as "+o.Author, err)
	}
	err = o.inParallel(ctx, "follows", len(all), func(ctx context.Context, i int) error { return c.follow(ctx, all[i], author.id) })
	if err != nil {
		return author, 0, setupError("follow "+o.Author, err)
	}
	var data struct {
		Viewer struct{ User struct{ FollowerCount int } }
	}
	err = c.Do(ctx, author.token, NewRequest(`{ viewer { user { followerCount } } }`, nil), &data)
	return author, data.Viewer.User.FollowerCount, setupError("count the followers of "+o.Author, err)
}

// setupError returns an [ErrSetup] for an error of a step, and nil for nil.
func setupError(step string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLimited):
		return fmt.Errorf("%w: %s: the server limits its clients: %s", ErrSetup, step, HowToLift)
	default:
		return fmt.Errorf("%w: %s: %w", ErrSetup, step, err)
	}
}

// inParallel calls do for 0 to n-1, and shows the progress.
func (o Options) inParallel(ctx context.Context, what string, n int, do func(context.Context, int) error) error {
	add, end := func(int) {}, func() {}
	if o.Preparing != nil {
		add, end = o.Preparing(what, n)
	}
	defer end()
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(setupParallel)
	for i := 0; i < n && running.Err() == nil; i++ {
		group.Go(func() error {
			err := do(running, i)
			if err == nil {
				add(1)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}
