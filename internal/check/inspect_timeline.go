package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// byID orders elements by their leading ids.
func byID(a, b retwis.Element) int { return cmp.Compare(a.ID, b.ID) }

// inspectTimelines compares the home, mentions and list timelines of a user with their
// definitions.
func (i inspector) inspectTimelines(ctx context.Context, s subject) (inspection, error) {
	var result inspection
	r, err := i.db.AccountState(ctx, s.user)
	if err != nil || !r.Active {
		return result, err
	}
	for _, id := range timelinesWithSources(s.user, r.Lists) {
		if err := i.inspectTimeline(ctx, id, &result); err != nil {
			return result, err
		}
	}
	return result, i.inspectMentions(ctx, s.user, &result)
}

// timelinesWithSources returns the home of a user and the timelines of the user's lists.
func timelinesWithSources(user retwis.UserID, lists []retwis.ListID) []retwis.TimelineID {
	ids := []retwis.TimelineID{retwis.Home(user)}
	for _, list := range lists {
		ids = append(ids, retwis.ListPosts(list))
	}
	return ids
}

// inspectTimeline compares one list with its definition. It reads the list first, then the
// profiles, then the posts, so that it recognises posts that are deleted meanwhile.
func (i inspector) inspectTimeline(ctx context.Context, id retwis.TimelineID, result *inspection) error {
	r, err := i.db.TimelineRecord(ctx, id)
	if err != nil {
		return err
	}
	result.timelines++
	result.entries += len(r.Entries)
	if err := i.inspectMarker(ctx, r, result); err != nil {
		return err
	}
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
		downTo = slices.MinFunc(r.Entries, byID).ID
	}
	gone, err := i.db.DeletedUsers(ctx, authors)
	if err != nil {
		return err
	}
	for _, author := range gone {
		result.add(Finding{
			Kind: DanglingEdge, User: author, Timeline: id, transient: true, witness: fmt.Sprint(r.Sources[author]),
			Text: fmt.Sprintf("%s has the deleted user %s as a source", describe(id), author),
		})
	}
	size, slack := i.db.HomeCap()
	posted, err := i.db.PostsDownTo(ctx, authors, downTo, size+slack+1)
	if err != nil {
		return err
	}
	lateness := i.db.Lateness()
	records, err := i.records(ctx, unrecordedPosts(r, posted, lateness))
	if err != nil {
		return err
	}
	found := compareTimeline(r, evidence{posted, records}, lateness)
	result.findings = append(result.findings, found...)
	if owner := id.Owner; id.Kind == retwis.HomeTimeline {
		for _, post := range missingFromProfile(r.Entries, posted[owner], records, owner) {
			result.add(entryFinding(ProfileMissing, retwis.Profile(owner), owner, post, "", "lacks post %s", post))
		}
	}
	return i.inspectUnfollowedAuthors(ctx, id, found, result)
}

// missingFromProfile returns the user's own posts that the home holds and the profile lacks,
// although the profile holds older posts.
func missingFromProfile(entries, profile []retwis.Element, records map[retwis.PostID]record.Post, user retwis.UserID) []retwis.Element {
	if len(profile) == 0 {
		return nil
	}
	oldest := slices.MinFunc(profile, byID).ID
	var posts []retwis.Element
	for _, post := range entries {
		record := records[post.ID]
		if record.Exists && !record.Deleted && record.Author == user && record.Element(post.ID) == post && post.ID > oldest && !slices.Contains(profile, post) {
			posts = append(posts, post)
		}
	}
	return posts
}

// inspectUnfollowedAuthors inspects the edges from a timeline to authors whose posts it holds
// without following them: the author's direction of the edge may be left over.
func (i inspector) inspectUnfollowedAuthors(ctx context.Context, id retwis.TimelineID, found []Finding, result *inspection) error {
	var strangers []retwis.UserID
	for _, f := range found {
		if f.Kind == Extra && f.User != 0 && !slices.Contains(strangers, f.User) {
			strangers = append(strangers, f.User)
		}
	}
	edges, err := i.db.Edges(ctx, id, strangers)
	if err != nil {
		return err
	}
	for _, e := range edges {
		if e.Source != e.Audience {
			result.add(edgeFinding(e))
		}
	}
	return nil
}

func (i inspector) inspectMentions(ctx context.Context, user retwis.UserID, result *inspection) error {
	r, err := i.db.TimelineRecord(ctx, retwis.Mentions(user))
	if err != nil {
		return err
	}
	result.timelines++
	result.entries += len(r.Entries)
	records, err := i.records(ctx, r.Entries)
	if err != nil {
		return err
	}
	result.findings = append(result.findings, compareNamed(r, records)...)
	return i.inspectMarker(ctx, r, result)
}

// inspectMarker inspects whether the marker of a timeline is an element that the list may have held. A marker that is
// older than the whole list only says that all entries are unread.
func (i inspector) inspectMarker(ctx context.Context, r record.Timeline, result *inspection) error {
	if r.Marker == "" {
		return nil
	}
	var problem string
	marker, err := retwis.ParseElement(r.Marker)
	switch {
	case err != nil:
		problem = "which is not an element"
	case slices.Contains(r.Entries, marker):
		return nil
	default:
		if problem, err = i.markerProblem(ctx, r, marker); err != nil {
			return err
		}
	}
	if problem != "" {
		result.add(Finding{
			Kind: Marker, Timeline: r.ID, detail: r.Marker,
			Text: fmt.Sprintf("%s has the marker %q, %s", describe(r.ID), r.Marker, problem),
		})
	}
	return nil
}

// markerProblem returns why a marker that is not in the list cannot have been there, or nothing.
func (i inspector) markerProblem(ctx context.Context, r record.Timeline, marker retwis.Element) (string, error) {
	posts, err := i.records(ctx, []retwis.Element{marker})
	if err != nil {
		return "", err
	}
	post := posts[marker.ID]
	if !post.Exists {
		assigned, err := i.db.Assigned(ctx, marker.ID)
		if err != nil || assigned {
			return "", err
		}
		return "whose post was never created", nil
	}
	if n := len(r.Entries); n == 0 || post.Deleted || marker.ID < r.Entries[n-1].ID || post.Element(marker.ID) == marker {
		return "", nil
	}
	return "which is not the element of its post", nil
}

// inspectPublic inspects the entries of the public timeline. It does not search for missing
// posts, since imported posts are not on the public timeline. The report counts timelines of
// users only.
func (i inspector) inspectPublic(ctx context.Context, _ subject) (inspection, error) {
	var result inspection
	r, err := i.db.TimelineRecord(ctx, retwis.Public())
	if err != nil {
		return result, err
	}
	records, err := i.records(ctx, r.Entries)
	if err != nil {
		return result, err
	}
	result.findings = comparePublic(r, records)
	return result, nil
}
