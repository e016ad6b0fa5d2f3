package check

import (
	"context"
	"fmt"
	"slices"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// repair repairs findings in the order of their dependencies. It inspects each timeline again
// after it has repaired edges and profiles, and rebuilds the timelines that still differ.
func (c *checker) repair(ctx context.Context, suspects []suspect, look inspect) error {
	for _, repair := range []func(context.Context, []Finding) error{
		c.repairNames, c.repairTags, c.repairEdges, c.repairFollowerPartitions, c.repairProfiles, c.repairReferences, c.repairReposts, c.repairHiddenReposters, c.repairLikes, c.repairMarkers, c.repairCounts, c.repairSearchWords, c.repairSearchEntries, c.repairNewestUsers,
	} {
		for _, s := range suspects {
			if err := repair(ctx, s.found); err != nil {
				return fmt.Errorf("repair: %w", err)
			}
		}
	}
	for _, s := range suspects {
		if !slices.ContainsFunc(s.found, func(f Finding) bool { return f.Kind.OfEntries() }) {
			continue
		}
		var now inspection
		err := c.retried(ctx, func() (err error) { now, err = look(inspector{db: c.db}, ctx, s.subject); return err })
		if err == nil {
			err = c.repairTimelines(ctx, s.found, now.findings)
		}
		if err != nil {
			return fmt.Errorf("repair: %w", err)
		}
	}
	return nil
}

// each calls repair for the findings of some kinds and counts them as repaired.
func (c *checker) each(ctx context.Context, found []Finding, repair func(Finding) error, kinds ...Kind) error {
	for _, f := range found {
		if !slices.Contains(kinds, f.Kind) {
			continue
		}
		if err := c.retried(ctx, func() error { return repair(f) }); err != nil {
			return err
		}
		c.report.Repaired++
	}
	return nil
}

func (c *checker) repairNames(ctx context.Context, found []Finding) error {
	return c.each(ctx, found, func(f Finding) error {
		borne, err := c.db.RepairName(ctx, f.detail, f.User)
		if err == nil && !borne {
			c.report.Repaired-- // two accounts have the name: an operator has to rename one
		}
		return err
	}, NameMissing, NameTaken)
}

func (c *checker) repairTags(ctx context.Context, found []Finding) error {
	err := c.each(ctx, found, func(f Finding) error { return c.db.RepairTag(ctx, f.detail, f.Timeline.Tag()) }, TagName)
	if err != nil {
		return err
	}
	return c.each(ctx, found, func(f Finding) error { return c.db.InsertEntry(ctx, f.Timeline, f.element) }, TagMissing)
}

func (c *checker) repairEdges(ctx context.Context, found []Finding) error {
	return c.each(ctx, found, func(f Finding) error { return c.db.RepairEdge(ctx, f.Timeline, f.User) }, OneWayEdge, DanglingEdge)
}

func (c *checker) repairFollowerPartitions(ctx context.Context, found []Finding) error {
	return c.each(ctx, found, func(f Finding) error {
		kind := retwis.HomeTimeline
		if f.detail == "lists" {
			kind = retwis.ListTimeline
		}
		return c.db.RepairAuthorPartition(ctx, f.User, kind, f.partition)
	}, FollowerPartition, FollowerPartitionCount)
}

func (c *checker) repairProfiles(ctx context.Context, found []Finding) error {
	return c.each(ctx, found, func(f Finding) error {
		if err := c.db.RepairProfileEntry(ctx, f.User, f.element); err != nil || f.Kind != ProfileMissing {
			return err
		}
		return c.db.RepairCounts(ctx, f.User)
	}, ProfileMissing, ProfileExtra, ProfileDuplicate, ProfileOrder)
}

func (c *checker) repairMarkers(ctx context.Context, found []Finding) error {
	return c.each(ctx, found, func(f Finding) error { return c.db.RepairMarker(ctx, f.Timeline, f.detail) }, Marker)
}

func (c *checker) repairReferences(ctx context.Context, found []Finding) error {
	return c.each(ctx, found, func(f Finding) error { return c.db.RepairReference(ctx, f.referenced, f.detail) }, ReplyMissing, ReplyExtra, QuoteMissing, QuoteExtra, RepostMissing, RepostExtra)
}

func (c *checker) repairReposts(ctx context.Context, found []Finding) error {
	return c.each(ctx, found, func(f Finding) error { return c.db.RepairRepostOfUser(ctx, f.User, f.detail) }, RepostOfUser)
}

func (c *checker) repairHiddenReposters(ctx context.Context, found []Finding) error {
	return c.each(ctx, found, func(f Finding) error { return c.db.RepairHiddenReposter(ctx, f.User, f.detail) }, HiddenReposter)
}

func (c *checker) repairCounts(ctx context.Context, found []Finding) error {
	return c.each(ctx, found, func(f Finding) error { return c.db.RepairCounts(ctx, f.User) }, Count)
}

func (c *checker) repairSearchWords(ctx context.Context, found []Finding) error {
	return c.each(ctx, found, func(f Finding) error { return c.db.RepairSearchWords(ctx, f.User, f.detail) }, SearchWords)
}

func (c *checker) repairSearchEntries(ctx context.Context, found []Finding) error {
	return c.each(ctx, found, func(f Finding) error {
		return c.db.RepairSearchEntry(ctx, f.partition, record.SearchEntry{Text: f.detail, User: f.User})
	}, SearchExtra)
}

func (c *checker) repairNewestUsers(ctx context.Context, found []Finding) error {
	return c.each(ctx, found, func(f Finding) error { return c.db.RepairNewestUser(ctx, f.partition, f.User) }, NewestMissing, NewestExtra)
}

// repairTimelines rebuilds the homes and list timelines that still differ. It removes wrong
// and duplicate entries from mentions, timelines of hashtags and the public timeline, which cannot be rebuilt.
func (c *checker) repairTimelines(ctx context.Context, found []Finding, now []Finding) error {
	rebuild := map[retwis.TimelineID]bool{}
	deduplicate := map[retwis.TimelineID]map[retwis.Element]int{}
	for _, f := range now {
		if !f.Kind.OfEntries() || !slices.ContainsFunc(found, func(s Finding) bool { return s.Timeline == f.Timeline && s.Kind.OfEntries() }) {
			continue
		}
		if f.Timeline.FannedOut() {
			rebuild[f.Timeline] = true
			continue
		}
		if deduplicate[f.Timeline] == nil {
			deduplicate[f.Timeline] = map[retwis.Element]int{}
		}
		if _, ok := deduplicate[f.Timeline][f.element]; !ok || f.Kind == Extra {
			deduplicate[f.Timeline][f.element] = 0
			if f.Kind == Duplicate {
				deduplicate[f.Timeline][f.element] = 1
			}
		}
	}
	for id := range rebuild {
		if err := c.retried(ctx, func() error { _, err := c.db.RecreateIfStored(ctx, id); return err }); err != nil {
			return err
		}
	}
	for id, stay := range deduplicate {
		if err := c.retried(ctx, func() error { return c.db.RemoveEntries(ctx, id, stay) }); err != nil {
			return err
		}
	}
	return c.each(ctx, found, func(Finding) error { return nil }, Missing, Extra, Duplicate, OutOfOrder)
}
