package check

import (
	"slices"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// evidence holds the stored posts that a timeline is compared with.
type evidence struct {
	posted  map[retwis.UserID][]retwis.PostID // profiles of the sources, newest first, down to the timeline's last entry
	records map[retwis.PostID]record.Post
}

// completeAbove returns the id above which a list must hold every post. A trimmed list may
// lack older posts. Late posts may be among its last entries, so the list must hold only the
// posts that are newer than all of the last lateness entries. It also need not hold posts
// below the gap, which its next reader gathers from profiles.
func completeAbove(r record.Timeline, lateness int) retwis.PostID {
	if r.End != record.ListTrimmed || len(r.Entries) == 0 {
		return r.Gap
	}
	return max(r.Gap, slices.Max(r.Entries[max(0, len(r.Entries)-lateness):]))
}

// unrecordedPosts returns the posts whose records are needed for the comparison: entries that
// are on no profile of a source, and posts that seem to be missing.
func unrecordedPosts(r record.Timeline, posted map[retwis.UserID][]retwis.PostID, lateness int) []retwis.PostID {
	seen := map[retwis.PostID]bool{}
	for _, posts := range posted {
		for _, post := range posts {
			seen[post] = true
		}
	}
	var ids []retwis.PostID
	for _, post := range r.Entries {
		if !seen[post] {
			seen[post] = true
			ids = append(ids, post)
		}
	}
	for _, missing := range missingPosts(r, posted, lateness) {
		ids = append(ids, missing.post)
	}
	return ids
}

// missingPost is a post of an author that seems to be missing.
type missingPost struct {
	post   retwis.PostID
	author retwis.UserID
}

// missingPosts returns the posts on profiles that a timeline should hold but lacks.
func missingPosts(r record.Timeline, posted map[retwis.UserID][]retwis.PostID, lateness int) []missingPost {
	held := map[retwis.PostID]bool{}
	for _, post := range slices.Concat(r.Entries, r.Pending) {
		held[post] = true
	}
	floor := completeAbove(r, lateness)
	var all []missingPost
	for author, posts := range posted {
		for _, post := range posts {
			if post > floor && !held[post] {
				held[post] = true
				all = append(all, missingPost{post, author})
			}
		}
	}
	slices.SortFunc(all, func(a, b missingPost) int { return int(a.post - b.post) })
	return all
}
