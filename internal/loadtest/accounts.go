package loadtest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

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

// limits asks a server what it limits, and returns that in words, empty where it limits
// nothing. A test does everything that can be limited, and to find out by doing it would
// use up what people may do.
func (c *client) limits(ctx context.Context) (string, error) {
	header, err := c.exchange(ctx, "", newRequest(`{ __typename }`, nil), nil)
	if err != nil {
		return "", err
	}
	return describeLimits(header.Values("RateLimit-Policy")), nil
}

// policy is what a header says of one limit: "posts";q=60;w=60 is 60 in 60 seconds.
var policy = regexp.MustCompile(`"([^"]*)"\s*;\s*q=(\d+)\s*;\s*w=(\d+)`)

func describeLimits(header []string) string {
	var all []string
	for _, p := range policy.FindAllStringSubmatch(strings.Join(header, ","), -1) {
		all = append(all, fmt.Sprintf("%s to %s in %s s", p[1], p[2], p[3]))
	}
	return strings.Join(all, ", ")
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
func (c *client) accounts(ctx context.Context, o Options) ([]account, error) {
	all := make([]account, o.Accounts)
	err := o.inParallel(ctx, "accounts", o.Accounts, func(ctx context.Context, i int) error {
		var err error
		all[i], err = c.obtain(ctx, fmt.Sprint(accountName, i))
		return err
	})
	return all, setup("log in", err)
}

// connect makes everybody follow everybody, and post so much that pages are full.
func (c *client) connect(ctx context.Context, o Options, all []account) error {
	n := len(all)
	err := o.inParallel(ctx, "follows", n*(n-1), func(ctx context.Context, i int) error {
		reader, ahead := i%n, 1+i/n // so that nobody follows themselves
		return c.follow(ctx, all[reader], all[(reader+ahead)%n].id)
	})
	if err != nil {
		return setup("follow each other", err)
	}
	const page = 20
	each := (2*page + n - 1) / n
	return setup("fill the home timelines", o.inParallel(ctx, "posts", each*n, func(ctx context.Context, i int) error {
		text := fmt.Sprintf("Number %d of the posts that fill the pages of a load test.", i)
		return c.do(ctx, all[i%n].token, keyedPostRequest(text, fmt.Sprint("loadtest-fill-", i)), nil)
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
	err = o.inParallel(ctx, "follows", len(all), func(ctx context.Context, i int) error { return c.follow(ctx, all[i], author.id) })
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

// inParallel does n things, and shows how far it has come.
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
