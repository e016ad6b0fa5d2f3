package check

import (
	"fmt"
	"slices"
	"strconv"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// compareTimeline compares the entries of a home or list timeline with its definition: every
// undeleted post of its sources above completeAbove, each once, and the posts of each author
// in order. It ignores deleted posts, which keep their entries until they are trimmed.
func compareTimeline(r record.Timeline, k evidence, lateness int) []Finding {
	if r.End != record.ListComplete && r.End != record.ListTrimmed {
		return nil // the next read builds the list
	}
	epoch := strconv.FormatInt(r.Epoch, 10)
	author := map[retwis.Element]retwis.UserID{}
	for by, posts := range k.posted {
		for _, post := range posts {
			author[post] = by
		}
	}
	var found []Finding
	add := func(kind Kind, user retwis.UserID, post retwis.Element, witness, format string, args ...any) {
		found = append(found, entryFinding(kind, r.ID, user, post, witness, format, args...))
	}
	if r.Foreign > 0 {
		add(Extra, 0, retwis.Element{}, "", "holds %d entries that are not elements", r.Foreign)
	}

	times := map[retwis.Element]int{}
	for _, post := range r.Entries {
		times[post]++
	}
	lines := map[retwis.UserID][]retwis.Element{} // entries by author, in the order of the list
	for _, post := range r.Entries {
		n := times[post]
		if n == 0 {
			continue // already counted
		}
		times[post] = 0
		for range n - 1 {
			add(Duplicate, author[post], post, "", "holds post %s %d times", post, n)
		}
		by, ok := author[post]
		if !ok {
			record := k.records[post.ID]
			if !record.Exists {
				add(Extra, 0, post, epoch, "holds %s, which does not exist", post)
				continue
			}
			if want := record.Element(post.ID); post != want {
				add(Extra, record.Author, post, epoch, "holds %s, which should be %s", post, want)
				continue
			}
			if record.Deleted {
				continue // readers skip deleted posts
			}
			by = record.Author
			if _, follows := r.Sources[by]; !follows && !isOwnHome(r.ID, by) {
				add(Extra, by, post, epoch, "holds post %s of %s, who is not followed", post, by)
				continue
			}
		}
		if n == 1 {
			lines[by] = append(lines[by], post)
		}
	}
	for by, line := range lines {
		for _, post := range outOfOrder(line) {
			add(OutOfOrder, by, post, epoch, "holds post %s of %s out of order", post, by)
		}
	}
	for _, missing := range missingPosts(r, k.posted, lateness) {
		record := k.records[missing.post.ID]
		if record.Exists && !record.Deleted && record.Author == missing.author && record.Element(missing.post.ID) == missing.post {
			// The time of the follow is the witness: only fan-out adds the post to the list
			// while the follow is the same.
			add(Missing, missing.author, missing.post, fmt.Sprint(r.Sources[missing.author]), "lacks post %s of %s", missing.post, missing.author)
		}
	}
	return found
}

// isOwnHome reports whether a timeline is the user's own home.
func isOwnHome(id retwis.TimelineID, user retwis.UserID) bool {
	return id.Kind == retwis.HomeTimeline && id.Owner == user
}

// compareNamed verifies that each entry of a timeline of mentions or of a hashtag is a post that names the user or the hashtag, and that it
// occurs once.
func compareNamed(r record.Timeline, records map[retwis.PostID]record.Post) []Finding {
	holds := "hold"
	if r.ID.Kind == retwis.TagTimeline {
		holds = "holds"
	}
	var found []Finding
	times := map[retwis.Element]int{}
	for _, post := range r.Entries {
		if times[post]++; times[post] > 1 {
			found = append(found, entryFinding(Duplicate, r.ID, records[post.ID].Author, post, "", holds+" post %s more than once", post))
			continue
		}
		record := records[post.ID]
		switch {
		case !record.Exists:
			found = append(found, entryFinding(Extra, r.ID, 0, post, "", holds+" %s, which does not exist", post))
		case record.Element(post.ID) != post:
			found = append(found, entryFinding(Extra, r.ID, record.Author, post, "", holds+" %s, which should be %s", post, record.Element(post.ID)))
		case r.ID.Kind == retwis.TagTimeline && !slices.Contains(record.Tags, r.ID.Tag()):
			found = append(found, entryFinding(Extra, r.ID, record.Author, post, "", holds+" post %s of %s, which does not have the hashtag", post, record.Author))
		case r.ID.Kind == retwis.MentionsTimeline && !slices.Contains(record.Mentions, r.ID.User()):
			found = append(found, entryFinding(Extra, r.ID, record.Author, post, "", holds+" post %s of %s, which does not mention the user", post, record.Author))
		}
	}
	return found
}

// comparePublic verifies that each entry of the public timeline is a post, possibly a deleted
// one, that it occurs once, and that none is a repost or a reply to another user.
func comparePublic(r record.Timeline, records map[retwis.PostID]record.Post) []Finding {
	var found []Finding
	seen := map[retwis.Element]bool{}
	for _, post := range r.Entries {
		record := records[post.ID]
		switch {
		case !record.Exists:
			found = append(found, entryFinding(Extra, r.ID, 0, post, "", "holds %s, which does not exist", post))
		case record.Element(post.ID) != post:
			found = append(found, entryFinding(Extra, r.ID, record.Author, post, "", "holds %s, which should be %s", post, record.Element(post.ID)))
		case record.Answered != 0:
			found = append(found, entryFinding(Extra, r.ID, record.Author, post, "", "holds the reply %s", post))
		case record.Reposted != 0:
			found = append(found, entryFinding(Extra, r.ID, record.Author, post, "", "holds the repost %s", post))
		case seen[post]:
			found = append(found, entryFinding(Duplicate, r.ID, record.Author, post, "", "holds post %s more than once", post))
		}
		seen[post] = true
	}
	return found
}

// compareProfile verifies that each entry of a profile is an undeleted post of the user, that
// it occurs once, and that the entries are newest first.
func compareProfile(user retwis.UserID, posts []retwis.Element, records map[retwis.PostID]record.Post) []Finding {
	id := retwis.Profile(user)
	var found []Finding
	times := map[retwis.Element]int{}
	for _, post := range posts {
		times[post]++
	}
	var line []retwis.Element
	for _, post := range posts {
		n := times[post]
		if n == 0 {
			continue
		}
		times[post] = 0
		record := records[post.ID]
		switch {
		case !record.Exists || record.Deleted || record.Author != user || record.Element(post.ID) != post:
			found = append(found, entryFinding(ProfileExtra, id, user, post, "", "holds %s, which is not a post of the user", post))
		case n > 1:
			found = append(found, entryFinding(ProfileDuplicate, id, user, post, "", "holds post %s %d times", post, n))
		default:
			line = append(line, post)
		}
	}
	for _, post := range outOfOrder(line) {
		found = append(found, entryFinding(ProfileOrder, id, user, post, "", "holds post %s out of order", post))
	}
	return found
}
