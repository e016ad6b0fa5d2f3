package check

import (
	"fmt"
	"slices"
	"strconv"

	"retwis/internal/retwis"
)

// known is what is known about the posts that concern a timeline.
type known struct {
	posted  map[retwis.UserID][]retwis.PostID // on profiles, newest first, down to the end of the timeline
	records map[retwis.PostID]retwis.PostRecord
}

// bound is the id above which every post must be in a list. Older ones may have left a
// list that was trimmed. Its last entries do not tell which, since late posts are among
// them: every post that is newer than all of these must be there. Nor need those be that
// its reader will not find kept.
func bound(r retwis.TimelineRecord, lateness int) retwis.PostID {
	if r.End != retwis.ListTrimmed || len(r.Entries) == 0 {
		return r.Gap
	}
	return max(r.Gap, slices.Max(r.Entries[max(0, len(r.Entries)-lateness):]))
}

// unknown are the posts of a timeline whose records are needed: entries that are on no
// profile of a source, and what seems to be missing.
func unknown(r retwis.TimelineRecord, posted map[retwis.UserID][]retwis.PostID, lateness int) []retwis.PostID {
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
	for _, missing := range lacking(r, posted, lateness) {
		ids = append(ids, missing.post)
	}
	return ids
}

// lack is a post of an author that seems to be missing.
type lack struct {
	post   retwis.PostID
	author retwis.UserID
}

// lacking are the posts on profiles that a timeline should hold and does not.
func lacking(r retwis.TimelineRecord, posted map[retwis.UserID][]retwis.PostID, lateness int) []lack {
	held := map[retwis.PostID]bool{}
	for _, post := range slices.Concat(r.Entries, r.Awaited) {
		held[post] = true
	}
	floor := bound(r, lateness)
	var all []lack
	for author, posts := range posted {
		for _, post := range posts {
			if post > floor && !held[post] {
				held[post] = true
				all = append(all, lack{post, author})
			}
		}
	}
	slices.SortFunc(all, func(a, b lack) int { return int(a.post - b.post) })
	return all
}

// compareTimeline compares the list of a home or of a list of users with its definition:
// every undeleted post of its sources down to where it was trimmed, each once, those of
// one author in their order. Deleted posts keep their places until they are trimmed.
func compareTimeline(r retwis.TimelineRecord, k known, lateness int) []Finding {
	if r.End != retwis.ListComplete && r.End != retwis.ListTrimmed {
		return nil // its next reader builds it
	}
	generation := strconv.FormatInt(r.Generation, 10)
	author := map[retwis.PostID]retwis.UserID{}
	for by, posts := range k.posted {
		for _, post := range posts {
			author[post] = by
		}
	}
	var found []Finding
	add := func(kind Kind, user retwis.UserID, post retwis.PostID, witness, format string, args ...any) {
		found = append(found, entryFinding(kind, r.ID, user, post, witness, format, args...))
	}
	if r.Foreign > 0 {
		add(Extra, 0, 0, "", "holds %d entries that are no posts", r.Foreign)
	}

	times := map[retwis.PostID]int{}
	for _, post := range r.Entries {
		times[post]++
	}
	lines := map[retwis.UserID][]retwis.PostID{} // of one author, as they stand in the list
	for _, post := range r.Entries {
		n := times[post]
		if n == 0 {
			continue // told of already
		}
		times[post] = 0
		for range n - 1 {
			add(Doubled, author[post], post, "", "holds post %s %d times", post, n)
		}
		by, ok := author[post]
		if !ok {
			record := k.records[post]
			if !record.There {
				add(Extra, 0, post, generation, "holds %s, which is no post", post)
				continue
			}
			if record.Deleted {
				continue // nobody sees where it stands
			}
			by = record.Author
			if _, follows := r.Sources[by]; !follows && !owns(r.ID, by) {
				add(Extra, by, post, generation, "holds post %s of %s, who is not followed", post, by)
				continue
			}
		}
		if n == 1 {
			lines[by] = append(lines[by], post)
		}
	}
	for by, line := range lines {
		for _, post := range outOfOrder(line) {
			add(OutOfOrder, by, post, generation, "holds post %s of %s out of order", post, by)
		}
	}
	for _, missing := range lacking(r, k.posted, lateness) {
		record := k.records[missing.post]
		if record.There && !record.Deleted && record.Author == missing.author {
			// As long as it is the same follow, nothing but fan-out brings the post.
			add(Missing, missing.author, missing.post, fmt.Sprint(r.Sources[missing.author]), "lacks post %s of %s", missing.post, missing.author)
		}
	}
	return found
}

// owns reports whether a timeline is a user's own home.
func owns(id retwis.TimelineID, user retwis.UserID) bool {
	return id.Kind == retwis.HomeTimeline && id.Owner == user
}

// compareMentions compares the mentions of a user with the posts there: each is one that
// names the user, once.
func compareMentions(r retwis.TimelineRecord, records map[retwis.PostID]retwis.PostRecord) []Finding {
	var found []Finding
	times := map[retwis.PostID]int{}
	for _, post := range r.Entries {
		if times[post]++; times[post] > 1 {
			found = append(found, entryFinding(Doubled, r.ID, records[post].Author, post, "", "hold post %s more than once", post))
			continue
		}
		record := records[post]
		switch {
		case !record.There:
			found = append(found, entryFinding(Extra, r.ID, 0, post, "", "hold %s, which is no post", post))
		case !slices.Contains(record.Mentions, r.ID.Owner):
			found = append(found, entryFinding(Extra, r.ID, record.Author, post, "", "hold post %s of %s, which does not name them", post, record.Author))
		}
	}
	return found
}

// comparePublic compares the entries of the public timeline with the posts there: each is
// one, once. Deleted ones keep their places.
func comparePublic(r retwis.TimelineRecord, records map[retwis.PostID]retwis.PostRecord) []Finding {
	var found []Finding
	seen := map[retwis.PostID]bool{}
	for _, post := range r.Entries {
		record := records[post]
		switch {
		case !record.There:
			found = append(found, entryFinding(Extra, r.ID, 0, post, "", "holds %s, which is no post", post))
		case seen[post]:
			found = append(found, entryFinding(Doubled, r.ID, record.Author, post, "", "holds post %s more than once", post))
		}
		seen[post] = true
	}
	return found
}

// compareProfile compares a profile with the posts on it: each is one of the user's, once,
// newest first.
func compareProfile(user retwis.UserID, posts []retwis.PostID, records map[retwis.PostID]retwis.PostRecord) []Finding {
	id := retwis.Profile(user)
	var found []Finding
	times := map[retwis.PostID]int{}
	for _, post := range posts {
		times[post]++
	}
	var line []retwis.PostID
	for _, post := range posts {
		n := times[post]
		if n == 0 {
			continue
		}
		times[post] = 0
		record := records[post]
		switch {
		case !record.There || record.Deleted || record.Author != user:
			found = append(found, entryFinding(ProfileExtra, id, user, post, "", "holds %s, which is no post of theirs", post))
		case n > 1:
			found = append(found, entryFinding(ProfileDoubled, id, user, post, "", "holds post %s %d times", post, n))
		default:
			line = append(line, post)
		}
	}
	for _, post := range outOfOrder(line) {
		found = append(found, entryFinding(ProfileOrder, id, user, post, "", "holds post %s out of order", post))
	}
	return found
}

// outOfOrder returns as few posts as possible without which the others descend.
func outOfOrder(line []retwis.PostID) []retwis.PostID {
	descends := true
	for i := 1; i < len(line); i++ {
		descends = descends && line[i] < line[i-1]
	}
	if descends {
		return nil
	}
	// The longest descending run of posts, not necessarily next to each other, stays:
	// last[n] is where the run of n+1 posts ends whose end is the greatest.
	var last []int
	before := make([]int, len(line))
	for i, post := range line {
		n, _ := slices.BinarySearchFunc(last, post, func(at int, post retwis.PostID) int {
			if line[at] > post {
				return -1
			}
			return 1
		})
		before[i] = -1
		if n > 0 {
			before[i] = last[n-1]
		}
		if n == len(last) {
			last = append(last, i)
		} else {
			last[n] = i
		}
	}
	stays := map[int]bool{}
	for i := last[len(last)-1]; i >= 0; i = before[i] {
		stays[i] = true
	}
	var out []retwis.PostID
	for i, post := range line {
		if !stays[i] {
			out = append(out, post)
		}
	}
	return out
}
