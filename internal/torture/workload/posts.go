package workload

import (
	"math/rand/v2"
	"slices"
	"sync"
)

type post struct{ id, text string }

// posts are the posts of all users that a client has seen.
type posts struct {
	mu     sync.Mutex
	texts  map[string]string // by id
	newest []post            // the last [maxRecent]
}

// maxRecent is the number of posts that may be answered.
const maxRecent = 40

// add adds a post and reports whether it was unknown.
func (p *posts) add(seen post) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.texts[seen.id]; known {
		return false
	}
	if p.texts == nil {
		p.texts = map[string]string{}
	}
	p.texts[seen.id] = seen.text
	p.newest = append(p.newest, seen)
	if len(p.newest) > maxRecent {
		p.newest = p.newest[1:]
	}
	return true
}

// text returns the text of a post, empty if it is unknown.
func (p *posts) text(id string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.texts[id]
}

// recent returns one of the newest posts, which may have been deleted.
func (p *posts) recent() (post, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.newest) == 0 {
		return post{}, false
	}
	return p.newest[rand.IntN(len(p.newest))], true
}

// ids returns the ids of all posts.
func (p *posts) ids() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]string, 0, len(p.texts))
	for id := range p.texts {
		all = append(all, id)
	}
	slices.Sort(all)
	return all
}
