package postcache

import (
	"math/rand/v2"
	"os"
	"testing"

	"retwis/internal/retwis"
)

// model is a database of partitions and several processes with a cache each. A step carries out one request or one reply, so
// the steps of concurrent pages mix in any order. Deletions reach the partitions late, in any order, and failovers lose
// the latest changes of a partition, which are then delivered again.
type model struct {
	r         *rand.Rand
	clock     int64
	deleted   map[retwis.PostID]bool
	streams   [][]entry                // changes by partition
	waiting   []map[retwis.PostID]bool // deletions to deliver, by partition
	processes []*Cache
	pages     []*page
	shown     int // posts shown from a cache
}

type entry struct {
	id   retwis.ChangeID
	post retwis.PostID
}

// page is the state of a page that a process reads.
type page struct {
	process   *Cache
	partition int
	from      retwis.ChangeID
	changes   *Changes               // reply of the read of the list, not yet received
	reached   map[retwis.PostID]bool // posts whose deletions had reached the partition when the list was read
	reading   *Reading
	sent      []retwis.PostID // posts that are being read; nil before
	results   []Result        // of the read; nil before
}

const (
	modelPosts      = 12
	modelPartitions = 3
	modelKeep       = 6 // changes that a stream keeps
	modelMost       = 4 // changes that a read returns
)

func (m *model) append(partition int, post retwis.PostID) {
	m.clock++
	s := append(m.streams[partition], entry{change(m.clock), post})
	m.streams[partition] = s[max(0, len(s)-modelKeep):]
	delete(m.waiting[partition], post)
}

func (m *model) last(partition int) retwis.ChangeID {
	if s := m.streams[partition]; len(s) > 0 {
		return s[len(s)-1].id
	}
	return retwis.ChangeID{}
}

// since does what lib/changes.lua does.
func (m *model) since(partition int, from retwis.ChangeID) *Changes {
	c := &Changes{From: from, Last: m.last(partition), Complete: from == m.last(partition)}
	for i, e := range m.streams[partition] {
		if later := m.streams[partition][i+1:]; e.id == from && len(later) <= modelMost {
			c.Complete = true
			for _, l := range later {
				c.Posts = append(c.Posts, l.post)
			}
		}
	}
	return c
}

// step does one thing, and reports a post that a page must not show.
func (m *model) step() (wrong retwis.PostID) {
	partition := m.r.IntN(modelPartitions)
	switch n := m.r.IntN(100); {
	case n < 6:
		post := retwis.PostID(1 + m.r.IntN(modelPosts))
		if !m.deleted[post] {
			m.deleted[post] = true
			for _, w := range m.waiting {
				w[post] = true
			}
			if m.r.IntN(2) == 0 {
				m.processes[m.r.IntN(len(m.processes))].Drop(post)
			}
		}
	case n < 20:
		for post := range m.waiting[partition] {
			m.append(partition, post)
			break
		}
	case n < 22: // a failover
		s := m.streams[partition]
		kept := max(0, len(s)-1-m.r.IntN(3))
		for _, lost := range s[kept:] {
			m.waiting[partition][lost.post] = true
		}
		m.streams[partition] = s[:kept:kept]
	case n < 25: // the background
		c := m.processes[m.r.IntN(len(m.processes))]
		if from, on := c.Position(partition); on {
			c.Apply(partition, *m.since(partition, from))
		} else {
			c.Start([]retwis.ChangeID{m.last(0), m.last(1), m.last(2)}, roomy)
		}
	case n < 45:
		c := m.processes[m.r.IntN(len(m.processes))]
		if from, on := c.Position(partition); on {
			m.pages = append(m.pages, &page{process: c, partition: partition, from: from})
		}
	case len(m.pages) > 0:
		i := m.r.IntN(len(m.pages))
		var done bool
		if wrong, done = m.advance(m.pages[i]); done {
			m.pages[i] = m.pages[len(m.pages)-1]
			m.pages = m.pages[:len(m.pages)-1]
		}
	}
	return wrong
}

// advance carries out the next step of a page.
func (m *model) advance(p *page) (wrong retwis.PostID, done bool) {
	switch {
	case p.changes == nil:
		p.changes = m.since(p.partition, p.from)
		p.reached = map[retwis.PostID]bool{}
		for _, e := range m.streams[p.partition] {
			p.reached[e.post] = true
		}
	case p.sent == nil:
		p.process.Apply(p.partition, *p.changes)
		for post := retwis.PostID(1); post <= modelPosts; post++ {
			found := make([]*retwis.Post, 1)
			if p.process.Find([]retwis.PostID{post}, []bool{true}, found) != nil {
				p.sent = append(p.sent, post)
				continue
			}
			m.shown++
			if found[0] != nil && p.reached[post] {
				return post, true
			}
		}
		reading := p.process.BeginReading()
		p.reading = &reading
		return 0, p.sent == nil
	case p.results == nil:
		p.results = make([]Result, len(p.sent))
		for i, id := range p.sent {
			p.results[i].ID = id
			if !m.deleted[id] {
				p.results[i].Post = post(int(id))
			}
		}
	default:
		p.process.Add(*p.reading, p.results)
		return 0, true
	}
	return 0, false
}

func TestCache_ShowsNoPostWhoseDeletionReachedThePartition(t *testing.T) {
	t.Parallel()
	runs := 1000
	if os.Getenv("RETWIS_SOAK") != "" {
		runs *= 100
	}
	shown := 0
	for run := range runs {
		m := model{r: rand.New(rand.NewPCG(uint64(run), 0)), deleted: map[retwis.PostID]bool{}, processes: []*Cache{New(), New()}}
		for range modelPartitions {
			m.streams, m.waiting = append(m.streams, nil), append(m.waiting, map[retwis.PostID]bool{})
		}
		for n := range 400 {
			if wrong := m.step(); wrong != 0 {
				t.Fatalf("run %d, step %d: a page shows post %d, whose deletion had reached its partition", run, n, wrong)
			}
		}
		shown += m.shown
	}
	if shown < 10*runs {
		t.Errorf("only %d posts were shown from a cache in %d runs", shown, runs)
	}
}
