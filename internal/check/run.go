package check

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/record"
	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

// subject is a unit of inspection: a user, a name, a hashtag, the replies or quotes of a post, its likes, or an index of a partition. The zero
// subject is the public timeline.
type subject struct {
	user       retwis.UserID
	name       string
	referenced record.Referenced
	liked      retwis.PostID
	tag        retwis.TagID
	partition  int
}

type checker struct {
	db      Database
	first   inspector // of first inspections, whose findings are confirmed
	options Options

	mu     sync.Mutex
	report Report
}

// maxSuspects bounds the number of subjects that wait for their next inspection.
const maxSuspects = 500

// Run checks a database and repairs findings if Options.Repair is set. Its duration is
// proportional to the size of the database.
func Run(ctx context.Context, db Database, options Options) (Report, error) {
	c := &checker{
		db:      db,
		first:   inspector{db: newRemembered(db, maxRememberedEntries)},
		options: options.withDefaults(),
		report:  Report{Counts: map[Kind]int{}, Examples: []Finding{}, edges: map[findingKey]bool{}},
	}
	began := time.Now()
	all, err := c.subjects(ctx)
	if err != nil {
		return c.report, err
	}
	c.report.Users = len(all.users)
	if c.options.Sample == 0 {
		c.first.tally = newFollowerTally()
	}
	err = c.checkParts(ctx, []part{
		{"names", all.names, inspector.inspectNameClaim},
		// A repair makes records and claims agree before it looks at the timelines, which a hashtag without a record loses.
		{"hashtags", all.tags, inspector.inspectTag},
		{"names of hashtags", all.tagNames, inspector.inspectTagName},
		{"timelines of hashtags", all.tags, inspector.inspectTagPosts},
		{"accounts", all.users, inspector.inspectAccount},
	})
	if err != nil {
		return c.report, err
	}
	err = c.checkParts(ctx, []part{
		{"followers", c.first.tally.differing(), inspector.inspectFollowers}, // as the accounts have counted them
		{"newest users", c.partitions(), inspector.inspectNewestUsers},
		{"people search", c.partitions(), inspector.inspectPeopleSearch},
		{"replies and quotes", all.referenced, inspector.inspectReferences},
		{"likes", all.liked, inspector.inspectLikes},
		{"timelines", all.users, inspector.inspectTimelines},
		{"public timeline", []subject{{}}, inspector.inspectPublic},
	})
	if err != nil {
		return c.report, err
	}
	c.report.Took = time.Since(began)
	return c.report, nil
}

// part is a part of a check: subjects, and how to inspect each of them.
type part struct {
	name     string
	subjects []subject
	look     inspect
}

func (c *checker) checkParts(ctx context.Context, parts []part) error {
	for _, p := range parts {
		if err := c.checkAll(ctx, p.name, p.subjects, p.look); err != nil {
			return fmt.Errorf("check %s: %w", p.name, err)
		}
	}
	return nil
}

// subjects are the subjects that a scan has found, by kind.
type subjects struct{ users, names, tagNames, tags, referenced, liked []subject }

// subjects returns the subjects to inspect. With a sample it returns users only: the inspection of an account covers the name
// of the account, and the replies, quotes, likes and hashtags of the user.
func (c *checker) subjects(ctx context.Context) (subjects, error) {
	add, end := c.options.Progress("users found", 0)
	defer end()
	var all subjects
	var ids []retwis.UserID
	var liked []retwis.PostID
	var tags []retwis.TagID
	err := c.db.Scan(ctx, func(found record.Scanned) error {
		add(len(found.Users))
		ids = append(ids, found.Users...)
		if c.options.Sample == 0 {
			for _, claim := range found.Names {
				all.names = append(all.names, subject{name: claim.Folded})
			}
			for _, set := range found.Referenced {
				all.referenced = append(all.referenced, subject{referenced: set})
			}
			liked = append(liked, found.Liked...) // once for each partition
			tags = append(tags, found.Tags...)    // once for each key
			for _, folded := range found.TagNames {
				all.tagNames = append(all.tagNames, subject{name: folded})
			}
		}
		return nil
	})
	if err != nil {
		return all, err
	}
	slices.Sort(liked)
	for _, post := range slices.Compact(liked) {
		all.liked = append(all.liked, subject{liked: post})
	}
	slices.Sort(tags)
	for _, tag := range slices.Compact(tags) {
		all.tags = append(all.tags, subject{tag: tag})
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if n := c.options.Sample; n > 0 && n < len(ids) {
		r := rand.New(rand.NewPCG(c.options.Seed, 0))
		r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		ids = ids[:n]
	}
	for _, id := range ids {
		all.users = append(all.users, subject{user: id})
	}
	return all, nil
}

func (c *checker) partitions() []subject {
	all := make([]subject, c.db.Partitions())
	for i := range all {
		all[i].partition = i
	}
	return all
}

// checkAll inspects all subjects, and confirms their findings by repeated inspections.
func (c *checker) checkAll(ctx context.Context, name string, subjects []subject, look inspect) error {
	if len(subjects) == 0 {
		return nil
	}
	add, end := c.options.Progress(name, len(subjects))
	defer end()
	var suspects []suspect
	for batch := range slices.Chunk(subjects, 8*c.options.Parallel) {
		found, err := c.inspectAll(ctx, c.first, batch, look, true)
		if err != nil {
			return err
		}
		for i, s := range batch {
			if len(found[i]) > 0 {
				suspects = append(suspects, suspect{s, found[i]})
			}
		}
		if len(suspects) >= maxSuspects {
			if err := c.confirm(ctx, suspects, look); err != nil {
				return err
			}
			suspects = nil
		}
		add(len(batch))
	}
	return c.confirm(ctx, suspects, look)
}

// inspectAll inspects subjects concurrently. It returns the findings of each subject.
func (c *checker) inspectAll(ctx context.Context, i inspector, subjects []subject, look inspect, count bool) ([][]Finding, error) {
	found := make([][]Finding, len(subjects))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.options.Parallel)
	for n, s := range subjects {
		group.Go(func() error {
			var l inspection
			err := c.retried(ctx, func() (err error) { l, err = look(i, ctx, s); return err })
			if err != nil {
				return err
			}
			found[n] = distinct(l.findings)
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

// retries is how often an inspection or a repair is repeated that failed, with pauses of 1, 2, 4… seconds: for half a minute, as long as a
// failover takes.
const retries = 5

// retried repeats an inspection or a repair after failures that pass by themselves: a check of a large database takes long enough for a
// failover. Repairs may be repeated, because each compares what is stored with what should be.
func (c *checker) retried(ctx context.Context, attempt func() error) error {
	for try := 0; ; try++ {
		err := attempt()
		if err == nil || try == retries || !c.db.Passes(err) {
			return err
		}
		if err := sleep.For(ctx, time.Second<<try); err != nil {
			return err
		}
	}
}

// distinct removes repeated findings: an inspection finds an edge between two timelines of
// one user twice.
func distinct(findings []Finding) []Finding {
	at := map[findingKey]bool{}
	return slices.DeleteFunc(findings, func(f Finding) bool {
		if f.Kind == Duplicate {
			return false // each surplus entry is a finding
		}
		there := at[f.key()]
		at[f.key()] = true
		return there
	})
}
