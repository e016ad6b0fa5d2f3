package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"retwis/internal/bench/live"
	"retwis/internal/bench/page"
	"retwis/internal/bench/process"
	"retwis/internal/cli"
)

// childCommand runs a server whose CPU time and memory are measured. Measurements start it.
type childCommand struct {
	Kind     string `arg:"" help:"The server."`
	RedisURL string `name:"redis-url" required:"" placeholder:"URL" help:"The Redis with its data."`
}

// Run serves until the standard input ends.
func (c *childCommand) Run(ctx context.Context, console cli.Console) error {
	log := slog.New(slog.NewTextHandler(console.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	start := page.NewServer
	switch c.Kind {
	case live.Ours, live.Stock, live.Raw, live.Centrifuge:
		start = live.NewServer
	case page.Ours, page.Cold, page.Gqlgen, page.Raw, page.Static:
	default:
		return cli.Misuse(fmt.Errorf("unknown server %q", c.Kind))
	}
	server, err := start(ctx, c.Kind, c.RedisURL, log)
	if err != nil {
		return err
	}
	return process.Main(ctx, server, os.Stdin, console.Out)
}
