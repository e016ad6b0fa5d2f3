package check

import (
	"context"
	"fmt"
	"slices"

	"retwis/internal/retwis"
)

// look is what one look at something found, and how much there was to see.
type look struct {
	findings  []Finding
	timelines int
	entries   int
}

func (l *look) add(f Finding) { l.findings = append(l.findings, f) }

// lookAtAccount compares an account, its profile and its edges with their definitions. An
// account that is not in use is not looked at.
func (c *checker) lookAtAccount(ctx context.Context, s subject) (look, error) {
	var l look
	r, err := c.db.AccountRecord(ctx, s.user)
	if err != nil || !r.Active {
		return l, err
	}
	l.lookAtName(r)
	l.lookAtCounts(r)
	l.lookAtReach(r)
	if r.Unlisted {
		l.add(Finding{
			Kind: NewestMissing, User: r.ID, partition: c.db.PartitionOfUser(r.ID), settles: true,
			Text: fmt.Sprintf("user %s is not among the newest users, and older ones are", r.ID),
		})
	}
	if err := c.lookAtEdges(ctx, r, &l); err != nil {
		return l, err
	}
	return l, c.lookAtProfile(ctx, s.user, &l)
}

func (l *look) lookAtName(r retwis.AccountRecord) {
	f := Finding{User: r.ID, what: retwis.FoldUsername(r.Username), settles: true}
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

func (l *look) lookAtCounts(r retwis.AccountRecord) {
	count := func(what string, n retwis.Counted, right bool) {
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

func (l *look) lookAtReach(r retwis.AccountRecord) {
	for partition, there := range r.FollowersIn {
		if _, ok := r.Reach[partition]; !ok {
			l.add(Finding{
				Kind: Reach, User: r.ID, partition: partition, settles: true,
				Text: fmt.Sprintf("the reach of %s lacks partition %d, which holds %d followers", r.ID, partition, there),
			})
		}
	}
	for partition, record := range r.Reach {
		if there := r.FollowersIn[partition]; there != record.Count {
			l.add(Finding{
				Kind: ReachSize, User: r.ID, partition: partition, settles: true,
				witness: fmt.Sprint(record.Version, record.Count, there),
				Text:    fmt.Sprintf("partition %d holds %d followers of %s, and the reach says %d", partition, there, r.ID, record.Count),
			})
		}
	}
	for partition, there := range r.ListsIn {
		if !r.ListReach[partition] {
			l.add(Finding{
				Kind: Reach, User: r.ID, partition: partition, what: "lists", settles: true,
				Text: fmt.Sprintf("the reach of %s lacks partition %d, which holds %d lists with them", r.ID, partition, there),
			})
		}
	}
}

// lookAtEdges compares the directions of all edges that begin or end at a user.
func (c *checker) lookAtEdges(ctx context.Context, r retwis.AccountRecord, l *look) error {
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

func (l *look) addEdges(edges []retwis.Edge) {
	for _, e := range edges {
		l.add(edgeFinding(e))
	}
}

func edgeFinding(e retwis.Edge) Finding {
	what := "says another time than the other direction"
	switch {
	case e.Audience == 0:
		what = "is missing among their audience"
	case e.Source == 0:
		what = "does not have them as a source"
	}
	return Finding{
		Kind: HalfEdge, User: e.Author, Timeline: e.Timeline, settles: true, witness: fmt.Sprint(e.Source, e.Audience),
		Text: fmt.Sprintf("of the edge to %s, %s %s", e.Author, describe(e.Timeline), what),
	}
}

func (c *checker) lookAtProfile(ctx context.Context, user retwis.UserID, l *look) error {
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

// lookAtTimelines compares a user's home, mentions and lists with their definitions.
func (c *checker) lookAtTimelines(ctx context.Context, s subject) (look, error) {
	var l look
	r, err := c.db.AccountRecord(ctx, s.user)
	if err != nil || !r.Active {
		return l, err
	}
	ids := []retwis.TimelineID{retwis.Home(s.user)}
	for _, list := range r.Lists {
		ids = append(ids, retwis.ListPosts(list))
	}
	for _, id := range ids {
		if err := c.lookAtTimeline(ctx, id, &l); err != nil {
			return l, err
		}
	}
	return l, c.lookAtMentions(ctx, s.user, &l)
}

// lookAtTimeline compares one list. It is read before the profiles and these before the
// posts, so that what is deleted meanwhile is seen to be deleted.
func (c *checker) lookAtTimeline(ctx context.Context, id retwis.TimelineID, l *look) error {
	r, err := c.db.TimelineRecord(ctx, id)
	if err != nil {
		return err
	}
	l.timelines++
	l.entries += len(r.Entries)
	if r.End != retwis.ListComplete && r.End != retwis.ListTrimmed {
		return nil
	}
	authors := make([]retwis.UserID, 0, len(r.Sources)+1)
	for author := range r.Sources {
		authors = append(authors, author)
	}
	if id.Kind == retwis.HomeTimeline {
		authors = append(authors, id.Owner)
	}
	var downTo retwis.PostID
	if r.End == retwis.ListTrimmed {
		downTo = slices.Min(r.Entries)
	}
	gone, err := c.db.Gone(ctx, authors)
	if err != nil {
		return err
	}
	for _, author := range gone {
		l.add(Finding{
			Kind: DeadEdge, User: author, Timeline: id, settles: true, witness: fmt.Sprint(r.Sources[author]),
			Text: fmt.Sprintf("%s has %s as a source, who is not there", describe(id), author),
		})
	}
	size, slack := c.db.HomeCap()
	posted, err := c.db.Posted(ctx, authors, downTo, size+slack+1)
	if err != nil {
		return err
	}
	lateness := c.db.Lateness()
	records, err := c.records(ctx, unknown(r, posted, lateness))
	if err != nil {
		return err
	}
	found := compareTimeline(r, known{posted, records}, lateness)
	l.findings = append(l.findings, found...)
	if owner := id.Owner; id.Kind == retwis.HomeTimeline {
		for _, post := range lost(r.Entries, posted[owner], records, owner) {
			l.add(entryFinding(ProfileMissing, retwis.Profile(owner), owner, post, "", "lacks post %s", post))
		}
	}
	return c.lookAtStrangers(ctx, id, found, l)
}

// lost are a user's own posts that the home holds and the profile does not, though it
// holds older ones.
func lost(entries, profile []retwis.PostID, records map[retwis.PostID]retwis.PostRecord, user retwis.UserID) []retwis.PostID {
	if len(profile) == 0 {
		return nil
	}
	oldest := slices.Min(profile)
	var posts []retwis.PostID
	for _, post := range entries {
		record := records[post]
		if record.There && !record.Deleted && record.Author == user && post > oldest && !slices.Contains(profile, post) {
			posts = append(posts, post)
		}
	}
	return posts
}

// lookAtStrangers looks whether authors who are not followed, but whose posts come, have
// the timeline among their audience.
func (c *checker) lookAtStrangers(ctx context.Context, id retwis.TimelineID, found []Finding, l *look) error {
	var strangers []retwis.UserID
	for _, f := range found {
		if f.Kind == Extra && f.User != 0 && !slices.Contains(strangers, f.User) {
			strangers = append(strangers, f.User)
		}
	}
	edges, err := c.db.Edges(ctx, id, strangers)
	if err != nil {
		return err
	}
	for _, e := range edges {
		if e.Source != e.Audience {
			l.add(edgeFinding(e))
		}
	}
	return nil
}

func (c *checker) lookAtMentions(ctx context.Context, user retwis.UserID, l *look) error {
	r, err := c.db.TimelineRecord(ctx, retwis.Mentions(user))
	if err != nil {
		return err
	}
	l.timelines++
	l.entries += len(r.Entries)
	records, err := c.records(ctx, r.Entries)
	if err != nil {
		return err
	}
	l.findings = append(l.findings, compareMentions(r, records)...)
	return nil
}

// lookAtPublic looks at what is on the public timeline. What it lacks is not looked for: not
// all posts come there, as those that are imported do not. It is not counted: what is
// counted are the timelines of users.
func (c *checker) lookAtPublic(ctx context.Context, _ subject) (look, error) {
	var l look
	r, err := c.db.TimelineRecord(ctx, retwis.Public())
	if err != nil {
		return l, err
	}
	records, err := c.records(ctx, r.Entries)
	if err != nil {
		return l, err
	}
	l.findings = comparePublic(r, records)
	return l, nil
}

// lookAtNewest looks whether those whom a partition lists as its newest users are there.
func (c *checker) lookAtNewest(ctx context.Context, s subject) (look, error) {
	var l look
	unfit, err := c.db.UnfitNewest(ctx, s.newest)
	if err != nil {
		return l, err
	}
	for _, id := range unfit {
		l.add(Finding{
			Kind: NewestExtra, User: id, partition: s.newest, settles: true,
			Text: fmt.Sprintf("user %s is among the newest users, and the account is not in use", id),
		})
	}
	return l, nil
}

func (c *checker) records(ctx context.Context, ids []retwis.PostID) (map[retwis.PostID]retwis.PostRecord, error) {
	records, err := c.db.PostRecords(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[retwis.PostID]retwis.PostRecord, len(ids))
	for i, id := range ids {
		byID[id] = records[i]
	}
	return byID, nil
}

// lookAtName looks whether whoever has a name bears it.
func (c *checker) lookAtName(ctx context.Context, s subject) (look, error) {
	var l look
	holder, held, err := c.db.NameHolder(ctx, s.name)
	if err != nil || !held {
		return l, err
	}
	r := retwis.AccountRecord{}
	if holder != 0 {
		if r, err = c.db.AccountRecord(ctx, holder); err != nil {
			return l, err
		}
	}
	if holder == 0 || r.Gone || retwis.FoldUsername(r.Username) != s.name {
		l.add(Finding{
			Kind: NameTaken, what: s.name, settles: true, witness: holder.String(),
			Text: fmt.Sprintf("the name %s belongs to %s, who does not bear it", s.name, holder),
		})
	}
	return l, nil
}
