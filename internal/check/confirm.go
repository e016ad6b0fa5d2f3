package check

import (
	"context"
	"time"

	"retwis/internal/outbox"
)

// suspect is a subject with the findings of an inspection.
type suspect struct {
	subject
	found []Finding
}

// confirm inspects suspects again and reports the findings that persist. Before each
// inspection it waits until the worker has delivered the entries that existed at the previous
// one. A finding whose witness changed may be a new instance of the same difference, caused by
// a user who is constantly active. confirm inspects such a suspect up to Inspections times.
func (c *checker) confirm(ctx context.Context, suspects []suspect, look inspect) error {
	var confirmed []suspect
	for round := 1; len(suspects) > 0 && round < c.options.Inspections; round++ {
		settled, err := c.settle(ctx)
		if err != nil {
			return err
		}
		subjects := make([]subject, len(suspects))
		for i, s := range suspects {
			subjects[i] = s.subject
		}
		again, err := c.inspectAll(ctx, inspector{db: c.db}, subjects, look, false)
		if err != nil {
			return err
		}
		var left []suspect
		for i, s := range suspects {
			sure, open := compareInspections(s.found, again[i], settled, round == c.options.Inspections-1)
			if len(open) > 0 {
				left = append(left, suspect{s.subject, open})
			}
			if len(sure) > 0 {
				confirmed = append(confirmed, suspect{s.subject, sure})
			}
		}
		suspects = left
		if !settled {
			break // no worker delivers entries, so that another inspection yields nothing new
		}
	}
	for _, s := range suspects {
		c.report.Unsettled += len(s.found)
	}
	for _, s := range confirmed {
		for _, f := range s.found {
			c.report.add(f)
		}
	}
	if !c.options.Repair || len(confirmed) == 0 {
		return nil
	}
	return c.repair(ctx, confirmed, look)
}

// compareInspections compares the findings of two consecutive inspections. It returns the
// findings that are certain and those that need another inspection. It ignores new findings,
// which arose during the check.
func compareInspections(before, after []Finding, settled, last bool) (sure, open []Finding) {
	now := map[findingKey][]Finding{}
	for _, f := range after {
		now[f.key()] = append(now[f.key()], f)
	}
	for _, f := range before {
		again := now[f.key()]
		if len(again) == 0 {
			continue
		}
		now[f.key()] = again[1:]
		if (settled || !f.transient) && (again[0].witness == f.witness || last) {
			sure = append(sure, again[0])
		} else {
			open = append(open, again[0])
		}
	}
	return sure, open
}

// settle waits until the worker has processed all entries that are in the outboxes now. It
// reports false after SettleTimeout.
func (c *checker) settle(ctx context.Context) (bool, error) {
	ends, err := c.db.OutboxEnds(ctx)
	if err != nil {
		return false, err
	}
	deadline := time.NewTimer(c.options.SettleTimeout)
	defer deadline.Stop()
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		starts, err := c.db.OutboxStarts(ctx)
		if err != nil {
			return false, err
		}
		passed := true
		for i, end := range ends {
			passed = passed && (end == "" || starts[i] == "" || outbox.Earlier(end, starts[i]))
		}
		if passed {
			return true, nil
		}
		wait := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			wait.Stop()
			return false, ctx.Err()
		case <-deadline.C:
			wait.Stop()
			return false, nil
		case <-wait.C:
		}
	}
}
