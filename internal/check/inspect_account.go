package check

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// inspectAccount compares an account, its profile and its edges with their definitions. It
// ignores inactive accounts.
func (i inspector) inspectAccount(ctx context.Context, s subject) (inspection, error) {
	var result inspection
	r, err := i.db.AccountRecord(ctx, s.user)
	if err != nil || !r.Active {
		return result, err
	}
	result.inspectName(r)
	if words := retwis.SearchWords(r.DisplayName); r.Unindexed > 0 || !slices.Equal(words, r.SearchWords) {
		result.add(Finding{
			Kind: SearchWords, User: r.ID, detail: r.DisplayName, transient: true,
			Text: fmt.Sprintf("user %s is not found by all of the words %q", r.ID, words),
		})
	}
	result.inspectCounts(r)
	result.inspectFollowerPartitions(r)
	if r.Unlisted {
		result.add(Finding{
			Kind: NewestMissing, User: r.ID, partition: i.db.PartitionOfUser(r.ID), transient: true,
			Text: fmt.Sprintf("user %s is not among the newest users, although older users are", r.ID),
		})
	}
	if err := i.inspectHiddenReposters(ctx, s.user, &result); err != nil {
		return result, err
	}
	if err := i.inspectOwnLikes(ctx, s.user, &result); err != nil {
		return result, err
	}
	if err := i.inspectProfile(ctx, s.user, &result); err != nil {
		return result, err
	}
	return result, i.inspectEdges(ctx, r, &result) // last: a repeated inspection must not count the edges twice
}

func (result *inspection) inspectName(r record.Account) {
	f := Finding{User: r.ID, detail: retwis.FoldUsername(r.Username), transient: true}
	switch {
	case r.NameOwner == 0:
		f.Kind, f.Text = NameMissing, fmt.Sprintf("the name of user %s, %s, is not claimed", r.ID, r.Username)
	case r.NameOwner != r.ID:
		f.Kind, f.Text = NameTaken, fmt.Sprintf("the name of user %s, %s, is claimed by user %s", r.ID, r.Username, r.NameOwner)
	case !r.Listed:
		f.Kind, f.Text = NameMissing, fmt.Sprintf("the name of user %s, %s, is missing in the search index", r.ID, r.Username)
	default:
		return
	}
	result.add(f)
}

func (result *inspection) inspectCounts(r record.Account) {
	count := func(name string, n record.Counted, correct bool) {
		if correct {
			return
		}
		result.add(Finding{
			Kind: Count, User: r.ID, detail: name, witness: fmt.Sprint(n.Stored - n.Actual),
			Text: fmt.Sprintf("user %s has %d %s, the stored count is %d", r.ID, n.Actual, name, n.Stored),
		})
	}
	// The count includes posts that were trimmed from the profile.
	count("posts", r.Posts, r.Posts.Stored == r.Posts.Actual || r.Trimmed && r.Posts.Stored > r.Posts.Actual)
	count("follows", r.Following, r.Following.Stored == r.Following.Actual)
	count("followers", r.Followers, r.Followers.Stored == r.Followers.Actual)
}

func (result *inspection) inspectFollowerPartitions(r record.Account) {
	for partition, there := range r.FollowersIn {
		if _, ok := r.FollowerPartitions[partition]; !ok {
			result.add(Finding{
				Kind: FollowerPartition, User: r.ID, partition: partition, transient: true,
				Text: fmt.Sprintf("the follower partitions of user %s lack partition %d, which holds %d followers", r.ID, partition, there),
			})
		}
	}
	for partition, record := range r.FollowerPartitions {
		if there := r.FollowersIn[partition]; there != record.Count {
			result.add(Finding{
				Kind: FollowerPartitionCount, User: r.ID, partition: partition, transient: true,
				witness: fmt.Sprint(record.Version, record.Count, there),
				Text:    fmt.Sprintf("partition %d holds %d followers of user %s, the stored count is %d", partition, there, r.ID, record.Count),
			})
		}
	}
	for partition, there := range r.ListsIn {
		if !r.ListPartitions[partition] {
			result.add(Finding{
				Kind: FollowerPartition, User: r.ID, partition: partition, detail: "lists", transient: true,
				Text: fmt.Sprintf("the follower partitions of user %s lack partition %d, which holds %d lists with the user", r.ID, partition, there),
			})
		}
	}
}

// inspectEdges compares the two directions of all edges of a user. The first inspection of all users compares those of follows
// from the homes only, and counts them: see [followerTally].
func (i inspector) inspectEdges(ctx context.Context, r record.Account, result *inspection) error {
	edges, followed, err := i.db.SourceEdges(ctx, timelinesWithSources(r.ID, r.Lists))
	if err != nil {
		return err
	}
	result.addEdges(edges)
	if err := i.inspectAudience(ctx, r.ID, retwis.ListTimeline, r.ListsIn, result); err != nil {
		return err
	}
	if i.tally != nil {
		i.tally.add(r, followed)
		return nil
	}
	return i.inspectAudience(ctx, r.ID, retwis.HomeTimeline, r.FollowersIn, result)
}

// inspectFollowers compares the edges of a user's followers, from the end of the user.
func (i inspector) inspectFollowers(ctx context.Context, s subject) (inspection, error) {
	var result inspection
	r, err := i.db.AccountRecord(ctx, s.user)
	if err != nil || !r.Active {
		return result, err
	}
	return result, i.inspectAudience(ctx, r.ID, retwis.HomeTimeline, r.FollowersIn, &result)
}

// inspectAudience compares the edges of homes or lists to an author, from the end of the author. They are in some partitions.
func (i inspector) inspectAudience(ctx context.Context, author retwis.UserID, kind retwis.TimelineKind, in map[int]int, result *inspection) error {
	edges, err := i.db.AudienceEdges(ctx, author, kind, slices.Collect(maps.Keys(in)))
	if err != nil {
		return err
	}
	result.addEdges(edges)
	return nil
}

func (result *inspection) addEdges(edges []record.Edge) {
	for _, e := range edges {
		result.add(edgeFinding(e))
	}
}

func edgeFinding(e record.Edge) Finding {
	difference := "the two directions have different times"
	switch {
	case e.Audience == 0:
		difference = "the author's followers lack the timeline"
	case e.Source == 0:
		difference = "the timeline's sources lack the author"
	}
	return Finding{
		Kind: OneWayEdge, User: e.Author, Timeline: e.Timeline, transient: true, witness: fmt.Sprint(e.Source, e.Audience),
		Text: fmt.Sprintf("edge from %s to user %s: %s", describe(e.Timeline), e.Author, difference),
	}
}

func (i inspector) inspectProfile(ctx context.Context, user retwis.UserID, result *inspection) error {
	entries, foreign, err := i.db.ProfileRecord(ctx, user)
	if err != nil {
		return err
	}
	records, err := i.records(ctx, entries)
	if err != nil {
		return err
	}
	for _, f := range compareProfile(user, entries, records) {
		result.add(f)
	}
	if err := i.inspectOwnReferences(ctx, records, result); err != nil {
		return err
	}
	if err := i.inspectOwnTags(ctx, user, records, result); err != nil {
		return err
	}
	if err := i.inspectReposts(ctx, user, records, result); err != nil {
		return err
	}
	if foreign > 0 {
		result.add(entryFinding(ProfileExtra, retwis.Profile(user), user, retwis.Element{}, "", "holds %d entries that are not elements", foreign))
	}
	return nil
}
