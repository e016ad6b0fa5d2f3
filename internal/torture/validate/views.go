package validate

import (
	"slices"

	"retwis/internal/torture/history"
)

// durable checks that every acknowledged post is on its author's profile, and on the home of its author and of every
// follower.
func (c *checker) durable(v history.View) {
	byAuthor := c.facts.byAuthor()
	c.contains(v.User+"'s profile", v.Profile, byAuthor[v.User])
	c.contains(v.User+"'s home", v.Home, byAuthor[v.User])
	for author, e := range c.facts.edges[v.User] {
		if e == present {
			c.contains(v.User+"'s home", v.Home, byAuthor[author])
		}
	}
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
	for where, list := range map[string][]string{"home": v.Home, "home read backwards": v.Backwards, "profile": v.Profile} {
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
	for where, list := range map[string][]string{"home": v.Home, "profile": v.Profile} {
		last := map[string]string{}
		for _, text := range list {
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

// isolated checks that a home holds posts of its owner and of followed authors only, and no deleted or invented post.
func (c *checker) isolated(v history.View) {
	for _, text := range slices.Concat(v.Home, v.Profile) {
		author, _ := parse(text)
		switch {
		case !c.facts.allowed(text):
			if _, deleted := c.facts.deleted[text]; deleted {
				c.report(NoResurrection, "%s still sees %q, whose deletion was acknowledged", v.User, text)
			} else {
				c.report(Isolation, "%s sees %q, which nobody created", v.User, text)
			}
		case author != v.User && c.facts.edges[v.User][author] == absent:
			c.report(Isolation, "%s's home holds %q of somebody not followed", v.User, text)
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
	held := set(v.Following)
	for author, e := range c.facts.edges[v.User] {
		switch {
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
	}
	if certain && v.Followings != followings {
		c.report(Counts, "%s follows %d users, and followingCount says %d", v.User, followings, v.Followings)
	}
	followers, certain := 0, true
	for _, edges := range c.facts.edges {
		switch edges[v.User] {
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

// resurrected checks that no page requested after an acknowledged deletion contains the post.
func (c *checker) resurrected() {
	for _, o := range c.history.Operations {
		if o.Kind != history.ReadHome || o.Outcome != history.OK {
			continue
		}
		for _, text := range o.Texts {
			if at, ok := c.facts.deleted[text]; ok && at < o.Call {
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
