package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/auth"
	"retwis/internal/cli"
	"retwis/internal/fanout"
	"retwis/internal/seed"
	"retwis/internal/store/bulk"
	"retwis/internal/terminal"
)

// seedCommand fills a database with test data.
type seedCommand struct {
	Users      int    `default:"1000" placeholder:"N" help:"Users to register."`
	AvgFollows int    `default:"20" placeholder:"N" help:"Average number of users that each user follows. Some users have many more followers than others."`
	Posts      int    `default:"5000" placeholder:"N" help:"Posts to create."`
	Star       int    `default:"0" placeholder:"N" help:"Also register the user star, and this many followers of star, named reader0 and so on."`
	Seed       uint64 `default:"1" placeholder:"N" help:"Seed of the random numbers: the same seed creates the same users, follows and texts."`
	Parallel   int    `default:"4" placeholder:"N" help:"Concurrent batches."`

	redisSettings
	dataSettings
	storeSettings
	logSettings
}

// Help is the text after the flags.
func (*seedCommand) Help() string {
	return "The password of all users is " + seed.Password + ". The posts are spread over the last 30 days. The command skips what an " +
		"earlier run has created, so it continues an interrupted run that had the same flags. It does not use accounts of other users " +
		"who have the same names."
}

// Validate checks the flags.
func (c *seedCommand) Validate() error {
	for _, n := range []struct {
		flag             string
		value, low, high int
	}{
		{"users", c.Users, 0, 10_000_000},
		{"avg-follows", c.AvgFollows, 0, (c.FollowLimit + 1) / 2},
		{"posts", c.Posts, 0, 100_000_000},
		{"star", c.Star, 0, 10_000_000},
		{"parallel", c.Parallel, 1, 100},
	} {
		if n.value < n.low || n.value > n.high {
			return fmt.Errorf("--%s is %d: choose %d to %d", n.flag, n.value, n.low, n.high)
		}
	}
	return errors.Join(c.redisSettings.checkPersistent(), c.dataSettings.check(c.redisSettings), c.storeSettings.check())
}

// population returns what the flags describe. Without users there are no follows and posts.
func (c *seedCommand) population() seed.Population {
	p := seed.Population{
		Seed: c.Seed, People: c.Users, Follows: min(c.AvgFollows, max(c.Users-1, 0)), Posts: c.Posts, Readers: c.Star,
	}
	if p.People == 0 {
		p.Posts = 0
	}
	return p
}

// Run fills the database and returns when all posts are delivered. When ctx is done, it completes the
// current batches and returns.
func (c *seedCommand) Run(ctx context.Context, console cli.Console) error {
	log := c.logger(console.Err)
	err := c.fill(ctx, console, log)
	if err != nil && cli.Stopped(ctx, err) {
		_, _ = fmt.Fprintln(console.Out, "Stopped. Run the same command again to continue.")
	}
	return err
}

func (c *seedCommand) fill(ctx context.Context, console cli.Console, log *slog.Logger) error {
	db, err := openKept(ctx, c.RedisURL, c.DataDir, c.storeSettings.options(log))
	if err != nil {
		return err
	}
	defer db.close(ctx)
	accounts, err := auth.NewAccounts(db.store.Accounts, db.store.Sessions, auth.Options{Log: log})
	if err != nil {
		return fmt.Errorf("prepare accounts: %w", err)
	}

	if p := c.population(); p.People > 0 && p.Follows < c.AvgFollows {
		_, _ = fmt.Fprintf(console.Err, "Each of %d users can follow at most %d others: using --avg-follows %d instead of %d.\n",
			p.People, p.Follows, p.Follows, c.AvgFollows)
	}
	progress := terminal.NewProgress(console.Err)
	seeder := seed.New(c.population(), bulk.New(db.store), accounts, seed.Options{Parallel: c.Parallel, Progress: progress.Part})
	started := time.Now()
	err = besideWorker(ctx, fanout.New(db.store.Outbox, db.store.Tasks, fanout.Options{Log: log}), seeder.Run)
	if err != nil {
		return explainRedis(err)
	}
	_, _ = fmt.Fprintf(console.Out, "Seeded in %s: %s.\n", time.Since(started).Round(time.Millisecond), describe(seeder.Result()))
	for _, member := range seeder.MostPopular(1) {
		_, _ = fmt.Fprintf(console.Out, "Log in as %s, or any of them, with the password: %s\n", member.Username, seed.Password)
	}
	return nil
}

// besideWorker calls do while a worker runs, and stops the worker afterwards.
func besideWorker(ctx context.Context, worker *fanout.Worker, do func(context.Context) error) error {
	group, running := errgroup.WithContext(ctx)
	workLife, endWork := context.WithCancel(context.WithoutCancel(ctx))
	defer endWork()
	group.Go(func() error { return worker.Run(workLife) })
	group.Go(func() error {
		defer endWork()
		return do(running)
	})
	return group.Wait()
}

// describe lists what a run created.
func describe(r seed.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d new accounts", r.Accounts)
	if r.Reused > 0 {
		fmt.Fprintf(&b, ", %d existing accounts", r.Reused)
	}
	if r.NamesTaken > 0 {
		fmt.Fprintf(&b, ", %d usernames skipped because other users have them", r.NamesTaken)
	}
	fmt.Fprintf(&b, "; %d new follows; %d new posts; all posts are delivered", r.Follows, r.Posts)
	return b.String()
}
