package check

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/retwis"
)

// subject is what is looked at: a user, a name, the newest users of a partition, or, when
// it is none of these, what there is once.
type subject struct {
	user   retwis.UserID
	name   string
	newest int
}

type checker struct {
	db      Database
	options Options

	mu     sync.Mutex
	report Report
}

// suspectsHeld is how many subjects with something wrong about them may wait for their
// next look.
const suspectsHeld = 500

// Run checks a database, and mends it where that is asked for. It takes as long as the
// database is large; what is under way is waited for within bounds.
func Run(ctx context.Context, db Database, options Options) (Report, error) {
	c := &checker{
		db:      db,
		options: options.withDefaults(),
		report:  Report{Counts: map[Kind]int{}, Examples: []Finding{}, edges: map[place]bool{}},
	}
	began := time.Now()
	users, names, err := c.subjects(ctx)
	if err != nil {
		return c.report, err
	}
	c.report.Users = len(users)
	for _, part := range []struct {
		name     string
		subjects []subject
		look     func(context.Context, subject) (look, error)
	}{
		{"names", names, c.lookAtName},
		{"accounts", users, c.lookAtAccount},
		{"newest users", c.partitions(), c.lookAtNewest},
		{"timelines", users, c.lookAtTimelines},
		{"public timeline", []subject{{}}, c.lookAtPublic},
	} {
		if err := c.part(ctx, part.name, part.subjects, part.look); err != nil {
			return c.report, fmt.Errorf("check %s: %w", part.name, err)
		}
	}
	c.report.Took = time.Since(began)
	return c.report, nil
}

// subjects finds whom to look at. With a sample the names are those of the users in it.
func (c *checker) subjects(ctx context.Context) (users, names []subject, err error) {
	add, end := c.options.Progress("users found", 0)
	defer end()
	var ids []retwis.UserID
	err = c.db.Scan(ctx, func(found []retwis.UserID, claims []retwis.NameClaim) error {
		add(len(found))
		ids = append(ids, found...)
		if c.options.Sample == 0 {
			for _, claim := range claims {
				names = append(names, subject{name: claim.Folded})
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if n := c.options.Sample; n > 0 && n < len(ids) {
		r := rand.New(rand.NewPCG(c.options.Seed, 0))
		r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		ids = ids[:n]
	}
	for _, id := range ids {
		users = append(users, subject{user: id})
	}
	return users, names, nil
}

func (c *checker) partitions() []subject {
	all := make([]subject, c.db.Partitions())
	for i := range all {
		all[i].newest = i
	}
	return all
}

// suspect is a subject with what a look found wrong.
type suspect struct {
	subject
	found []Finding
}

// part looks at all subjects, and again at those with something wrong.
func (c *checker) part(ctx context.Context, name string, subjects []subject, look func(context.Context, subject) (look, error)) error {
	if len(subjects) == 0 {
		return nil
	}
	add, end := c.options.Progress(name, len(subjects))
	defer end()
	var suspects []suspect
	for batch := range slices.Chunk(subjects, 8*c.options.Parallel) {
		found, err := c.lookAll(ctx, batch, look, true)
		if err != nil {
			return err
		}
		for i, s := range batch {
			if len(found[i]) > 0 {
				suspects = append(suspects, suspect{s, found[i]})
			}
		}
		if len(suspects) >= suspectsHeld {
			if err := c.judge(ctx, suspects, look); err != nil {
				return err
			}
			suspects = nil
		}
		add(len(batch))
	}
	return c.judge(ctx, suspects, look)
}

// lookAll looks at subjects, several at once.
func (c *checker) lookAll(ctx context.Context, subjects []subject, see func(context.Context, subject) (look, error), count bool) ([][]Finding, error) {
	found := make([][]Finding, len(subjects))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.options.Parallel)
	for i, s := range subjects {
		group.Go(func() error {
			l, err := see(ctx, s)
			if err != nil {
				return err
			}
			found[i] = distinct(l.findings)
			if count {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.report.Timelines += l.timelines
				c.report.Entries += l.entries
			}
			return nil
		})
	}
	return found, group.Wait()
}

// distinct leaves out what was found twice, as an edge between two of a user's own.
func distinct(findings []Finding) []Finding {
	at := map[place]bool{}
	return slices.DeleteFunc(findings, func(f Finding) bool {
		if f.Kind == Doubled {
			return false // each surplus entry counts
		}
		there := at[f.place()]
		at[f.place()] = true
		return there
	})
}

// judge looks again at what seemed to be wrong, each time after everything has been carried
// out that was under way when it was seen. What stays wrong in the same way is reported,
// what is gone is not. Where a user acts all the time, what is seen again may be another
// instance of the same: it is looked at more often.
func (c *checker) judge(ctx context.Context, suspects []suspect, look func(context.Context, subject) (look, error)) error {
	var confirmed []suspect
	for round := 1; len(suspects) > 0 && round < c.options.Looks; round++ {
		settled, err := c.settle(ctx)
		if err != nil {
			return err
		}
		subjects := make([]subject, len(suspects))
		for i, s := range suspects {
			subjects[i] = s.subject
		}
		again, err := c.lookAll(ctx, subjects, look, false)
		if err != nil {
			return err
		}
		var left []suspect
		for i, s := range suspects {
			sure, open := compareLooks(s.found, again[i], settled, round == c.options.Looks-1)
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

// compareLooks tells of what two looks in a row found what is sure to be wrong, and what
// has to be looked at again. What only the later one found came up since: it is left to the
// next check.
func compareLooks(before, after []Finding, settled, last bool) (sure, open []Finding) {
	now := map[place][]Finding{}
	for _, f := range after {
		now[f.place()] = append(now[f.place()], f)
	}
	for _, f := range before {
		again := now[f.place()]
		if len(again) == 0 {
			continue
		}
		now[f.place()] = again[1:]
		if (settled || !f.settles) && (again[0].witness == f.witness || last) {
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
	deadline := time.NewTimer(c.options.Patience)
	defer deadline.Stop()
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		starts, err := c.db.OutboxStarts(ctx)
		if err != nil {
			return false, err
		}
		passed := true
		for i, end := range ends {
			passed = passed && (end == "" || starts[i] == "" || retwis.EarlierEntry(end, starts[i]))
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
