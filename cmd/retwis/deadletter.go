package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// letterCommands are about entries that the worker gave up.
type letterCommands struct {
	List   listLetters   `cmd:"" help:"List what was given up, and why."`
	Replay replayLetters `cmd:"" help:"Queue it again, once what was wrong is mended."`
}

// letterSettings say in which database to look.
type letterSettings struct {
	redisSettings
	dataSettings
	logSettings
}

// Validate is called once all flags are read.
func (s letterSettings) Validate() error {
	return errors.Join(s.redisSettings.outliving(), s.dataSettings.check(s.redisSettings))
}

// open opens the database that is there, whatever its bounds.
func (s letterSettings) open(ctx context.Context, console console) (*database, error) {
	options := store.Options{Log: s.logger(console.err), Existing: true}
	return openKept(ctx, s.RedisURL, s.DataDir, options)
}

type listLetters struct{ letterSettings }

// Run prints a table.
func (c *listLetters) Run(ctx context.Context, console console) error {
	db, err := c.open(ctx, console)
	if err != nil {
		return err
	}
	defer db.close(ctx)
	letters, err := db.store.DeadLetters(ctx)
	if err != nil {
		return mendRedis(err)
	}
	if len(letters) == 0 {
		_, err := fmt.Fprintln(console.out, "There are no dead letters.")
		return err
	}
	return printLetters(console.out, letters, time.Now())
}

func printLetters(w io.Writer, letters []outbox.DeadLetter, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ID\tPARTITION\tKIND\tAUTHOR\tFOR\tPOST\tAGE\tREASON") // Flush tells of errors
	for _, l := range letters {
		e := l.Entry
		_, _ = fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", letterID(l), e.Outbox, orDash(string(e.Kind)),
			orDash(e.Fields["author"]), whom(e), orDash(e.Fields["post"]), age(l, now),
			strings.Join(strings.Fields(l.Reason), " "))
	}
	return table.Flush()
}

// whom says for whom an entry is, where it is not for all who follow its author.
func whom(e outbox.Entry) string {
	switch {
	case e.Timeline.Kind == retwis.HomeTimeline:
		return "home:" + e.Timeline.Owner.String()
	case e.Timeline.Kind == retwis.ListTimeline:
		return "list:" + e.Timeline.Owner.String()
	default:
		return orDash(cmp.Or(e.Fields["user"], e.Fields["list"]))
	}
}

// letterID names a dead letter among those of all partitions.
func letterID(l outbox.DeadLetter) string { return strconv.Itoa(l.Entry.Outbox) + "/" + l.ID }

// age says how long ago a letter was given up: its id begins with the milliseconds.
func age(l outbox.DeadLetter, now time.Time) string {
	millis, _, _ := strings.Cut(l.ID, "-")
	n, err := strconv.ParseInt(millis, 10, 64)
	if err != nil {
		return "-"
	}
	return now.Sub(time.UnixMilli(n)).Truncate(time.Second).String()
}

func orDash(s string) string { return cmp.Or(strings.Join(strings.Fields(s), " "), "-") }

type replayLetters struct {
	All bool     `xor:"which" required:"" help:"Queue every dead letter again."`
	ID  []string `name:"id" xor:"which" required:"" placeholder:"ID" help:"Queue this one again, named as in the list; may be repeated."`

	letterSettings
}

var letterIDs = regexp.MustCompile(`^[0-9]+/[0-9]+-[0-9]+$`)

// Validate is called once all flags are read.
func (c *replayLetters) Validate() error {
	for _, id := range c.ID {
		if !letterIDs.MatchString(id) {
			return fmt.Errorf("--id is %q: %s", id, howToName)
		}
	}
	return c.letterSettings.Validate()
}

const howToName = "name a dead letter as the list does, like 3/1767225600000-0"

// Run queues letters again and says how many.
func (c *replayLetters) Run(ctx context.Context, console console) error {
	if !c.All && len(c.ID) == 0 {
		return misusef("--id is empty: %s", howToName)
	}
	wanted := map[string]bool{}
	for _, id := range c.ID {
		wanted[id] = true
	}
	db, err := c.open(ctx, console)
	if err != nil {
		return err
	}
	defer db.close(ctx)
	letters, err := db.store.DeadLetters(ctx)
	if err != nil {
		return mendRedis(err)
	}
	revived := 0
	for _, l := range letters {
		if !c.All && !wanted[letterID(l)] {
			continue
		}
		there, err := db.store.Revive(ctx, l)
		if err != nil {
			return fmt.Errorf("%d were queued again, then: %w", revived, mendRedis(err))
		}
		if there {
			revived++
			delete(wanted, letterID(l))
		}
	}
	_, _ = fmt.Fprintf(console.out, "%d of %d dead letters were queued again.\n", revived, len(letters))
	if len(wanted) > 0 {
		return fmt.Errorf("there is no dead letter %s", strings.Join(slices.Sorted(maps.Keys(wanted)), ", "))
	}
	return nil
}
