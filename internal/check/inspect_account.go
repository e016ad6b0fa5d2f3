package check

import (
	"context"
	"fmt"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// inspectAccount compares an account, its profile and its edges with their definitions. An
// account that is not in use is not looked at.
func (c *checker) inspectAccount(ctx context.Context, s subject) (inspection, error) {
	var l inspection
	r, err := c.db.AccountRecord(ctx, s.user)
	if err != nil || !r.Active {
		return l, err
	}
	l.inspectName(r)
	l.inspectCounts(r)
	l.inspectFollowerPartitions(r)
	if r.Unlisted {
		l.add(Finding{
			Kind: NewestMissing, User: r.ID, partition: c.db.PartitionOfUser(r.ID), transient: true,
			Text: fmt.Sprintf("user %s is not among the newest users, and older ones are", r.ID),
		})
	}
	if err := c.inspectEdges(ctx, r, &l); err != nil {
		return l, err
	}
	return l, c.inspectProfile(ctx, s.user, &l)
}

func (l *inspection) inspectName(r record.Account) {
	f := Finding{User: r.ID, what: retwis.FoldUsername(r.Username), transient: true}
	switch {
	case r.Holder == 0:
		f.Kind, f.Text = NameMissing, fmt.Sprintf("nobody has the name of user %s, %s", r.ID, r.Username)
	case r.Holder != r.ID:
		f.Kind, f.Text = NameTaken, fmt.Sprintf("the name of user %s, %s, belongs to %s", r.ID, r.Username, r.Holder)
	case !r.Listed:
		f.Kind, f.Text = NameMissing, fmt.Sprintf("no search finds the name of user %s, %s", r.ID, r.Username)
	default:
		return
	}
	l.add(f)
}

func (l *inspection) inspectCounts(r record.Account) {
	count := func(what string, n record.Counted, right bool) {
		if right {
			return
		}
		l.add(Finding{
			Kind: Count, User: r.ID, what: what, witness: fmt.Sprint(n.Stored - n.There),
			Text: fmt.Sprintf("user %s has %d %s, and the count says %d", r.ID, n.There, what, n.Stored),
		})
	}
	// Posts that have left the profile are counted too.
	count("posts", r.Posts, r.Posts.Stored == r.Posts.There || r.Trimmed && r.Posts.Stored > r.Posts.There)
	count("follows", r.Following, r.Following.Stored == r.Following.There)
	count("followers", r.Followers, r.Followers.Stored == r.Followers.There)
}

func (l *inspection) inspectFollowerPartitions(r record.Account) {
	for partition, there := range r.FollowersIn {
		if _, ok := r.Reach[partition]; !ok {
			l.add(Finding{
				Kind: FollowerPartition, User: r.ID, partition: partition, transient: true,
				Text: fmt.Sprintf("the reach of %s lacks partition %d, which holds %d followers", r.ID, partition, there),
			})
		}
	}
	for partition, record := range r.Reach {
		if there := r.FollowersIn[partition]; there != record.Count {
			l.add(Finding{
				Kind: FollowerPartitionCount, User: r.ID, partition: partition, transient: true,
				witness: fmt.Sprint(record.Version, record.Count, there),
				Text:    fmt.Sprintf("partition %d holds %d followers of %s, and the reach says %d", partition, there, r.ID, record.Count),
			})
		}
	}
	for partition, there := range r.ListsIn {
		if !r.ListReach[partition] {
			l.add(Finding{
				Kind: FollowerPartition, User: r.ID, partition: partition, what: "lists", transient: true,
				Text: fmt.Sprintf("the reach of %s lacks partition %d, which holds %d lists with them", r.ID, partition, there),
			})
		}
	}
}

// inspectEdges compares the directions of all edges that begin or end at a user.
func (c *checker) inspectEdges(ctx context.Context, r record.Account, l *inspection) error {
	ids := []retwis.TimelineID{retwis.Home(r.ID)}
	for _, list := range r.Lists {
		ids = append(ids, retwis.ListPosts(list))
	}
	for _, id := range ids {
		edges, err := c.db.SourceEdges(ctx, id)
		if err != nil {
			return err
		}
		l.addEdges(edges)
	}
	for _, audience := range []struct {
		kind retwis.TimelineKind
		in   map[int]int
	}{{retwis.HomeTimeline, r.FollowersIn}, {retwis.ListTimeline, r.ListsIn}} {
		for partition := range audience.in {
			edges, err := c.db.AudienceEdges(ctx, r.ID, audience.kind, partition)
			if err != nil {
				return err
			}
			l.addEdges(edges)
		}
	}
	return nil
}

func (l *inspection) addEdges(edges []record.Edge) {
	for _, e := range edges {
		l.add(edgeFinding(e))
	}
}

func edgeFinding(e record.Edge) Finding {
	what := "says another time than the other direction"
	switch {
	case e.Audience == 0:
		what = "is missing among their audience"
	case e.Source == 0:
		what = "does not have them as a source"
	}
	return Finding{
		Kind: OneWayEdge, User: e.Author, Timeline: e.Timeline, transient: true, witness: fmt.Sprint(e.Source, e.Audience),
		Text: fmt.Sprintf("of the edge to %s, %s %s", e.Author, describe(e.Timeline), what),
	}
}

func (c *checker) inspectProfile(ctx context.Context, user retwis.UserID, l *inspection) error {
	posts, foreign, err := c.db.ProfileRecord(ctx, user)
	if err != nil {
		return err
	}
	records, err := c.records(ctx, posts)
	if err != nil {
		return err
	}
	for _, f := range compareProfile(user, posts, records) {
		l.add(f)
	}
	if foreign > 0 {
		l.add(entryFinding(ProfileExtra, retwis.Profile(user), user, 0, "", "holds %d entries that are no posts", foreign))
	}
	return nil
}
