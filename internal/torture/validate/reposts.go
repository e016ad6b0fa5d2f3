package validate

import (
	"math"
	"slices"
	"strings"
	"time"

	"retwis/internal/torture/history"
)

// Reposting returns the text that represents a repost in a list: the text of the post, the reposter, and the id of the entry, because a
// user may undo a repost and repost the post again.
func Reposting(text, reposter, id string) string { return text + " ~" + reposter + " " + id }

// RepostID returns the id of the entry in the text that represents a repost, and nothing for other texts.
func RepostID(text string) string {
	_, rest, _ := strings.Cut(text, " ~")
	_, id, _ := strings.Cut(rest, " ")
	return id
}

// shownBy returns the text of the post that an entry shows, and the reposter, empty if the entry is the post itself.
func shownBy(entry string) (text, reposter string) {
	text, rest, _ := strings.Cut(entry, " ~")
	reposter, _, _ = strings.Cut(rest, " ")
	return text, reposter
}

// WithoutReposts returns the entries of a list that are posts themselves.
func WithoutReposts(list []string) []string {
	var posts []string
	for _, entry := range list {
		if _, reposter := shownBy(entry); reposter == "" {
			posts = append(posts, entry)
		}
	}
	return posts
}

// showing returns the texts of the posts that a list shows, by themselves or by reposts.
func showing(list []string) map[string]bool {
	shown := make(map[string]bool, len(list))
	for _, entry := range list {
		text, _ := shownBy(entry)
		shown[text] = true
	}
	return shown
}

// reposted checks that the timelines of a user show the reposts of their sources, and no other reposts. A timeline need not show the repost
// of a post that it shows further below.
func (c *checker) reposted(v history.View) {
	all := lists(v)
	sources := map[string]func(reposter string) edge{
		onHome:    func(r string) edge { return c.showsReposts(v.User, r) },
		onList:    func(r string) edge { return c.facts.state(c.facts.members, v.User, r) },
		onProfile: func(r string) edge { return isUser(v.User, r) },
		onReplies: func(r string) edge { return isUser(v.User, r) },
	}
	for where, list := range all {
		seen := map[[2]string]bool{} // text and reposter
		for _, entry := range list {
			text, reposter := shownBy(entry)
			if repost := [2]string{text, reposter}; reposter != "" && seen[repost] {
				c.report(ExactlyOnce, "%s's %s holds two reposts of %q by %s", v.User, where, text, reposter)
			} else {
				seen[repost] = true
			}
			switch source := sources[where]; {
			case reposter == "":
			case source == nil || source(reposter) == absent:
				c.report(Isolation, "%s's %s holds %q, whose reposter is none of its sources, or hidden", v.User, where, entry)
			case c.repostOf(reposter, text) == absent:
				c.report(NoResurrection, "%s's %s holds %q, which was undone, or which nobody reposted", v.User, where, entry)
			}
		}
	}
	for where, source := range sources {
		shown := showing(all[where])
		for reposter, texts := range c.facts.reposts {
			if source(reposter) != present {
				continue
			}
			for text := range texts {
				if c.repostOf(reposter, text) == present && c.facts.required(text) && !shown[text] {
					c.report(Durable, "%s's %s lacks %q, whose repost by %s was acknowledged", v.User, where, text, reposter)
				}
			}
		}
	}
}

// repostOf returns the state of a repost at the end.
func (c *checker) repostOf(user, text string) edge {
	if c.facts.gone[user] {
		return absent
	}
	return c.facts.reposts[user][text]
}

// follows returns whether the home of a user has the posts of an author.
func (c *checker) follows(user, author string) edge {
	if user == author {
		return present
	}
	return c.facts.state(c.facts.edges, user, author)
}

// showsReposts returns whether the home of a user has the reposts of an author.
func (c *checker) showsReposts(user, author string) edge {
	follows := c.follows(user, author)
	switch hides := c.facts.state(c.facts.hides, user, author); {
	case hides == present:
		return absent
	case hides == uncertain && follows == present:
		return uncertain
	}
	return follows
}

// slowPage is the time after which a page may come from a master that was frozen and replaced. Such a master may show hidden reposts, as
// documented.
const slowPage = 250 * time.Millisecond

// hiddenReposts checks that no home that a user requested after hiding the reposts of an author, and received soon and before the next
// change of that follow, contains one.
func (c *checker) hiddenReposts() {
	type span struct{ from, to int64 } // from the return of one operation to the call of another
	spans := map[[2]string][]span{}    // by follower and author
	for _, o := range c.facts.operations {
		if o.Kind != history.Follow && o.Kind != history.Unfollow || o.Outcome == history.Refused {
			continue
		}
		edge := [2]string{o.Client, o.Target}
		all, shows := spans[edge], o.Kind == history.Unfollow || o.Reposts == history.ShowReposts
		hidden := len(all) > 0 && all[len(all)-1].to == math.MaxInt64
		switch {
		case hidden && shows:
			all[len(all)-1].to = o.Call
		case !hidden && o.Reposts == history.HideReposts && o.Outcome == history.OK:
			spans[edge] = append(all, span{o.Return, math.MaxInt64})
		}
	}
	for _, o := range c.facts.operations {
		if o.Kind != history.ReadHome || o.Outcome != history.OK || o.Return-o.Call >= int64(slowPage) {
			continue
		}
		for _, entry := range o.Texts {
			_, reposter := shownBy(entry)
			if slices.ContainsFunc(spans[[2]string{o.Client, reposter}], func(s span) bool { return s.from < o.Call && o.Return < s.to }) {
				c.report(Isolation, "%s read %q after hiding the reposts of %s", o.Client, entry, reposter)
			}
		}
	}
}

func isUser(user, other string) edge {
	if user == other {
		return present
	}
	return absent
}

// repostsCounted checks the number of reposts of a post.
func (c *checker) repostsCounted(thread history.Thread) {
	least, most := 0, 0
	for user := range c.facts.reposts {
		switch c.repostOf(user, thread.Text) {
		case present:
			least++
			most++
		case uncertain:
			most++
		}
	}
	if thread.Reposts < least || thread.Reposts > most {
		c.report(Counts, "%d to %d users have reposted %q, and repostCount says %d", least, most, thread.Text, thread.Reposts)
	}
}
