package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"retwis/internal/auth"
	"retwis/internal/fanout"
	"retwis/internal/seed"
	"retwis/internal/store"
)

// demoSettings let a service start with people in it.
type demoSettings struct {
	Demo       bool `env:"RETWIS_DEMO" help:"Start with a small network of made-up people who post now and then, in an empty database. Their password is password."`
	DemoAnyway bool `env:"RETWIS_DEMO_ANYWAY" help:"With --demo: let them move into a database that holds other accounts or data too."`
}

func (s demoSettings) check() error {
	if s.DemoAnyway && !s.Demo {
		return errors.New("--demo-anyway (RETWIS_DEMO_ANYWAY) says how to do what --demo does: give both, or neither")
	}
	return nil
}

// demoPopulation is small enough to be there in a second, and to be read by one person.
func demoPopulation() seed.Population {
	return seed.Population{Seed: 1, People: 150, Follows: 25, Posts: 1500}
}

// people makes the people of the demonstration, or finds them. Without --demo it returns
// nil.
func (s demoSettings) people(ctx context.Context, db *store.Store, accounts *auth.Accounts, log *slog.Logger) (*seed.Seeder, error) {
	if !s.Demo {
		return nil, nil //nolint:nilnil // nobody was asked for
	}
	ours, err := db.BecomeDemo(ctx, s.DemoAnyway)
	if err != nil {
		return nil, fmt.Errorf("prepare the demonstration: %w", err)
	}
	if !ours {
		return nil, misusef("the database holds other data, and --demo fills it with made-up people: choose an empty one " +
			"by --data-dir (RETWIS_DATA_DIR) or --redis-url (RETWIS_REDIS_URL), or add --demo-anyway")
	}
	seeder := seed.New(demoPopulation(), db, accounts, seed.Options{})
	if err := besideWorker(ctx, fanout.New(db, fanout.Options{Log: log}), seeder.Run); err != nil {
		return nil, fmt.Errorf("prepare the demonstration: %w", err)
	}
	return seeder, nil
}

// announceDemo prints whom one can be, in the form of the log lines around it.
func (s logSettings) announceDemo(w io.Writer, names []string) {
	if s.LogFormat == "json" {
		slog.New(slog.NewJSONHandler(w, nil)).Info("demo", "usernames", names, "password", seed.Password)
		return
	}
	_, _ = fmt.Fprintf(w, "It is a demonstration: log in as %s with the password: %s\n", strings.Join(names, ", "), seed.Password)
}
