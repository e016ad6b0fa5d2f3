package store

import (
	"net/netip"
	"strconv"

	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// Every key is built here, so this file is the map of the database. What a key holds is
// said at its builder; ids are decimal, times are in UTC.

const (
	// metaKey is a hash: the schema version, the number of partitions, and demo where people
	// are made up.
	metaKey = "retwis:meta"
	// workersKey is a sorted set: the workers, by the time their registration lapses.
	workersKey = "retwis:workers"
	// sweepKey is a hash: the worker whose turn it is to sweep idle timelines, until when, and
	// when the last sweep ended.
	sweepKey = "retwis:sweep"
	// sessionsChannel tells every API node which sessions ended.
	sessionsChannel = "retwis:sessions"

	// authorsChannel tells every API node whose profile changed.
	authorsChannel = "retwis:authors"
)

// Accounts.

// name is a string: the id of the user who has the name.
func (p partition) name(folded string) string { return p.tag + ":name:" + folded }

// names is a sorted set, all scores 0: the names claimed in the partition, folded, each
// with a space and the id of the user behind it.
func (p partition) names() string { return p.tag + ":names" }

// newestUsers is a sorted set, capped: the accounts made last, by when they were made.
func (p partition) newestUsers() string { return p.tag + ":newest_users" }

// nextUser is a string: the last sequence number given to a user of the partition.
func (p partition) nextUser() string { return p.tag + ":next_user" }

// clock is a string: the last instant given out, in microseconds since [retwis.TimeOrigin].
// Post ids and follow times come from it.
func (p partition) clock() string { return p.tag + ":clock" }

// user is a hash: name, display, bio, password, created, state, session_gen, home_gen, the
// counts posts, followers and following, profile_trimmed once posts have left the profile,
// step, of leaving, read, the day the home was last read, and imported: with a source, how
// many posts came from there. The state is pending before
// the name is claimed, then active; at the end of an account leaving, while posts and lists
// are deleted, then parting, while it is cut off from others, and gone until it lapses.
func (p partition) user(id retwis.UserID) string { return p.users() + id.String() }
func (p partition) users() string                { return p.tag + ":user:" }

// session is a hash: user, gen, created, seen, and agent, what the client says that it is;
// it lapses when unused. For a while after a change of password it is just replaced.
func (p partition) session(hash string) string { return p.sessionPrefix() + hash }
func (p partition) sessionPrefix() string      { return p.tag + ":session:" }

// sessions is a sorted set: the hashes of a user's session tokens, by last use.
func (p partition) sessions(id retwis.UserID) string { return p.sessionsPrefix() + id.String() }
func (p partition) sessionsPrefix() string           { return p.tag + ":sessions:" }

// Documents.

// document is a string: a GraphQL document, by its hash. It lapses when unused.
func (p partition) document(hash string) string { return p.documentPrefix() + hash }
func (p partition) documentPrefix() string      { return p.tag + ":document:" }

// documents is a sorted set, capped: the hashes of documents, by last use.
func (p partition) documents() string { return p.tag + ":documents" }

// Limits.

// budget is a string: the instant, in microseconds since [retwis.TimeOrigin], at which somebody
// has the whole budget for an action again. It lapses then.
func (p partition) budget(action ratelimit.Action, of ratelimit.Key) string {
	key := p.tag + ":budget:" + string(action)
	switch {
	case of.User != 0:
		return key + ":user:" + of.User.String()
	case of.Name != "":
		return key + ":name:" + of.Name
	default:
		return key + ":net:" + of.Network.Addr().String()
	}
}

// familiar is an empty string that lapses: somebody has logged in with the name from there.
func (p partition) familiar(name string, from netip.Prefix) string {
	return p.tag + ":familiar:" + name + ":" + from.Addr().String()
}

// Posts.

// post is a hash: author and text, or author and deleted.
func (p partition) post(id retwis.PostID) string { return p.posts() + id.String() }
func (p partition) posts() string                { return p.tag + ":post:" }

// profile is a list: the ids of a user's posts, newest first, sorted.
func (p partition) profile(id retwis.UserID) string { return p.tag + ":profile:" + id.String() }

// archive is a list: the ids of a user's posts that the profile no longer holds, newest
// first, deleted ones too.
func (p partition) archive(id retwis.UserID) string { return p.tag + ":archive:" + id.String() }

// idempotency is a string: the post that a key made, and the digest of its text.
func (p partition) idempotency(id retwis.UserID, key string) string {
	return p.tag + ":idem:" + id.String() + ":" + key
}

// removals is a stream, capped: the posts whose deletion reached the partition.
func (p partition) removals() string { return p.tag + ":removals" }

// Timelines.

// home is a list: the posts of a user and of those followed, as they arrived, newest
// first. Its last entry is '0' when it is complete and 'b' while it is built.
func (p partition) home(id retwis.UserID) string { return p.homes() + id.String() }
func (p partition) homes() string                { return p.tag + ":home:" }

// publicList is a list like a home, of everybody's posts.
func (p partition) publicList() string { return p.tag + ":public" }

// mentions is a list like a home, of the posts that name a user.
func (p partition) mentions(id retwis.UserID) string { return p.tag + ":mentions:" + id.String() }

// pulled is a list: posts of an author with too many followers to push to, newest first,
// for the homes of this partition. large is the set of authors that have one.
func (p partition) pulled(author retwis.UserID) string { return p.tag + ":pulled:" + author.String() }
func (p partition) large() string                      { return p.tag + ":large" }

// marks is a hash: large author → the newest of the author's pulled posts that is on a
// user's home.
func (p partition) marks(id retwis.UserID) string { return p.marksPrefix() + id.String() }
func (p partition) marksPrefix() string           { return p.tag + ":marks:" }

// merged is a set, mergedExpiry a sorted set by the time the mark lapses: timelines that
// posts were merged into, and may still come to by fan-out.
func (p partition) merged() string       { return p.tag + ":merged" }
func (p partition) mergedExpiry() string { return p.tag + ":merged:exp" }

// Follows.

// following is a sorted set: whom a user follows, by the time of the follow.
func (p partition) following(id retwis.UserID) string { return p.followingPrefix() + id.String() }
func (p partition) followingPrefix() string           { return p.tag + ":following:" }

// followers is a sorted set: those users of this partition who follow the author, by the
// same time. An author has one in many partitions, so the key is short: where it is of up
// to 28 bytes, Redis takes 32 for it.
func (p partition) followers(author retwis.UserID) string {
	return p.followersPrefix() + author.String()
}
func (p partition) followersPrefix() string { return p.tag + ":fans:" }

// uncounted is a set: authors whom a parting user followed, and whose followers are still to
// be counted again.
func (p partition) uncounted(id retwis.UserID) string { return p.tag + ":uncounted:" + id.String() }

// reach is a hash in the author's partition: partition → version ':' followers there, and
// 'l' partition for those that hold lists with the author.
func (p partition) reach(author retwis.UserID) string { return p.tag + ":reach:" + author.String() }

// Lists of users.

// list is a hash: owner, name, created, state (active or deleted), home_gen, read.
func (p partition) list(id retwis.ListID) string { return p.listPrefix() + id.String() }
func (p partition) listPrefix() string           { return p.tag + ":list:" }

// listPosts is a list like a home, of the members' posts.
func (p partition) listPosts(id retwis.ListID) string { return p.list(id) + listPostsSuffix }

const listPostsSuffix = ":posts"

// listMembers is a sorted set: the users on a list, by the time they were added.
func (p partition) listMembers(id retwis.ListID) string { return p.list(id) + listMembersSuffix }

const listMembersSuffix = ":members"

// listed is a sorted set: those lists of this partition that hold the author, by the same
// time.
func (p partition) listed(author retwis.UserID) string { return p.listedPrefix() + author.String() }
func (p partition) listedPrefix() string               { return p.tag + ":listed:" }

// lists is a sorted set: a user's lists, by the time they were made.
func (p partition) lists(owner retwis.UserID) string { return p.tag + ":lists:" + owner.String() }

// Fan-out.

// outbox is a stream: what must still be carried out for users of the partition.
func (p partition) outbox() string { return p.tag + ":outbox" }

// progress is a hash: how far the entries of another partition's outbox are carried out
// here. Field low: all up to it; <entry>, or more after it: a position; ah or al<author>: the
// author's latest entry that has begun here.
func (p partition) progress(outbox int) string { return p.tag + ":in:" + strconv.Itoa(outbox) }

// lease is a string: the worker that serves the outbox.
func (p partition) lease() string { return p.tag + ":lease" }

// dead is a stream, capped: entries that could not be carried out.
func (p partition) dead() string { return p.tag + ":dead" }

// written is an empty string that lapses at once: a replica that has it has what was written
// before.
func (p partition) written() string { return p.tag + ":written" }

// Presence.

// online is a set of timelines with an open subscription; onlineNodes a hash of the API
// nodes that serve them; onlineExpiry a sorted set of both by when presence lapses.
func (p partition) online() string       { return p.tag + ":online" }
func (p partition) onlineNodes() string  { return p.tag + ":online:nodes" }
func (p partition) onlineExpiry() string { return p.tag + ":online:exp" }

// live is a channel: what happens to the timelines of the partition that a node serves.
func (p partition) live(node string) string { return p.livePrefix() + node }
func (p partition) livePrefix() string      { return p.tag + ":live:" }

// entries is the list of a timeline's entries.
func (p partition) entries(t retwis.TimelineID) string {
	switch t.Kind {
	case retwis.HomeTimeline:
		return p.home(t.Owner)
	case retwis.ProfileTimeline:
		return p.profile(t.Owner)
	case retwis.MentionsTimeline:
		return p.mentions(t.Owner)
	case retwis.ListTimeline:
		return p.listPosts(t.List())
	default:
		return p.publicList()
	}
}

// sources is the sorted set of those whose posts a timeline gets: of a home those the
// user follows, of a list its members. For other kinds it names nothing.
func (p partition) sources(t retwis.TimelineID) string {
	if t.Kind == retwis.ListTimeline {
		return p.listMembers(t.List())
	}
	return p.following(t.Owner)
}

// holder is the hash of what a timeline belongs to, whose field state tells whether it is
// still there. The public timeline has none.
func (p partition) holder(t retwis.TimelineID) string {
	if t.Kind == retwis.ListTimeline {
		return p.list(t.List())
	}
	return p.user(t.Owner)
}

// generations is the hash whose field home_gen is the generation of a timeline. Only
// timelines that are fanned out to have one.
func (p partition) generations(t retwis.TimelineID) string {
	switch t.Kind {
	case retwis.HomeTimeline:
		return p.user(t.Owner)
	case retwis.ListTimeline:
		return p.list(t.List())
	default:
		return p.tag + ":none"
	}
}
