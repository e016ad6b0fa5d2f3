package check

import (
	"slices"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// evidence holds the stored posts that a timeline is compared with.
type evidence struct {
	posted  map[retwis.UserID][]retwis.Element // profiles of the sources, newest first, down to the timeline's last entry
	records map[retwis.PostID]record.Post      // by leading id
}

// completeAbove returns the id above which a list must hold every post. A trimmed list may
// lack older posts. Late posts may be among its last entries, so the list must hold only the
// posts that are newer than all of the last lateness entries. With more late posts than that, it need
// only hold those above what they displaced. It also need not hold posts below the gap. Readers
// gather these posts from profiles.
func completeAbove(r record.Timeline, lateness int) retwis.PostID {
	if r.End != record.ListTrimmed || len(r.Entries) == 0 {
		return r.Gap
	}
	return max(r.Gap, r.Displaced, slices.MaxFunc(r.Entries[max(0, len(r.Entries)-lateness):], byID).ID)
}

// unrecordedPosts returns the entries whose records are needed for the comparison: entries that
// are on no profile of a source, and posts that seem to be missing.
func unrecordedPosts(r record.Timeline, posted map[retwis.UserID][]retwis.Element, lateness int) []retwis.Element {
	seen := map[retwis.Element]bool{}
	for _, posts := range posted {
		for _, post := range posts {
			seen[post] = true
		}
	}
	var all []retwis.Element
	for _, post := range r.Entries {
		if !seen[post] {
			seen[post] = true
			all = append(all, post)
		}
	}
	for _, missing := range missingPosts(r, posted, lateness) {
		all = append(all, missing.post)
	}
	return all
}

// missingPost is a post of an author that seems to be missing.
type missingPost struct {
	post   retwis.Element
	author retwis.UserID
}

// missingPosts returns the posts on profiles that a timeline should hold but lacks.
func missingPosts(r record.Timeline, posted map[retwis.UserID][]retwis.Element, lateness int) []missingPost {
	held := map[retwis.Element]bool{}
	for _, post := range slices.Concat(r.Entries, r.Pending) {
		held[post] = true
	}
	floor := completeAbove(r, lateness)
	var all []missingPost
	for author, posts := range posted {
		for _, post := range posts {
			if post.ID > floor && !held[post] {
				held[post] = true
				all = append(all, missingPost{post, author})
			}
		}
	}
	slices.SortFunc(all, func(a, b missingPost) int { return byID(a.post, b.post) })
	return all
}
