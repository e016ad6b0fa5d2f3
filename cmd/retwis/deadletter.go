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

	"retwis/internal/cli"
	"retwis/internal/outbox"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// letterCommands manage the dead-letter queue: the outbox entries that failed permanently.
type letterCommands struct {
	List    listLetters    `cmd:"" help:"List the entries of the dead-letter queue, with their errors."`
	Requeue requeueLetters `cmd:"" aliases:"replay" help:"Put entries back into their outboxes, after the cause is fixed."`
}

// letterSettings name the database.
type letterSettings struct {
	redisSettings
	dataSettings
	logSettings
}

// Validate checks the flags.
func (s letterSettings) Validate() error {
	return errors.Join(s.redisSettings.checkPersistent(), s.dataSettings.check(s.redisSettings))
}

// open opens an existing database, whatever its limits are.
func (s letterSettings) open(ctx context.Context, console cli.Console) (*database, error) {
	options := store.Options{Log: s.logger(console.Err), Existing: true}
	return openKept(ctx, s.RedisURL, s.DataDir, options)
}

type listLetters struct{ letterSettings }

// Run prints a table.
func (c *listLetters) Run(ctx context.Context, console cli.Console) error {
	db, err := c.open(ctx, console)
	if err != nil {
		return err
	}
	defer db.close(ctx)
	letters, err := db.store.Outbox.DeadLetters(ctx)
	if err != nil {
		return explainRedis(err)
	}
	if len(letters) == 0 {
		_, err := fmt.Fprintln(console.Out, "The dead-letter queue is empty.")
		return err
	}
	return printLetters(console.Out, letters, time.Now())
}

func printLetters(w io.Writer, letters []outbox.DeadLetter, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ID\tPARTITION\tKIND\tAUTHOR\tFOR\tPOST\tAGE\tREASON") // Flush returns the error
	for _, l := range letters {
		e := l.Entry
		_, _ = fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", letterID(l), e.Outbox, orDash(string(e.Kind)),
			orDash(e.Fields["author"]), recipient(e), orDash(e.Fields["post"]), age(l, now),
			strings.Join(strings.Fields(l.Reason), " "))
	}
	return table.Flush()
}

// recipient returns the timeline or user that an entry is for, or - for all followers of its author.
func recipient(e outbox.Entry) string {
	switch {
	case e.Timeline.Kind == retwis.HomeTimeline:
		return "home:" + e.Timeline.Owner.String()
	case e.Timeline.Kind == retwis.ListTimeline:
		return "list:" + e.Timeline.Owner.String()
	default:
		return orDash(cmp.Or(e.Fields["user"], e.Fields["list"]))
	}
}

// letterID returns the id of a dead letter among those of all partitions.
func letterID(l outbox.DeadLetter) string { return strconv.Itoa(l.Entry.Outbox) + "/" + l.ID }

// age returns the time since an entry failed. Its id begins with that time in milliseconds.
func age(l outbox.DeadLetter, now time.Time) string {
	millis, _, _ := strings.Cut(l.ID, "-")
	n, err := strconv.ParseInt(millis, 10, 64)
	if err != nil {
		return "-"
	}
	return now.Sub(time.UnixMilli(n)).Truncate(time.Second).String()
}

func orDash(s string) string { return cmp.Or(strings.Join(strings.Fields(s), " "), "-") }

type requeueLetters struct {
	All bool     `xor:"which" required:"" help:"Requeue all entries."`
	ID  []string `name:"id" xor:"which" required:"" placeholder:"ID" help:"Requeue the entry with this id of the list; may be repeated."`

	letterSettings
}

var letterIDs = regexp.MustCompile(`^[0-9]+/[0-9]+-[0-9]+$`)

// Validate checks the flags.
func (c *requeueLetters) Validate() error {
	for _, id := range c.ID {
		if !letterIDs.MatchString(id) {
			return fmt.Errorf("--id is %q: %s", id, letterIDFormat)
		}
	}
	return c.letterSettings.Validate()
}

const letterIDFormat = "use an id of retwis deadletter list, like 3/1767225600000-0"

// Run requeues entries and prints how many.
func (c *requeueLetters) Run(ctx context.Context, console cli.Console) error {
	if !c.All && len(c.ID) == 0 {
		return cli.Misusef("--id is empty: %s", letterIDFormat)
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
	letters, err := db.store.Outbox.DeadLetters(ctx)
	if err != nil {
		return explainRedis(err)
	}
	requeued := 0
	for _, l := range letters {
		if !c.All && !wanted[letterID(l)] {
			continue
		}
		there, err := db.store.Outbox.Requeue(ctx, l)
		if err != nil {
			return fmt.Errorf("%d entries were requeued, then: %w", requeued, explainRedis(err))
		}
		if there {
			requeued++
			delete(wanted, letterID(l))
		}
	}
	_, _ = fmt.Fprintf(console.Out, "Requeued %d of %d entries.\n", requeued, len(letters))
	if len(wanted) > 0 {
		return fmt.Errorf("not in the dead-letter queue: %s", strings.Join(slices.Sorted(maps.Keys(wanted)), ", "))
	}
	return nil
}
