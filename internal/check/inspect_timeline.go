package check

import (
	"context"
	"fmt"
	"slices"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// inspectTimelines compares a user's home, mentions and lists with their definitions.
func (c *checker) inspectTimelines(ctx context.Context, s subject) (inspection, error) {
	var l inspection
	r, err := c.db.AccountRecord(ctx, s.user)
	if err != nil || !r.Active {
		return l, err
	}
	ids := []retwis.TimelineID{retwis.Home(s.user)}
	for _, list := range r.Lists {
		ids = append(ids, retwis.ListPosts(list))
	}
	for _, id := range ids {
		if err := c.inspectTimeline(ctx, id, &l); err != nil {
			return l, err
		}
	}
	return l, c.inspectMentions(ctx, s.user, &l)
}

// inspectTimeline compares one list. It is read before the profiles and these before the
// posts, so that what is deleted meanwhile is seen to be deleted.
func (c *checker) inspectTimeline(ctx context.Context, id retwis.TimelineID, l *inspection) error {
	r, err := c.db.TimelineRecord(ctx, id)
	if err != nil {
		return err
	}
	l.timelines++
	l.entries += len(r.Entries)
	if r.End != record.ListComplete && r.End != record.ListTrimmed {
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
	if r.End == record.ListTrimmed {
		downTo = slices.Min(r.Entries)
	}
	gone, err := c.db.Gone(ctx, authors)
	if err != nil {
		return err
	}
	for _, author := range gone {
		l.add(Finding{
			Kind: DanglingEdge, User: author, Timeline: id, transient: true, witness: fmt.Sprint(r.Sources[author]),
			Text: fmt.Sprintf("%s has %s as a source, who is not there", describe(id), author),
		})
	}
	size, slack := c.db.HomeCap()
	posted, err := c.db.Posted(ctx, authors, downTo, size+slack+1)
	if err != nil {
		return err
	}
	lateness := c.db.Lateness()
	records, err := c.records(ctx, unrecordedPosts(r, posted, lateness))
	if err != nil {
		return err
	}
	found := compareTimeline(r, evidence{posted, records}, lateness)
	l.findings = append(l.findings, found...)
	if owner := id.Owner; id.Kind == retwis.HomeTimeline {
		for _, post := range missingFromProfile(r.Entries, posted[owner], records, owner) {
			l.add(entryFinding(ProfileMissing, retwis.Profile(owner), owner, post, "", "lacks post %s", post))
		}
	}
	return c.inspectUnfollowedAuthors(ctx, id, found, l)
}

// missingFromProfile are a user's own posts that the home holds and the profile does not, though it
// holds older ones.
func missingFromProfile(entries, profile []retwis.PostID, records map[retwis.PostID]record.Post, user retwis.UserID) []retwis.PostID {
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

// inspectUnfollowedAuthors looks whether authors who are not followed, but whose posts come, have
// the timeline among their audience.
func (c *checker) inspectUnfollowedAuthors(ctx context.Context, id retwis.TimelineID, found []Finding, l *inspection) error {
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

func (c *checker) inspectMentions(ctx context.Context, user retwis.UserID, l *inspection) error {
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

// inspectPublic looks at what is on the public timeline. What it lacks is not looked for: not
// all posts come there, as those that are imported do not. It is not counted: what is
// counted are the timelines of users.
func (c *checker) inspectPublic(ctx context.Context, _ subject) (inspection, error) {
	var l inspection
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
