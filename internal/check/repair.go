package check

import (
	"context"
	"fmt"
	"slices"

	"retwis/internal/retwis"
)

// repair mends what was found, what others hang on first: a timeline is compared once more
// when edges and profiles are right, and built anew when it still differs.
func (c *checker) repair(ctx context.Context, suspects []suspect, look func(context.Context, subject) (inspection, error)) error {
	for _, mend := range []func(context.Context, []Finding) error{
		c.repairNames, c.repairEdges, c.repairFollowerPartitions, c.repairProfiles, c.repairCounts, c.repairNewestUsers,
	} {
		for _, s := range suspects {
			if err := mend(ctx, s.found); err != nil {
				return fmt.Errorf("repair: %w", err)
			}
		}
	}
	for _, s := range suspects {
		if !slices.ContainsFunc(s.found, func(f Finding) bool { return f.Kind.OfEntries() }) {
			continue
		}
		now, err := look(ctx, s.subject)
		if err == nil {
			err = c.repairTimelines(ctx, s.found, now.findings)
		}
		if err != nil {
			return fmt.Errorf("repair: %w", err)
		}
	}
	return nil
}

// each calls mend for those findings that are of some kinds, and counts them.
func (c *checker) each(found []Finding, mend func(Finding) error, kinds ...Kind) error {
	for _, f := range found {
		if !slices.Contains(kinds, f.Kind) {
			continue
		}
		if err := mend(f); err != nil {
			return err
		}
		c.report.Repaired++
	}
	return nil
}

func (c *checker) repairNames(ctx context.Context, found []Finding) error {
	return c.each(found, func(f Finding) error {
		borne, err := c.db.MendName(ctx, f.what, f.User)
		if err == nil && !borne {
			c.report.Repaired-- // two bear the name: that is for people to mend
		}
		return err
	}, NameMissing, NameTaken)
}

func (c *checker) repairEdges(ctx context.Context, found []Finding) error {
	return c.each(found, func(f Finding) error { return c.db.MendEdge(ctx, f.Timeline, f.User) }, OneWayEdge, DanglingEdge)
}

func (c *checker) repairFollowerPartitions(ctx context.Context, found []Finding) error {
	return c.each(found, func(f Finding) error {
		kind := retwis.HomeTimeline
		if f.what == "lists" {
			kind = retwis.ListTimeline
		}
		return c.db.MendReach(ctx, f.User, kind, f.partition)
	}, FollowerPartition, FollowerPartitionCount)
}

func (c *checker) repairProfiles(ctx context.Context, found []Finding) error {
	return c.each(found, func(f Finding) error {
		if err := c.db.PlacePost(ctx, f.User, f.Post); err != nil || f.Kind != ProfileMissing {
			return err
		}
		return c.db.MendCounts(ctx, f.User)
	}, ProfileMissing, ProfileExtra, ProfileDuplicate, ProfileOrder)
}

func (c *checker) repairCounts(ctx context.Context, found []Finding) error {
	return c.each(found, func(f Finding) error { return c.db.MendCounts(ctx, f.User) }, Count)
}

func (c *checker) repairNewestUsers(ctx context.Context, found []Finding) error {
	return c.each(found, func(f Finding) error { return c.db.MendNewest(ctx, f.partition, f.User) }, NewestMissing, NewestExtra)
}

// repairTimelines builds the timelines anew that still differ, and weeds those that are
// gathered from nowhere: mentions, and the public timeline.
func (c *checker) repairTimelines(ctx context.Context, found []Finding, now []Finding) error {
	wrong := map[retwis.TimelineID]bool{}
	weeds := map[retwis.TimelineID]map[retwis.PostID]int{}
	for _, f := range now {
		if !f.Kind.OfEntries() || !slices.ContainsFunc(found, func(s Finding) bool { return s.Timeline == f.Timeline && s.Kind.OfEntries() }) {
			continue
		}
		if f.Timeline.FannedOut() {
			wrong[f.Timeline] = true
			continue
		}
		if weeds[f.Timeline] == nil {
			weeds[f.Timeline] = map[retwis.PostID]int{}
		}
		if _, ok := weeds[f.Timeline][f.Post]; !ok || f.Kind == Extra {
			weeds[f.Timeline][f.Post] = 0
			if f.Kind == Duplicate {
				weeds[f.Timeline][f.Post] = 1
			}
		}
	}
	for id := range wrong {
		if _, err := c.db.RenewIfKept(ctx, id); err != nil {
			return err
		}
	}
	for id, stay := range weeds {
		if err := c.db.Weed(ctx, id, stay); err != nil {
			return err
		}
	}
	return c.each(found, func(Finding) error { return nil }, Missing, Extra, Duplicate, OutOfOrder)
}
