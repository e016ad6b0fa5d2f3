package store

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"slices"

	"retwis/internal/cost"
	"retwis/internal/outbox"
	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// rowsPerProfile is what the search for a place in a profile counts for.
const rowsPerProfile = 20

// ReadProfiles reads up to count entries of each of several profiles, newest first, starting after the given
// leading id of each profile. An id of 0 starts at the newest post, or, towards newer posts, at the oldest.
func (s *Timelines) ReadProfiles(ctx context.Context, authors []retwis.UserID, from []retwis.PostID, older bool, count int) ([][]retwis.Element, error) {
	return s.readProfiles(ctx, authors, from, older, count, nil)
}

// readProfiles does the same. If origins is not nil, it adds the state of each partition before its first read.
func (s *Timelines) readProfiles(ctx context.Context, authors []retwis.UserID, from []retwis.PostID, older bool, count int, origins origins) ([][]retwis.Element, error) {
	const perCall = 50 // bounds how long one call runs
	direction := "older"
	if !older {
		direction = "newer"
	}
	groups := map[rdb.Partition][]int{}
	for i, author := range authors {
		groups[s.db.OfUser(author)] = append(groups[s.db.OfUser(author)], i)
	}
	if err := cost.Visit(ctx, rowsPerProfile*len(authors)); err != nil {
		return nil, err
	}
	withState := "0"
	if origins != nil {
		withState = "1"
	}
	var calls []rdb.Call
	var members [][]int
	var read []rdb.Partition
	for p, group := range groups {
		for chunk := range slices.Chunk(group, perCall) {
			c := rdb.Call{
				Script: script.ReadProfiles,
				Keys:   []string{p.Clock(), p.Outbox(), p.Progress(p.Number)},
				Args:   []any{direction, count, withState},
			}
			for _, i := range chunk {
				c.Keys = append(c.Keys, p.User(authors[i]).Profile())
				start := ""
				if from[i] != 0 {
					start = from[i].String()
				}
				c.Args = append(c.Args, start)
			}
			calls = append(calls, c)
			members = append(members, chunk)
			read = append(read, p)
		}
	}
	found := make([][]retwis.Element, len(authors))
	for n, result := range s.db.DoAll(ctx, calls) {
		rows, err := result.Slice()
		if err != nil {
			return nil, fmt.Errorf("read profiles: %w", err)
		}
		if err := origins.add(read[n].Number, rows[0]); err != nil {
			return nil, fmt.Errorf("read profiles: %w", err)
		}
		for k, i := range members[n] {
			if found[i], err = rdb.Elements(rows[k+1]); err != nil {
				return nil, fmt.Errorf("read the profile of %s: %w", authors[i], err)
			}
		}
	}
	return found, nil
}

// authored is an entry of a profile, with the user of the profile.
type authored struct {
	element retwis.Element
	author  retwis.UserID

	answersSource  bool // whether it answers a post of a source of the timeline
	hiddenReposter bool // whether it is a repost that the timeline does not show
}

// mergeProfiles merges the profiles of the sources of a home or a list, and of a home's owner. It returns up to count
// posts after from, nearest first, and whether there are no more. A from of 0 starts at the newest post, or at the
// oldest one when it reads towards newer posts. If origins is not nil, it adds the state of each partition before its
// first read.
func (s *Timelines) mergeProfiles(ctx context.Context, id retwis.TimelineID, from retwis.PostID, older bool, count int, origins origins) ([]authored, bool, error) {
	authors, hidden, err := s.followed(ctx, id)
	if err != nil {
		return nil, false, err
	}
	followed, hides := setOf(authors), setOf(hidden)
	if id.Kind == retwis.HomeTimeline {
		authors = append(authors, id.Owner)
	}
	if len(authors) == 0 {
		return nil, true, nil
	}

	m := &merger{timelines: s, origins: origins, older: older, first: min(count, 8+2*count/len(authors))}
	for _, author := range authors {
		m.sources = append(m.sources, &source{author: author, at: from, more: true, batch: m.first})
	}
	if err := m.fill(ctx); err != nil {
		return nil, false, err
	}
	heap.Init(m)
	var merged []authored
	for len(merged) < count && m.Len() > 0 {
		next := m.sources[0]
		e := next.posts[0]
		merged = append(merged, authored{
			element: e, author: next.author, answersSource: e.Answered != 0 && followed[e.Answered],
			hiddenReposter: e.Reposted != 0 && hides[next.author],
		})
		next.posts = next.posts[1:]
		if len(next.posts) == 0 && next.more {
			if err := m.fill(ctx); err != nil {
				return nil, false, err
			}
			heap.Init(m)
			continue
		}
		if len(next.posts) == 0 {
			heap.Pop(m)
			continue
		}
		heap.Fix(m, 0)
	}
	return merged, m.Len() == 0, nil
}

// setOf returns the set of some users.
func setOf(users []retwis.UserID) map[retwis.UserID]bool {
	set := make(map[retwis.UserID]bool, len(users))
	for _, user := range users {
		set[user] = true
	}
	return set
}

// source is one author's profile while it is merged.
type source struct {
	author retwis.UserID
	posts  []retwis.Element // read and not merged, nearest first
	at     retwis.PostID    // the leading id of the last one read
	more   bool             // whether the profile may hold more
	batch  int              // number of posts of the next read
}

// merger is a heap of profiles by their nearest post.
type merger struct {
	timelines *Timelines
	origins   origins
	older     bool
	first     int
	sources   []*source
}

func (m *merger) Len() int { return len(m.sources) }
func (m *merger) Less(i, j int) bool {
	c := cmp.Compare(m.sources[i].posts[0].ID, m.sources[j].posts[0].ID)
	return (c > 0) == m.older
}
func (m *merger) Swap(i, j int) { m.sources[i], m.sources[j] = m.sources[j], m.sources[i] }
func (m *merger) Push(any)      {}
func (m *merger) Pop() any {
	last := m.sources[len(m.sources)-1]
	m.sources = m.sources[:len(m.sources)-1]
	return last
}

// fill reads more posts of every profile of which few read posts are left, in one round trip per batch size. Each
// further read of a profile has a larger batch.
func (m *merger) fill(ctx context.Context) error {
	groups := map[int][]*source{}
	for _, src := range m.sources {
		if src.more && 4*len(src.posts) <= src.batch {
			groups[src.batch] = append(groups[src.batch], src)
		}
	}
	for batch, group := range groups {
		authors := make([]retwis.UserID, len(group))
		from := make([]retwis.PostID, len(group))
		for i, src := range group {
			authors[i], from[i] = src.author, src.at
		}
		found, err := m.timelines.readProfiles(ctx, authors, from, m.older, batch, m.origins)
		if err != nil {
			return err
		}
		for i, src := range group {
			posts := found[i]
			if !m.older {
				slices.Reverse(posts)
			}
			src.posts = append(src.posts, posts...)
			src.more = len(posts) == batch
			if len(posts) > 0 {
				src.at = posts[len(posts)-1].ID
			}
			src.batch = min(4*batch, 1000)
		}
	}
	kept := m.sources[:0]
	for _, src := range m.sources {
		if len(src.posts) > 0 {
			kept = append(kept, src)
		}
	}
	m.sources = kept
	return nil
}

// origins are the partitions that posts were read from for a merge, by number. Fan-out must not push posts that the
// merge adds, and must push posts that were created after the read.
type origins map[int]origin

// origin is the state of a partition before its profiles were read.
type origin struct {
	clock     int64  // every post created up to this instant could be read
	watermark string // watermark of the outbox; '' if there is none
	last      string // last entry of the outbox above the watermark; '' if there is none
}

// add adds the state of a partition that a read returned, unless an earlier one is known. It does nothing on nil
// origins.
func (o origins) add(number int, reply any) error {
	if o == nil {
		return nil
	}
	fields, _ := reply.([]any)
	if len(fields) != 3 {
		return fmt.Errorf("unexpected state %v of partition %d", reply, number)
	}
	clock, err := parseScore(rdb.Text(fields[0]))
	if err != nil {
		return fmt.Errorf("parse the clock of partition %d: %w", number, err)
	}
	if earlier, ok := o[number]; !ok || clock < earlier.clock {
		o[number] = origin{clock, rdb.Text(fields[1]), rdb.Text(fields[2])}
	}
	return nil
}

// delivered returns the end of the ids of posts of the partition that fan-out has delivered everywhere. Entries of an outbox have the
// time of their posts.
func (o origin) delivered() retwis.PostID {
	if o.last == "" {
		return retwis.MaxPostID
	}
	return retwis.FirstPostID(outbox.CreatedAt(o.watermark))
}
