// Package validate checks recorded histories against the promises of the service. It depends only on the API of
// the service.
package validate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"retwis/internal/torture/history"
)

// Promise is a promise of the service.
type Promise string

// The promises of docs/reliability.md.
const (
	Durable        Promise = "Durable"
	ExactlyOnce    Promise = "Exactly once"
	Ordered        Promise = "Ordered"
	Resumable      Promise = "Resumable"
	CompletePages  Promise = "Complete pages"
	NoResurrection Promise = "No resurrection"
	Counts         Promise = "Counts"
	Isolation      Promise = "Isolation of unfollowed and deleted"
	Linearizable   Promise = "Linearizable"
)

// Violation is an observation that breaks a promise.
type Violation struct {
	Promise Promise `json:"promise"`
	Detail  string  `json:"detail"`
}

func (v Violation) String() string { return string(v.Promise) + ": " + v.Detail }

// Check returns all violations of a history, at most 20 of each promise.
func Check(h *history.History) []Violation {
	c := &checker{history: h, facts: gather(h), counts: map[Promise]int{}}
	for _, view := range h.Views {
		c.durable(view)
		c.mentioned(view)
		c.exactlyOnce(view)
		c.ordered(view)
		c.completePages(view)
		c.isolated(view)
		c.counted(view)
		c.reposted(view)
	}
	c.resurrected()
	c.hiddenReposts()
	c.threads()
	for _, stream := range h.Streams {
		c.stream(stream)
	}
	c.linearizable()
	return c.found
}

// Text returns the text of an author's post with a sequence number. Validators read the author and the order from it.
func Text(author string, seq int) string { return fmt.Sprintf("%s %06d", author, seq) }

// Answering returns the text of a reply to a post.
func Answering(text, answered string) string {
	author, seq := parse(answered)
	return text + " >" + Text(author, seq)
}

// Mentioning returns a text with the mention of a user, and with the user's name as a hashtag.
func Mentioning(text, user string) string { return text + " @" + user + " #" + user }

// parse returns the author and the sequence number of a text.
func parse(text string) (author string, seq int) {
	author, rest, _ := strings.Cut(text, " ")
	digits, _, _ := strings.Cut(rest, " ")
	seq, _ = strconv.Atoi(digits)
	return author, seq
}

// mentioned returns the user whom a text mentions, empty for none.
func mentioned(text string) string {
	_, user, _ := strings.Cut(text, "@")
	user, _, _ = strings.Cut(user, " ")
	return user
}

// answered returns the author of the post that a text answers, and the beginning of that post's text, empty if it answers none.
func answered(text string) (author, answered string) {
	_, rest, found := strings.Cut(text, ">")
	if !found {
		return "", ""
	}
	author, seq := parse(rest)
	return author, Text(author, seq)
}

// facts are the facts that follow from the operations of a history.
type facts struct {
	operations []history.Operation // in the order of their calls

	created map[string]int64           // text → when its creation was acknowledged
	maybe   map[string]bool            // texts whose creation has an unknown outcome
	deleted map[string]int64           // text → when its deletion was acknowledged
	leaving map[string]bool            // texts whose deletion has an unknown outcome
	edges   map[string]map[string]edge // follower → author
	hides   map[string]map[string]edge // follower → author whose reposts the home does not show
	members map[string]map[string]edge // owner of a list → author
	likes   map[string]map[string]edge // user → text of a post
	reposts map[string]map[string]edge // user → text of a post
	undone  map[string]bool            // texts of posts of which a repost may have been undone
	gone    map[string]bool            // users who deleted their accounts
}

// edge is the state of a follow at the end of a history.
type edge int

const (
	absent edge = iota
	present
	uncertain
)

func gather(h *history.History) facts {
	f := facts{
		created: map[string]int64{}, maybe: map[string]bool{},
		deleted: map[string]int64{}, leaving: map[string]bool{},
		edges: map[string]map[string]edge{}, hides: map[string]map[string]edge{}, members: map[string]map[string]edge{}, likes: map[string]map[string]edge{},
		reposts: map[string]map[string]edge{}, undone: map[string]bool{}, gone: map[string]bool{},
	}
	left := map[string]bool{} // users whose deletion has an unknown outcome so far
	f.operations = slices.Clone(h.Operations)
	slices.SortStableFunc(f.operations, func(a, b history.Operation) int { return int(a.Call - b.Call) })
	for _, o := range f.operations {
		switch {
		case o.Kind == history.Leave:
			// A session ends with its account, so a repeat is refused.
			f.gone[o.Client] = f.gone[o.Client] || o.Outcome == history.OK || o.Outcome == history.Refused && left[o.Client]
			left[o.Client] = true
		case o.Outcome == history.Refused:
		case o.Kind == history.Post && o.Outcome == history.OK:
			if at, ok := f.created[o.Text]; !ok || o.Return < at {
				f.created[o.Text] = o.Return
			}
		case o.Kind == history.Post:
			f.maybe[o.Text] = true
		case o.Kind == history.Delete && o.Outcome == history.OK:
			if at, ok := f.deleted[o.Text]; !ok || o.Return < at {
				f.deleted[o.Text] = o.Return
			}
		case o.Kind == history.Delete:
			f.leaving[o.Text] = true
		case o.Kind == history.Follow || o.Kind == history.Unfollow:
			f.change(f.edges, o, o.Kind == history.Follow)
			if o.Kind == history.Unfollow || o.Reposts != history.DefaultReposts {
				f.change(f.hides, o, o.Reposts == history.HideReposts)
			}
		case o.Kind == history.AddMember || o.Kind == history.DropMember:
			f.change(f.members, o, o.Kind == history.AddMember)
		case o.Kind == history.Like || o.Kind == history.Unlike:
			f.change(f.likes, o, o.Kind == history.Like)
		case o.Kind == history.Repost || o.Kind == history.UndoRepost:
			f.change(f.reposts, o, o.Kind == history.Repost)
			f.undone[o.Target] = f.undone[o.Target] || o.Kind == history.UndoRepost
		}
	}
	for user := range f.gone {
		for text := range f.reposts[user] {
			f.undone[text] = true
		}
	}
	return f
}

// change records a change of an edge. The client of an edge retries a change until it is acknowledged, so an unknown
// outcome counts only where no acknowledged change comes after it.
func (f *facts) change(edges map[string]map[string]edge, o history.Operation, on bool) {
	if edges[o.Client] == nil {
		edges[o.Client] = map[string]edge{}
	}
	now := absent
	if on {
		now = present
	}
	if o.Outcome == history.Unknown && edges[o.Client][o.Target] != now {
		now = uncertain
	}
	edges[o.Client][o.Target] = now
}

// state returns the state of an edge at the end. The deletion of an account removes its edges.
func (f *facts) state(edges map[string]map[string]edge, client, target string) edge {
	if f.gone[client] || f.gone[target] {
		return absent
	}
	return edges[client][target]
}

// required reports whether a post must exist at the end, and allowed whether it may exist.
func (f *facts) required(text string) bool {
	_, created := f.created[text]
	_, deleted := f.deleted[text]
	author, _ := parse(text)
	return created && !deleted && !f.leaving[text] && !f.gone[author]
}

func (f *facts) allowed(text string) bool {
	_, created := f.created[text]
	_, deleted := f.deleted[text]
	author, _ := parse(text)
	return (created || f.maybe[text]) && !deleted && !f.gone[author]
}

// certain reports whether it is known for each post of an author if it exists at the end.
func (f *facts) certain(author string) bool {
	for text := range f.maybe {
		if _, created := f.created[text]; !created && by(text, author) {
			return false
		}
	}
	for text := range f.leaving {
		if _, deleted := f.deleted[text]; !deleted && by(text, author) {
			return false
		}
	}
	return true
}

func by(text, author string) bool {
	of, _ := parse(text)
	return of == author
}

// byAuthor returns the texts that must exist at the end, by author.
func (f *facts) byAuthor() map[string][]string {
	all := map[string][]string{}
	for _, text := range slices.Sorted(maps.Keys(f.created)) {
		if f.required(text) {
			author, _ := parse(text)
			all[author] = append(all[author], text)
		}
	}
	return all
}

// checker collects violations.
type checker struct {
	history *history.History
	facts   facts
	found   []Violation
	counts  map[Promise]int
}

// most bounds the reported violations of one promise.
const most = 20

func (c *checker) report(p Promise, format string, args ...any) {
	if c.counts[p]++; c.counts[p] <= most {
		c.found = append(c.found, Violation{p, fmt.Sprintf(format, args...)})
	}
}
