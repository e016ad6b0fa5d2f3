package validate

import "retwis/internal/torture/history"

// shown returns whether a timeline of a user shows a post at the end, if it holds the post. All show posts and continuations.
// A home shows replies of its owner, and to users whom its owner is or follows; a list shows those to its owner and its members.
func (c *checker) shown(v history.View, where, text string) edge {
	author, _ := parse(text)
	to, _ := answered(text)
	switch {
	case to == "" || to == author:
		return present
	case where == onProfile:
		return absent
	case where == onHome && author != v.User && to != v.User:
		return c.facts.state(c.facts.edges, v.User, to)
	case where == onList && to != v.User:
		return c.facts.state(c.facts.members, v.User, to)
	}
	return present
}

// threads checks the replies to each post and its likes, and their counts.
func (c *checker) threads() {
	wanted := map[string][]string{} // the replies that must exist
	for _, texts := range c.facts.byAuthor() {
		for _, text := range texts {
			if _, to := answered(text); to != "" {
				wanted[to] = append(wanted[to], text)
			}
		}
	}
	for _, thread := range c.history.Threads {
		author, seq := parse(thread.Text)
		begin := Text(author, seq)
		c.contains("the thread of "+begin, thread.Replies, wanted[begin])
		if len(set(thread.Replies)) < len(thread.Replies) {
			c.report(ExactlyOnce, "the thread of %q holds a reply twice: %q", begin, thread.Replies)
		}
		for _, reply := range thread.Replies {
			if !c.facts.allowed(reply) {
				c.report(NoResurrection, "the thread of %q holds %q, which was deleted or never created", begin, reply)
			}
			if _, to := answered(reply); to != begin {
				c.report(Isolation, "the thread of %q holds %q", begin, reply)
			}
		}
		if thread.Count != len(thread.Replies) {
			c.report(Counts, "%q has %d replies, and replyCount says %d", begin, len(thread.Replies), thread.Count)
		}
		c.liked(thread)
		c.repostsCounted(thread)
	}
}

// liked checks who likes a post, and the number.
func (c *checker) liked(thread history.Thread) {
	likers := set(thread.Likers)
	if len(likers) < len(thread.Likers) {
		c.report(ExactlyOnce, "a user likes %q twice: %q", thread.Text, thread.Likers)
	}
	if thread.Likes != len(thread.Likers) {
		c.report(Counts, "%d users like %q, and likeCount says %d", len(thread.Likers), thread.Text, thread.Likes)
	}
	for user, posts := range c.facts.likes {
		switch e := posts[thread.Text]; {
		case e == present && !likers[user]:
			c.report(Durable, "%s does not like %q, although the like was acknowledged", user, thread.Text)
		case e == absent && likers[user]:
			c.report(Isolation, "%s likes %q, although nobody asked for that or the end of the like was acknowledged", user, thread.Text)
		}
	}
}
