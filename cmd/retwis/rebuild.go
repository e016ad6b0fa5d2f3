package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/cli"
	"retwis/internal/record"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/inspect"
	"retwis/internal/terminal"
)

// rebuildCommand rebuilds home timelines.
type rebuildCommand struct {
	User string `xor:"whose" required:"" placeholder:"NAME" help:"Rebuild the home timeline of this user."`
	All  bool   `xor:"whose" required:"" help:"Rebuild all stored home timelines. Evicted ones are rebuilt when they are read."`

	databaseSettings
}

// Help is the text after the flags.
func (*rebuildCommand) Help() string {
	return "Removes the entries of home timelines and collects them again from the profiles of the followed users. The service may " +
		"run meanwhile: readers get complete timelines, and live subscribers are asked to reload. Set the same limits as for the service."
}

// Validate checks the flags.
func (c *rebuildCommand) Validate() error {
	if !c.All && !retwis.IsUsername(c.User) {
		return fmt.Errorf("--user is %q: set it to a username", c.User)
	}
	return c.databaseSettings.check()
}

// Run rebuilds home timelines and prints how many.
func (c *rebuildCommand) Run(ctx context.Context, console cli.Console) error {
	db, err := c.open(ctx, console)
	if err != nil {
		return err
	}
	defer db.close(ctx)
	if !c.All {
		return rebuildOne(ctx, db.store, c.User, console)
	}
	return rebuildAll(ctx, db.store, console)
}

func rebuildOne(ctx context.Context, db *store.Store, name string, console cli.Console) error {
	user, err := db.Accounts.UserByName(ctx, name)
	if errors.Is(err, retwis.ErrNotFound) {
		return cli.Misusef("user %s does not exist", name)
	}
	if err == nil {
		err = db.Timelines.Recreate(ctx, retwis.Home(user.ID))
	}
	if err != nil {
		return explainRedis(err)
	}
	_, err = fmt.Fprintf(console.Out, "Rebuilt the home timeline of %s.\n", user.Username)
	return err
}

func rebuildAll(ctx context.Context, db *store.Store, console cli.Console) error {
	const atOnce = 8 // each reads hundreds of profiles
	began := time.Now()
	progress := terminal.NewProgress(console.Err)
	found := progress.Begin("users found", 0)
	var users []retwis.UserID
	err := inspect.New(db).Scan(ctx, func(some record.Scanned) error {
		found.Add(len(some.Users))
		users = append(users, some.Users...)
		return nil
	})
	found.End()
	if err != nil {
		return explainRedis(err)
	}
	slices.Sort(users)
	users = slices.Compact(users)

	p := progress.Begin("home timelines", len(users))
	var built atomic.Int64
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, user := range users {
		if running.Err() != nil {
			break
		}
		group.Go(func() error {
			defer p.Add(1)
			there, err := db.Timelines.RecreateIfStored(running, retwis.Home(user))
			if there {
				built.Add(1)
			}
			return err
		})
	}
	err = group.Wait()
	p.End()
	if err != nil || ctx.Err() != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("stopped after %d home timelines were rebuilt", built.Load())
		}
		return fmt.Errorf("%d home timelines were rebuilt, then: %w", built.Load(), explainRedis(err))
	}
	_, err = fmt.Fprintf(console.Out, "Rebuilt %d home timelines of %d users in %s.\n",
		built.Load(), len(users), time.Since(began).Round(time.Millisecond))
	return err
}
