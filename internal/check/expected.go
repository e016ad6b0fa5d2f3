package check

import (
	"slices"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// evidence is what is evidence about the posts that concern a timeline.
type evidence struct {
	posted  map[retwis.UserID][]retwis.PostID // on profiles, newest first, down to the end of the timeline
	records map[retwis.PostID]record.Post
}

// completeAbove is the id above which every post must be in a list. Older ones may have left a
// list that was trimmed. Its last entries do not tell which, since late posts are among
// them: every post that is newer than all of these must be there. Nor need those be that
// its reader will not find kept.
func completeAbove(r record.Timeline, lateness int) retwis.PostID {
	if r.End != record.ListTrimmed || len(r.Entries) == 0 {
		return r.Gap
	}
	return max(r.Gap, slices.Max(r.Entries[max(0, len(r.Entries)-lateness):]))
}

// unrecordedPosts are the posts of a timeline whose records are needed: entries that are on no
// profile of a source, and what seems to be missing.
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

// missingPosts are the posts on profiles that a timeline should hold and does not.
func missingPosts(r record.Timeline, posted map[retwis.UserID][]retwis.PostID, lateness int) []missingPost {
	held := map[retwis.PostID]bool{}
	for _, post := range slices.Concat(r.Entries, r.Awaited) {
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
