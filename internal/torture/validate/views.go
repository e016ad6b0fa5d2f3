package validate

import (
	"slices"

	"retwis/internal/torture/history"
)

// The timelines of a view.
const (
	onHome     = "home"
	onProfile  = "profile"
	onReplies  = "profile with replies"
	onList     = "list"
	inMentions = "mentions"
	withTag    = "hashtag"
)

// durable checks that every acknowledged post is on its author's profile, and, if it is shown there, on the home of its
// author and of every follower, and on every list that contains the author.
func (c *checker) durable(v history.View) {
	byAuthor := c.facts.byAuthor()
	all := lists(v)
	require := func(where, author string) {
		var wanted []string
		for _, text := range byAuthor[author] {
			if c.shown(v, where, text) == present {
				wanted = append(wanted, text)
			}
		}
		c.contains(v.User+"'s "+where, all[where], wanted)
	}
	require(onProfile, v.User)
	require(onReplies, v.User)
	require(onHome, v.User)
	for author := range c.facts.edges[v.User] {
		if c.facts.state(c.facts.edges, v.User, author) == present {
			require(onHome, author)
		}
	}
	for author := range c.facts.members[v.User] {
		if c.facts.state(c.facts.members, v.User, author) == present {
			require(onList, author)
		}
	}
}

// mentioned checks that the mentions of a user, and the user's name as a hashtag, have the posts that mention the user, and no others. The
// workload mentions a user less often than these timelines have room for.
func (c *checker) mentioned(v history.View) {
	for where, held := range map[string][]string{inMentions: v.Mentions, withTag: v.Tagged} {
		for _, texts := range c.facts.byAuthor() {
			for _, text := range texts {
				if mentioned(text) == v.User {
					c.contains(v.User+"'s "+where, held, []string{text})
				}
			}
		}
		for _, text := range held {
			if mentioned(text) != v.User {
				c.report(Isolation, "%s's %s holds %q", v.User, where, text)
			}
		}
	}
}

// lists returns the timelines of a view by name.
func lists(v history.View) map[string][]string {
	return map[string][]string{onHome: v.Home, onProfile: v.Profile, onReplies: v.Replies, onList: v.List, inMentions: v.Mentions, withTag: v.Tagged}
}

func (c *checker) contains(where string, list, wanted []string) {
	held := set(list)
	for _, text := range wanted {
		if !held[text] {
			c.report(Durable, "%s lacks %q, whose creation was acknowledged", where, text)
		}
	}
}

func (c *checker) exactlyOnce(v history.View) {
	all := lists(v)
	all["home read backwards"] = v.Backwards
	for where, list := range all {
		seen := map[string]bool{}
		for _, text := range list {
			if seen[text] {
				c.report(ExactlyOnce, "%s's %s holds %q twice", v.User, where, text)
			}
			seen[text] = true
		}
	}
}

// ordered checks that the posts of each author are in the order of their creation.
func (c *checker) ordered(v history.View) {
	for where, list := range lists(v) {
		last := map[string]string{}
		for _, text := range WithoutReposts(list) {
			author, seq := parse(text)
			if above, ok := last[author]; ok {
				if _, newer := parse(above); seq > newer {
					c.report(Ordered, "on %s's %s %q is above %q", v.User, where, above, text)
				}
			}
			last[author] = text
		}
	}
}

// completePages checks that reading backwards returns the same posts as reading forwards.
func (c *checker) completePages(v history.View) {
	backwards := slices.Clone(v.Backwards)
	slices.Reverse(backwards)
	if !slices.Equal(v.Home, backwards) {
		forwards, back := set(v.Home), set(backwards)
		for _, text := range v.Home {
			if !back[text] {
				c.report(CompletePages, "%s's home read backwards lacks %q", v.User, text)
			}
		}
		for _, text := range backwards {
			if !forwards[text] {
				c.report(CompletePages, "%s's home read forwards lacks %q", v.User, text)
			}
		}
		if len(forwards) == len(back) {
			c.report(CompletePages, "%s's home has another order when it is read backwards", v.User)
		}
	}
}

// isolated checks that timelines hold no deleted or invented post, a home only posts of its owner and of followed authors,
// and a list only posts of its members.
func (c *checker) isolated(v history.View) {
	for where, list := range lists(v) {
		for _, entry := range list {
			text, reposter := shownBy(entry)
			author, _ := parse(text)
			if !c.facts.allowed(text) {
				_, deleted := c.facts.deleted[text]
				switch {
				case deleted:
					c.report(NoResurrection, "%s's %s holds %q, whose deletion was acknowledged", v.User, where, text)
				case c.facts.gone[author]:
					c.report(Isolation, "%s's %s holds %q of a deleted account", v.User, where, text)
				default:
					c.report(Isolation, "%s's %s holds %q, which nobody created", v.User, where, text)
				}
				continue
			}
			if reposter != "" {
				continue // see reposted
			}
			if where == onHome && author != v.User && c.facts.state(c.facts.edges, v.User, author) == absent ||
				where == onList && c.facts.state(c.facts.members, v.User, author) == absent {
				c.report(Isolation, "%s's %s holds %q of somebody not followed", v.User, where, text)
			}
			if c.shown(v, where, text) == absent {
				c.report(Isolation, "%s's %s shows %q, an answer to somebody else", v.User, where, text)
			}
		}
	}
}

// counted checks the counters and edges whose values are certain.
func (c *checker) counted(v history.View) {
	if c.facts.certain(v.User) {
		if want := len(c.facts.byAuthor()[v.User]); v.Posts != want {
			c.report(Counts, "%s has %d posts, and postCount says %d", v.User, want, v.Posts)
		}
	}
	followings, certain := 0, true
	held, hidden := set(v.Following), set(v.Hidden)
	for author := range c.facts.edges[v.User] {
		switch e := c.facts.state(c.facts.edges, v.User, author); {
		case e == uncertain:
			certain = false
		case e == present:
			followings++
			if !held[author] {
				c.report(Durable, "%s does not follow %s, although the follow was acknowledged", v.User, author)
			}
		case held[author]:
			c.report(Isolation, "%s still follows %s, although the unfollow was acknowledged", v.User, author)
		}
		if hides := c.facts.state(c.facts.hides, v.User, author); held[author] && hides != uncertain && hidden[author] != (hides == present) {
			c.report(Durable, "%s hides the reposts of %s: %t, although another choice was acknowledged", v.User, author, hidden[author])
		}
	}
	if certain && v.Followings != followings {
		c.report(Counts, "%s follows %d users, and followingCount says %d", v.User, followings, v.Followings)
	}
	followers, certain := 0, true
	for follower := range c.facts.edges {
		switch c.facts.state(c.facts.edges, follower, v.User) {
		case uncertain:
			certain = false
		case present:
			followers++
		}
	}
	if certain && v.Followers != followers {
		c.report(Counts, "%s has %d followers, and followerCount says %d", v.User, followers, v.Followers)
	}
}

// resurrected checks that no page that an author requested after an acknowledged deletion contains the post. The views, which
// are read after fan-out, cover other readers.
func (c *checker) resurrected() {
	for _, o := range c.history.Operations {
		if o.Kind != history.ReadHome || o.Outcome != history.OK {
			continue
		}
		for text := range showing(o.Texts) {
			author, _ := parse(text)
			if at, ok := c.facts.deleted[text]; ok && at < o.Call && author == o.Client {
				c.report(NoResurrection, "%s read %q after its deletion was acknowledged", o.Client, text)
			}
		}
	}
}

func set(list []string) map[string]bool {
	all := make(map[string]bool, len(list))
	for _, text := range list {
		all[text] = true
	}
	return all
}
