package check

import (
	"context"
	"time"

	"retwis/internal/outbox"
)

// suspect is a subject with what a look found wrong.
type suspect struct {
	subject
	found []Finding
}

// confirm looks again at what seemed to be wrong, each time after everything has been carried
// out that was under way when it was seen. What stays wrong in the same way is reported,
// what is gone is not. Where a user acts all the time, what is seen again may be another
// instance of the same: it is looked at more often.
func (c *checker) confirm(ctx context.Context, suspects []suspect, look func(context.Context, subject) (inspection, error)) error {
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
		again, err := c.inspectAll(ctx, subjects, look, false)
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
			break // by patience alone nothing gets clearer
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

// compareInspections tells of what two looks in a row found what is sure to be wrong, and what
// has to be looked at again. What only the later one found came up since: it is left to the
// next check.
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

// settle waits until everything is carried out that waits in the outboxes now, and reports
// whether that came about in time.
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
