package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/record"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/terminal"
)

// rebuildCommand builds homes anew.
type rebuildCommand struct {
	User string `xor:"whose" required:"" placeholder:"NAME" help:"Build the home of this user."`
	All  bool   `xor:"whose" required:"" help:"Build every home that is kept ready. Others are built when they are read."`

	databaseSettings
}

// Help is what rebuild --help says besides the flags.
func (*rebuildCommand) Help() string {
	return "Takes the entries of homes away and gathers them anew from the posts of those followed. The service may go on: " +
		"readers find the home complete, and live subscribers are told to fetch it again. Give the same bounds as to the service."
}

// Validate is called once all flags are read.
func (c *rebuildCommand) Validate() error {
	if !c.All && !retwis.IsUsername(c.User) {
		return fmt.Errorf("--user is %q: give the name of a user", c.User)
	}
	return c.databaseSettings.check()
}

// Run builds the homes and says how many.
func (c *rebuildCommand) Run(ctx context.Context, console console) error {
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

func rebuildOne(ctx context.Context, db *store.Store, name string, console console) error {
	user, err := db.UserByName(ctx, name)
	if errors.Is(err, retwis.ErrNotFound) {
		return misusef("there is no user %s", name)
	}
	if err == nil {
		err = db.Renew(ctx, retwis.Home(user.ID))
	}
	if err != nil {
		return mendRedis(err)
	}
	_, err = fmt.Fprintf(console.out, "The home of %s is built anew.\n", user.Username)
	return err
}

func rebuildAll(ctx context.Context, db *store.Store, console console) error {
	const atOnce = 8 // each reads hundreds of profiles
	began := time.Now()
	progress := terminal.NewProgress(console.err)
	found := progress.Begin("users found", 0)
	var users []retwis.UserID
	err := db.Scan(ctx, func(some []retwis.UserID, _ []record.NameClaim) error {
		found.Add(len(some))
		users = append(users, some...)
		return nil
	})
	found.End()
	if err != nil {
		return mendRedis(err)
	}
	slices.Sort(users)
	users = slices.Compact(users)

	p := progress.Begin("homes", len(users))
	var built atomic.Int64
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, user := range users {
		if running.Err() != nil {
			break
		}
		group.Go(func() error {
			defer p.Add(1)
			there, err := db.RenewIfKept(running, retwis.Home(user))
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
			return fmt.Errorf("stopped when %d homes were built anew", built.Load())
		}
		return fmt.Errorf("%d homes were built anew, then: %w", built.Load(), mendRedis(err))
	}
	_, err = fmt.Fprintf(console.out, "%d homes of %d users are built anew, in %s.\n",
		built.Load(), len(users), time.Since(began).Round(time.Millisecond))
	return err
}
