package validate

import (
	"maps"

	"retwis/internal/torture/history"
)

// stream applies the events of a subscriber like a client, and compares the result with the home timeline at the end. A
// reset is allowed; a silent gap or repeat is not. The order is checked among events only, because pages below a full
// list show posts that are not delivered yet and arrive later, as documented.
func (c *checker) stream(s history.Stream) {
	known, order := map[string]bool{}, map[string]int{}
	received := map[string]bool{} // since the last reset
	for _, e := range s.Events {
		switch e.Kind {
		case history.Reset:
			known, order, received = set(e.Texts), map[string]int{}, map[string]bool{}
		case history.Added:
			author, seq := parse(e.Text)
			_, reposter := shownBy(e.Text)
			if received[e.Text] {
				c.report(ExactlyOnce, "%s received %q twice without a reset", s.Client, e.Text)
			} else if reposter == "" && seq < order[author] {
				c.report(Ordered, "%s received %q after a newer post of %s", s.Client, e.Text, author)
			}
			if reposter == "" {
				order[author] = max(order[author], seq)
			}
			known[e.Text], received[e.Text] = true, true
		case history.Removed:
			delete(known, e.Text)
			maps.DeleteFunc(known, func(entry string, _ bool) bool {
				text, _ := shownBy(entry)
				return text == e.Text
			})
		}
	}
	view, ok := c.view(s.Client)
	if !ok {
		return
	}
	home, shown := set(view.Home), showing(view.Home)
	for entry := range known {
		text, reposter := shownBy(entry)
		author, _ := parse(text)
		to, _ := answered(text)
		// The deletion of an account hides the answers of others to it without an event, as documented.
		excused := c.facts.leaving[text] || c.facts.gone[author] || c.facts.gone[to]
		if _, deleted := c.facts.deleted[text]; !home[text] && (reposter == "" || !shown[text]) && !deleted && !excused && !c.facts.gone[reposter] {
			c.report(Resumable, "%s knows %q from its subscription, and its home lacks it", s.Client, entry)
		}
		if reposter != "" && c.facts.state(c.facts.hides, s.Client, reposter) == present {
			c.report(Resumable, "%s knows %q from its subscription, and received no reset when its home hid the reposts of %s", s.Client, entry, reposter)
		}
	}
	told := map[string]bool{} // texts of posts
	for entry := range known {
		text, _ := shownBy(entry)
		told[text] = true
	}
	for _, entry := range view.Home {
		// A repost that repeated another entry may appear without an event, as documented: when that one was undone, or is below the end
		// of the stored list.
		text, reposter := shownBy(entry)
		repeated := reposter != "" && (told[text] || c.facts.undone[text])
		if !known[entry] && !repeated {
			c.report(Resumable, "%s never received %q, which its home holds", s.Client, entry)
		}
	}
}

func (c *checker) view(user string) (history.View, bool) {
	for _, v := range c.history.Views {
		if v.User == user {
			return v, true
		}
	}
	return history.View{}, false
}
