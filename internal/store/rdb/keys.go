package rdb

import (
	"net/netip"
	"strconv"

	"retwis/internal/ratelimit"

	"retwis/internal/retwis"
)

// Every key is built here, so this file is the map of the database. The builder of a key says what the key
// holds. Ids are decimal; times are in UTC. The keys of a partition begin with its tag; a partition has
// builders of its own keys, and of the keys about one user, one list of users and one timeline.

const (
	// MetaKey is a hash: the schema version, the number of partitions, and demo if the users are made up.
	MetaKey = "retwis:meta"
	// WorkersKey is a sorted set: the workers, by the time their registration lapses.
	WorkersKey = "retwis:workers"
	// SweepKey is a hash: the worker that sweeps idle timelines, until when, and when the last sweep ended.
	SweepKey = "retwis:sweep"
	// SessionsChannel announces to every API node which sessions ended.
	SessionsChannel = "retwis:sessions"
	// AuthorsChannel announces to every API node whose profile changed.
	AuthorsChannel = "retwis:authors"
)

// Kind is a family of keys that differ in what follows their kind.
type Kind string

// Kinds of keys that scripts build themselves, from [Partition.Prefix].
const (
	AccountKeys       Kind = "user"
	SessionKeys       Kind = "session"
	SessionsKeys      Kind = "sessions"
	DocumentKeys      Kind = "document"
	PostKeys          Kind = "post"
	HomeKeys          Kind = "home"
	PullWatermarkKeys Kind = "pull_watermarks"
	FollowingKeys     Kind = "following"
	FollowerKeys      Kind = "fans"
	ListKeys          Kind = "list"
	ListedKeys        Kind = "listed"
	MergeMarkKeys     Kind = "merge_marks"
	LiveChannels      Kind = "live"
)

// Prefix returns what all keys of a kind in the partition begin with.
func (p Partition) Prefix(k Kind) string { return p.Tag + ":" + string(k) + ":" }

// Accounts and sessions.

// Name is a string: the id of the user who has the name.
func (p Partition) Name(folded string) string { return p.Tag + ":name:" + folded }

// Names is a sorted set, all scores 0: the names claimed in the partition, folded, each with a space and the
// id of the user behind it.
func (p Partition) Names() string { return p.Tag + ":names" }

// SearchWords is a sorted set, all scores 0: the words of the usernames and display names of active users of the
// partition, each with a space and the id of the user behind it.
func (p Partition) SearchWords() string { return p.Tag + ":words" }

// NewestUsers is a sorted set, capped: the newest accounts, by creation time.
func (p Partition) NewestUsers() string { return p.Tag + ":newest_users" }

// NextUser is a string: the last sequence number given to a user of the partition.
func (p Partition) NextUser() string { return p.Tag + ":next_user" }

// Clock is a string: the last instant given out, in microseconds since [retwis.TimeOrigin]. Post ids and follow
// times come from it.
func (p Partition) Clock() string { return p.Tag + ":clock" }

// Session is a hash: user, gen, created, seen, and agent, the user agent of the client; it lapses when
// unused. For a while after a change of password it holds the field replaced alone.
func (p Partition) Session(hash string) string { return p.Prefix(SessionKeys) + hash }

// Documents.

// Document is a string: a GraphQL document, by its hash. It lapses when unused.
func (p Partition) Document(hash string) string { return p.Prefix(DocumentKeys) + hash }

// Documents is a sorted set, capped: the hashes of documents, by last use.
func (p Partition) Documents() string { return p.Tag + ":documents" }

// Rate limits.

// Budget is a string: the instant, in microseconds since [retwis.TimeOrigin], at which the whole budget of a user,
// a name or a network for an action is available again. It lapses then.
func (p Partition) Budget(action ratelimit.Action, of ratelimit.Key) string {
	key := p.Tag + ":budget:" + string(action)
	switch {
	case of.User != 0:
		return key + ":user:" + of.User.String()
	case of.Name != "":
		return key + ":name:" + of.Name
	default:
		return key + ":net:" + of.Network.Addr().String()
	}
}

// Familiar is an empty string that lapses: there was a login with the name from the network.
func (p Partition) Familiar(name string, from netip.Prefix) string {
	return p.Tag + ":familiar:" + name + ":" + from.Addr().String()
}

// Posts and timelines.

// Post is a hash: author, text and mentions, or author, mentions and deleted.
func (p Partition) Post(id retwis.PostID) string { return p.Prefix(PostKeys) + id.String() }

// Removals is a stream, capped: the posts whose deletion reached the partition.
func (p Partition) Removals() string { return p.Tag + ":removals" }

// PublicTimeline is a list like a home, of all posts.
func (p Partition) PublicTimeline() string { return p.Tag + ":public" }

// LargeAuthors is a set: the authors above the push threshold that have pulled posts in the partition.
func (p Partition) LargeAuthors() string { return p.Tag + ":large" }

// MergeMarks is a hash: timelines that posts of another partition were merged into, up to an instant of its
// clock, and to which fan-out from its outbox may still deliver the same posts; see lib/mergemarks.lua.
func (p Partition) MergeMarks(outbox int) string {
	return p.Prefix(MergeMarkKeys) + strconv.Itoa(outbox)
}

// OlderMergeMarks holds the marks that were written before those of [Partition.MergeMarks].
func (p Partition) OlderMergeMarks(outbox int) string { return p.MergeMarks(outbox) + ":older" }

// Marks at the end of a list of posts. A list with neither had older entries, which were trimmed.
const (
	ListComplete = "0" // no older post exists
	ListBuilding = "b" // older posts are being gathered
)

// Fan-out.

// Outbox is a stream: the entries that remain to be delivered for users of the partition.
func (p Partition) Outbox() string { return p.Tag + ":outbox" }

// Progress is a hash: how far the entries of another partition's outbox are delivered here. Field low: all
// up to it; <entry>, or more after it: a position; ah or al<author>: the author's latest entry whose delivery
// to homes or lists has begun here.
func (p Partition) Progress(outbox int) string { return p.Tag + ":progress:" + strconv.Itoa(outbox) }

// Lease is a string: the worker that serves the outbox.
func (p Partition) Lease() string { return p.Tag + ":lease" }

// DeadLetters is a stream, capped: entries whose delivery failed for good.
func (p Partition) DeadLetters() string { return p.Tag + ":dead" }

// Written is an empty string that lapses at once: a replica that has it has what was written before.
func (p Partition) Written() string { return p.Tag + ":written" }

// Presence.

// Online is a set of timelines with an open subscription, OnlineNodes a hash of the API nodes that serve
// them, OnlineExpiry a sorted set of both by the time the presence lapses.
func (p Partition) Online() string { return p.Tag + ":online" }

// OnlineNodes is described at [Partition.Online].
func (p Partition) OnlineNodes() string { return p.Tag + ":online:nodes" }

// OnlineExpiry is described at [Partition.Online].
func (p Partition) OnlineExpiry() string { return p.Tag + ":online:exp" }

// Live is a channel: events of the timelines of the partition that a node serves.
func (p Partition) Live(node string) string { return p.Prefix(LiveChannels) + node }

// UserKeys builds the keys about one user in one partition.
type UserKeys struct {
	p  Partition
	id retwis.UserID
}

// User returns the keys about a user. Most are in the partition of the user; the comment of a key says so if
// other partitions have one too.
func (p Partition) User(id retwis.UserID) UserKeys { return UserKeys{p, id} }

func (u UserKeys) key(k Kind) string { return u.p.Prefix(k) + u.id.String() }

// Account is a hash: name, display, words, those of display for the search, bio, password, created, state, session_gen, home_gen, the counts posts,
// followers and following, profile_trimmed once posts have left the profile, step, of the deletion, read, the
// day the home was last read, and imported: with a source, how many posts came from there. The state is
// pending before the name is claimed, then active; during account deletion leaving, while posts and lists are
// deleted, then parting, while follows are removed, and gone until it lapses.
func (u UserKeys) Account() string { return u.key(AccountKeys) }

// Sessions is a sorted set: the hashes of the user's session tokens, by last use.
func (u UserKeys) Sessions() string { return u.key(SessionsKeys) }

// Idempotency is a string: the post that a key made, and the digest of its text.
func (u UserKeys) Idempotency(key string) string { return u.key("idem") + ":" + key }

// Profile is a list: the ids of the user's posts, newest first, sorted.
func (u UserKeys) Profile() string { return u.key("profile") }

// TrimmedPosts is a list: the ids of the user's posts that the profile no longer holds, newest first,
// deleted ones too.
func (u UserKeys) TrimmedPosts() string { return u.key("trimmed_posts") }

// Home is a list: the posts of the user and of those followed, newest first in the order of arrival. Its last
// entry is [ListComplete], [ListBuilding] or a post.
func (u UserKeys) Home() string { return u.key(HomeKeys) }

// Mentions is a list like a home, of the posts that mention the user.
func (u UserKeys) Mentions() string { return u.key("mentions") }

// Pulled is a list: posts of an author above the push threshold, newest first, for the homes of the
// partition. Any partition may have one for the author.
func (u UserKeys) Pulled() string { return u.key("pulled") }

// PullWatermarks is a hash: large author → the newest of the author's pulled posts that is on the home.
func (u UserKeys) PullWatermarks() string { return u.key(PullWatermarkKeys) }

// Following is a sorted set: the users whom the user follows, by the time of the follow.
func (u UserKeys) Following() string { return u.key(FollowingKeys) }

// Followers is a sorted set: those users of the partition who follow the user, by the same time. An author
// has one in many partitions, so the key is short: a key of up to 28 bytes takes 32 in Redis.
func (u UserKeys) Followers() string { return u.key(FollowerKeys) }

// Uncounted is a set: authors whom a deleted user followed, and whose followers are still to be counted again.
func (u UserKeys) Uncounted() string { return u.key("uncounted") }

// FollowerPartitions is a hash: partition → version ':' followers there, and 'l' partition for the partitions
// with lists that hold the author.
func (u UserKeys) FollowerPartitions() string { return u.key("follower_partitions") }

// Lists is a sorted set: the user's lists, by creation time.
func (u UserKeys) Lists() string { return u.key("lists") }

// Listed is a sorted set: those lists of the partition that hold the user, by the time the user was added.
// Any partition may have one for the user.
func (u UserKeys) Listed() string { return u.key(ListedKeys) }

// UserListKeys builds the keys about one list of users.
type UserListKeys struct {
	p  Partition
	id retwis.ListID
}

// List returns the keys about a list of users of the partition.
func (p Partition) List(id retwis.ListID) UserListKeys { return UserListKeys{p, id} }

// What follows the id of a list in its other keys.
const (
	ListPostsSuffix   = ":posts"
	ListMembersSuffix = ":members"
)

// Properties is a hash: owner, name, created, state (active or deleted), home_gen, read.
func (l UserListKeys) Properties() string { return l.p.Prefix(ListKeys) + l.id.String() }

// Posts is a list like a home, of the members' posts.
func (l UserListKeys) Posts() string { return l.Properties() + ListPostsSuffix }

// Members is a sorted set: the users on the list, by the time they were added.
func (l UserListKeys) Members() string { return l.Properties() + ListMembersSuffix }

// TimelineKeys names the keys that a timeline consists of.
type TimelineKeys struct {
	p  Partition
	id retwis.TimelineID
}

// Timeline returns the keys of a timeline of the partition.
func (p Partition) Timeline(id retwis.TimelineID) TimelineKeys { return TimelineKeys{p, id} }

// Entries is the list of the timeline's entries.
func (t TimelineKeys) Entries() string {
	switch t.id.Kind {
	case retwis.HomeTimeline:
		return t.p.User(t.id.Owner).Home()
	case retwis.ProfileTimeline:
		return t.p.User(t.id.Owner).Profile()
	case retwis.MentionsTimeline:
		return t.p.User(t.id.Owner).Mentions()
	case retwis.ListTimeline:
		return t.p.List(t.id.List()).Posts()
	default:
		return t.p.PublicTimeline()
	}
}

// Sources is the sorted set of the authors whose posts the timeline gets: for a home those the user follows,
// for a list its members. For other kinds it names no key that exists.
func (t TimelineKeys) Sources() string {
	if t.id.Kind == retwis.ListTimeline {
		return t.p.List(t.id.List()).Members()
	}
	return t.p.User(t.id.Owner).Following()
}

// Owner is the hash of the user or list that the timeline belongs to, whose field state says whether it still
// exists. The public timeline has none.
func (t TimelineKeys) Owner() string {
	if t.id.Kind == retwis.ListTimeline {
		return t.p.List(t.id.List()).Properties()
	}
	return t.p.User(t.id.Owner).Account()
}

// Epoch is the hash whose field home_gen is the epoch of the timeline. Only timelines that are fanned out to
// have one.
func (t TimelineKeys) Epoch() string {
	switch t.id.Kind {
	case retwis.HomeTimeline, retwis.ListTimeline:
		return t.Owner()
	default:
		return t.p.Tag + ":none"
	}
}
