package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"retwis/internal/auth"
	"retwis/internal/cli"
	"retwis/internal/fanout"
	"retwis/internal/seed"
	"retwis/internal/store"
	"retwis/internal/store/bulk"
	"retwis/web"
)

// demoSettings start a service with demo users.
type demoSettings struct {
	Demo       bool `env:"RETWIS_DEMO" help:"Fill an empty database with demo users, who follow each other and post every now and then. Their password is: password."`
	DemoAnyway bool `env:"RETWIS_DEMO_ANYWAY" help:"With --demo: accept a database that contains other data."`
}

func (s demoSettings) check() error {
	if s.DemoAnyway && !s.Demo {
		return errors.New("--demo-anyway (RETWIS_DEMO_ANYWAY) requires --demo: set both, or neither")
	}
	return nil
}

// demoPopulation is small enough to be created within a second.
func demoPopulation() seed.Population {
	return seed.Population{Seed: 1, People: 150, Follows: 25, Posts: 1500}
}

// users creates the demo users, unless they exist. Without --demo it returns nil.
func (s demoSettings) users(ctx context.Context, db *store.Store, accounts *auth.Accounts, log *slog.Logger) (*seed.Seeder, error) {
	if !s.Demo {
		return nil, nil //nolint:nilnil // nil means that there is no demo
	}
	importer := bulk.New(db)
	ours, err := importer.MarkAsDemo(ctx, s.DemoAnyway)
	if err != nil {
		return nil, fmt.Errorf("prepare the demo: %w", err)
	}
	if !ours {
		return nil, cli.Misusef("the database contains other data, and --demo would add demo users: choose an empty one " +
			"with --data-dir (RETWIS_DATA_DIR) or --redis-url (RETWIS_REDIS_URL), or add --demo-anyway")
	}
	seeder := seed.New(demoPopulation(), importer, accounts, seed.Options{})
	if err := besideWorker(ctx, fanout.New(db.Outbox, db.Tasks, fanout.Options{Log: log}), seeder.Run); err != nil {
		return nil, fmt.Errorf("prepare the demo: %w", err)
	}
	return seeder, nil
}

// activityStore is what the activity of demo users needs of the store.
type activityStore struct {
	*store.Posts
	*store.Follows
	*store.Timelines
	*store.Accounts
}

// offeredAccounts is how many accounts of a demo are offered to visitors.
const offeredAccounts = 3

// demoAccounts returns the accounts that the welcome page of a demo offers. Without a demo
// there are none.
func demoAccounts(demo *seed.Seeder) []web.DemoAccount {
	if demo == nil {
		return nil
	}
	var accounts []web.DemoAccount
	for _, m := range demo.MostPopular(offeredAccounts) {
		accounts = append(accounts, web.DemoAccount{Username: m.Username, DisplayName: m.DisplayName, Password: seed.Password})
	}
	return accounts
}

// announceDemo prints some demo users, in the format of the log.
func (s logSettings) announceDemo(w io.Writer, accounts []web.DemoAccount) {
	var names []string
	for _, account := range accounts {
		names = append(names, account.Username)
	}
	if s.LogFormat == "json" {
		slog.New(slog.NewJSONHandler(w, nil)).Info("demo", "usernames", names, "password", seed.Password)
		return
	}
	_, _ = fmt.Fprintf(w, "Demo users: log in as %s with the password: %s\n", strings.Join(names, ", "), seed.Password)
}
