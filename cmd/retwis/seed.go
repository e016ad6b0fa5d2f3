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
	"retwis/internal/fanout"
	"retwis/internal/seed"
	"retwis/internal/terminal"
)

// seedCommand fills a database.
type seedCommand struct {
	Users      int    `default:"1000" placeholder:"N" help:"People to register."`
	AvgFollows int    `default:"20" placeholder:"N" help:"How many of them each follows, on average; some are followed much more than others."`
	Posts      int    `default:"5000" placeholder:"N" help:"Posts, by any of them."`
	Star       int    `default:"0" placeholder:"N" help:"Register star as well, and this many more people, reader0 and so on, who follow star."`
	Seed       uint64 `default:"1" placeholder:"N" help:"Another number makes other people, follows and texts."`
	Parallel   int    `default:"4" placeholder:"N" help:"Batches under way at once."`

	redisSettings
	dataSettings
	storeSettings
	logSettings
}

// Help is what seed --help says besides the flags.
func (*seedCommand) Help() string {
	return "Everybody's password is " + seed.Password + ". The posts are spread over the last 30 days. The same --seed makes the same " +
		"people, follows and texts. What an earlier run made is not made twice, so a run that broke off goes on with the " +
		"same flags. Names that somebody else has are left alone."
}

// Validate is called once all flags are read.
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
	return errors.Join(c.redisSettings.outliving(), c.dataSettings.check(c.redisSettings), c.storeSettings.check())
}

// population is what the flags ask for. Without people nobody follows or posts.
func (c *seedCommand) population() seed.Population {
	p := seed.Population{
		Seed: c.Seed, People: c.Users, Follows: min(c.AvgFollows, max(c.Users-1, 0)), Posts: c.Posts, Readers: c.Star,
	}
	if p.People == 0 {
		p.Posts = 0
	}
	return p
}

// Run fills the database and returns when all of it is delivered, or, when ctx is done,
// as soon as what is under way has ended.
func (c *seedCommand) Run(ctx context.Context, console console) error {
	log := c.logger(console.err)
	err := c.fill(ctx, console, log)
	if err != nil && isStop(ctx, err) {
		_, _ = fmt.Fprintln(console.out, "Stopped. The same command goes on where it was.")
	}
	return err
}

func (c *seedCommand) fill(ctx context.Context, console console, log *slog.Logger) error {
	db, err := openKept(ctx, c.RedisURL, c.DataDir, c.storeSettings.options(log))
	if err != nil {
		return err
	}
	defer db.close(ctx)
	accounts, err := auth.NewAccounts(db.store, auth.Options{Log: log})
	if err != nil {
		return fmt.Errorf("prepare accounts: %w", err)
	}

	if p := c.population(); p.People > 0 && p.Follows < c.AvgFollows {
		_, _ = fmt.Fprintf(console.err, "Of %d people nobody can follow more than the %d others: --avg-follows is taken for %d, not %d.\n",
			p.People, p.Follows, p.Follows, c.AvgFollows)
	}
	progress := terminal.NewProgress(console.err)
	seeder := seed.New(c.population(), db.store, accounts, seed.Options{Parallel: c.Parallel, Progress: progress.Part})
	started := time.Now()
	err = besideWorker(ctx, fanout.New(db.store, fanout.Options{Log: log}), seeder.Run)
	if err != nil {
		return mendRedis(err)
	}
	_, _ = fmt.Fprintf(console.out, "Seeded in %s: %s.\n", time.Since(started).Round(time.Millisecond), describe(seeder.Result()))
	for _, name := range seeder.MostPopular(1) {
		_, _ = fmt.Fprintf(console.out, "Log in as %s, or any of them, with the password: %s\n", name, seed.Password)
	}
	return nil
}

// besideWorker does something while a worker delivers, and ends both.
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

// describe says what was made.
func describe(r seed.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d new accounts", r.Accounts)
	if r.Reused > 0 {
		fmt.Fprintf(&b, ", %d that were there used again", r.Reused)
	}
	if r.NamesTaken > 0 {
		fmt.Fprintf(&b, ", %d names that somebody else has left out", r.NamesTaken)
	}
	fmt.Fprintf(&b, "; %d new follows; %d new posts; everything is delivered", r.Follows, r.Posts)
	return b.String()
}
