package fanout

import (
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"retwis/internal/outbox"
	"retwis/internal/retwis"
)

// resolveTargets determines the delivery targets of entries. It reads the follower partitions
// after the post was created. A partition that is added later is back-filled with the post.
func (r *runner) resolveTargets(ctx context.Context, ready []*workItem) error {
	var unresolved []*workItem
	var authors []retwis.UserID
	var deleted []retwis.PostID
	for _, w := range ready {
		if w.targets == nil {
			unresolved = append(unresolved, w)
			authors = append(authors, w.Author)
			if w.isDeletion() {
				deleted = append(deleted, w.Post)
			}
		}
	}
	if len(unresolved) == 0 {
		return nil
	}
	var partitions []outbox.AuthorPartitions
	var likers [][]int
	var reposts []reposts
	reads, ctx := errgroup.WithContext(ctx)
	reads.Go(func() (err error) {
		partitions, err = r.store.AuthorPartitions(ctx, authors)
		return err
	})
	reads.Go(func() (err error) {
		likers, err = r.store.LikePartitions(ctx, deleted)
		return err
	})
	reads.Go(func() (err error) {
		reposts, err = r.repostsOf(ctx, deleted)
		return err
	})
	if err := reads.Wait(); err != nil {
		return err
	}
	for i, w := range unresolved {
		if w.Kind == outbox.KindPost {
			w.targets = r.targetsOfPost(w.Entry, partitions[i])
		} else {
			w.targets = r.targetsOfDelete(w.Entry, partitions[i], likers[0], reposts[0])
			likers, reposts = likers[1:], reposts[1:]
		}
	}
	return nil
}

// reposts describes the timelines to which the reposts of a post were delivered.
type reposts struct {
	by         []retwis.UserID
	partitions []outbox.AuthorPartitions // of these users
	many       bool                      // whether there are more users
}

// maxRepostTargets is the number of targets beyond which the deletion of a post is announced to all watched timelines, as it is after more reposts.
// Thirty users whose followers and lists are in all of the default number of partitions have fewer.
const maxRepostTargets = 1000

// targets returns the number of calls that announce a deletion to the timelines.
func (of reposts) targets() int {
	n := len(of.by)
	for _, partitions := range of.partitions {
		n += len(partitions.Followers) + len(partitions.Lists)
	}
	return n
}

// repostsOf returns the reposts of posts, in the order of the posts.
func (r *runner) repostsOf(ctx context.Context, posts []retwis.PostID) ([]reposts, error) {
	reposters, err := r.store.Reposters(ctx, posts)
	if err != nil {
		return nil, err
	}
	var users []retwis.UserID
	for _, of := range reposters {
		users = append(users, of.Users...)
	}
	partitions, err := r.store.AuthorPartitions(ctx, users)
	if err != nil {
		return nil, err
	}
	all := make([]reposts, len(posts))
	for i, of := range reposters {
		n := len(of.Users)
		all[i] = reposts{of.Users, partitions[:n], of.Many}
		partitions = partitions[n:]
	}
	return all, nil
}

// firstMentions is how many mentions receive a post before the homes of its author's followers: others decide how many of these there are, and a post
// may wait 50 ms for the homes of 6000.
const firstMentions = 4

// targetsOfPost returns the targets of a post or repost, in the order in which rounds serve them.
func (r *runner) targetsOfPost(e outbox.Entry, partitions outbox.AuthorPartitions) []*target {
	targets := r.targetsOfReferences(e)
	timeline := func(id retwis.TimelineID) {
		targets = append(targets, &target{partition: r.store.PartitionOf(id), to: outbox.TargetTimeline, timeline: id})
	}
	first := e.Mentions[:min(len(e.Mentions), firstMentions)]
	for _, user := range first {
		timeline(retwis.Mentions(user))
	}
	for partition, followers := range partitions.Followers { // before the others: most subscribers watch their homes
		if partitions.Large {
			targets = append(targets, &target{partition: partition, to: outbox.TargetPulled})
		} else {
			targets = append(targets, &target{partition: partition, expected: followers})
		}
	}
	for _, id := range e.Timelines() {
		if id.Kind != retwis.MentionsTimeline || !slices.Contains(first, id.Owner) {
			timeline(id)
		}
	}
	for partition := range partitions.Lists {
		targets = append(targets, &target{partition: partition, to: outbox.TargetLists})
	}
	return targets
}

// targetsOfReferences returns the targets for the posts that a post refers to: the replies of the post that it answers, the quotes of the
// post that it quotes, and the reposts of the post that it reposts.
func (r *runner) targetsOfReferences(e outbox.Entry) []*target {
	var targets []*target
	if e.ReplyTo != 0 {
		targets = append(targets, &target{partition: r.store.PartitionOfPost(e.ReplyTo), to: outbox.TargetReplies})
	}
	if e.Quoted != 0 {
		targets = append(targets, &target{partition: r.store.PartitionOfPost(e.Quoted), to: outbox.TargetQuotes})
	}
	if e.Reposted != 0 {
		targets = append(targets, &target{partition: r.store.PartitionOfPost(e.Reposted), to: outbox.TargetReposts})
	}
	return targets
}

// targetsOfDelete returns the partitions that may hold the post. The call for the followers
// adds the removal to the partition's stream of changes. The same call serves the single
// timelines, which therefore need no call of their own. Further calls announce the removal to the watched
// timelines to which reposts were delivered, and to the partitions of likers, whose workers remove the likes: see countLikes.
func (r *runner) targetsOfDelete(e outbox.Entry, partitions outbox.AuthorPartitions, likers []int, reposts reposts) []*target {
	expected := map[int]int{r.store.PublicPartition(): 0}
	further := r.targetsOfReposts(reposts)
	for _, t := range further {
		expected[t.partition] = 0
	}
	for _, id := range e.Timelines() {
		expected[r.store.PartitionOf(id)] = 0
	}
	for partition := range partitions.Lists {
		expected[partition] = 0
	}
	maps.Copy(expected, partitions.Followers)
	targets := r.targetsOfReferences(e)
	for partition, followers := range expected {
		targets = append(targets, &target{partition: partition, expected: followers})
	}
	for partition := range partitions.Lists {
		targets = append(targets, &target{partition: partition, to: outbox.TargetLists})
	}
	targets = append(targets, further...)
	for _, partition := range likers {
		targets = append(targets, &target{partition: partition, to: outbox.TargetLikers})
	}
	return targets
}

// targetsOfReposts returns the further targets that the deletion of a post has because of its reposts.
func (r *runner) targetsOfReposts(of reposts) []*target {
	var targets []*target
	if of.many || of.targets() > maxRepostTargets {
		for partition := range r.store.Partitions() {
			targets = append(targets, &target{partition: partition, to: outbox.TargetWatched})
		}
		return targets
	}
	for i, user := range of.by {
		homes := maps.Clone(of.partitions[i].Followers)
		if homes == nil {
			homes = map[int]int{}
		}
		homes[r.store.PartitionOfUser(user)] += 0 // the timelines of the user
		for partition, followers := range homes {
			targets = append(targets, &target{partition: partition, to: outbox.TargetReposterHomes, user: user, expected: followers})
		}
		for partition := range of.partitions[i].Lists {
			targets = append(targets, &target{partition: partition, to: outbox.TargetReposterLists, user: user})
		}
	}
	return targets
}

func allDone(targets []*target) bool {
	return !slices.ContainsFunc(targets, func(t *target) bool { return !t.done })
}

// onlyLate reports whether all targets are done or late.
func onlyLate(targets []*target) bool {
	return !slices.ContainsFunc(targets, func(t *target) bool { return !t.done && !t.late })
}
