package rdb

import (
	"net/netip"
	"strconv"
	"strings"

	"retwis/internal/ratelimit"

	"retwis/internal/retwis"
)

// This file builds every key and so documents the layout of the database. The comment of a builder describes
// the value. Ids are decimal, times are UTC. The keys of a partition begin with its tag. A partition builds its
// own keys, and the keys about one user, one list of users, one hashtag and one timeline.

const (
	// MetaKey is a hash: the schema version, the number of partitions, and demo if the users are made up.
	MetaKey = "retwis:meta"
	// WorkersKey is a sorted set: the workers, by the time their registration expires.
	WorkersKey = "retwis:workers"
	// ProcessesKey is a sorted set: what processes tell each other, by the time until which that is known.
	ProcessesKey = "retwis:processes"
	// SweepKey is a hash: worker, the worker that holds the lease of the sweep; since, when it was acquired or renewed;
	// until, its expiry; ended, the end of the last sweep.
	SweepKey = "retwis:sweep"
	// ProcessesChannel announces a network of clients that becomes active to every API process.
	ProcessesChannel = "retwis:processes:networks"
	// SessionsChannel announces ended sessions to every API process.
	SessionsChannel = "retwis:sessions"
	// AuthorsChannel announces changed profiles to every API process.
	AuthorsChannel = "retwis:authors"
)

// absentKey returns the key in the slot of another key that never exists. See [Call.keys].
func absentKey(key string) string {
	tag, _, tagged := strings.Cut(key, "}")
	if !tagged {
		tag = "{" + key // the slot of a key without a tag is that of the whole key
	}
	return tag + "}:absent"
}

// Kind is the part of a key between the tag and the id.
type Kind string

// Kinds of keys that scripts build themselves, from [Partition.Prefix].
const (
	AccountKeys        Kind = "user"
	SessionKeys        Kind = "session"
	SessionsKeys       Kind = "sessions"
	DocumentKeys       Kind = "document"
	PostKeys           Kind = "post"
	HomeKeys           Kind = "home"
	PullWatermarkKeys  Kind = "pull_watermarks"
	FollowingKeys      Kind = "following"
	HiddenReposterKeys Kind = "hidden_reposters"
	FollowerKeys       Kind = "fans"
	LikesKeys          Kind = "likes"
	LikerKeys          Kind = "likers"
	LikePartitionKeys  Kind = "like_partitions"
	ListKeys           Kind = "list"
	ListedKeys         Kind = "listed"
	TagKeys            Kind = "tag"
	MergeMarkKeys      Kind = "merge_marks"
	LiveChannels       Kind = "live"
)

// Prefix returns the common prefix of the keys of a kind in the partition.
func (p Partition) Prefix(k Kind) string { return p.Tag + ":" + string(k) + ":" }

// Accounts and sessions.

// Name is a string: the id of the user who holds the name.
func (p Partition) Name(folded string) string { return p.Tag + ":name:" + folded }

// Names is a sorted set, all scores 0: the folded names claimed in the partition, each followed by a space and
// the id of the user.
func (p Partition) Names() string { return p.Tag + ":names" }

// SearchWords is a sorted set, all scores 0: the words of the usernames and display names of active users of the
// partition, each followed by a space and the user id.
func (p Partition) SearchWords() string { return p.Tag + ":words" }

// NewestUsers is a sorted set, capped: the newest accounts, by creation time.
func (p Partition) NewestUsers() string { return p.Tag + ":newest_users" }

// NextUser is a string: the last sequence number assigned to a user, list or hashtag of the partition.
func (p Partition) NextUser() string { return p.Tag + ":next_user" }

// Clock is a string: the last instant of the partition's clock, in microseconds since 1970. Post
// ids and follow times are instants of this clock.
func (p Partition) Clock() string { return p.Tag + ":clock" }

// Session is a hash: user, gen (the session generation), created, seen (the time of last use) and agent (the user
// agent). It expires when unused. After a change of password it holds only the field replaced for a while.
func (p Partition) Session(hash string) string { return p.Prefix(SessionKeys) + hash }

// Documents.

// Document is a string: a GraphQL document, by its hash. It expires when unused.
func (p Partition) Document(hash string) string { return p.Prefix(DocumentKeys) + hash }

// Documents is a sorted set, capped: the hashes of documents, by last use.
func (p Partition) Documents() string { return p.Tag + ":documents" }

// DocumentsOf is a sorted set, capped: the hashes of documents that the clients of a network have stored, by the time. It expires
// with them.
func (p Partition) DocumentsOf(holder ratelimit.Key) string {
	return p.Documents() + ofHolder(holder)
}

// Rate limits.

// Budget is a string: the instant, in microseconds since 1970, at which the whole budget of a user,
// a name or a network for an action is available again. It expires then.
func (p Partition) Budget(action ratelimit.Action, of ratelimit.Key) string {
	return p.Tag + ":budget:" + string(action) + ofHolder(of)
}

func ofHolder(key ratelimit.Key) string {
	switch {
	case key.User != 0:
		return ":user:" + key.User.String()
	case key.Name != "":
		return ":name:" + key.Name
	default:
		return ":net:" + key.Network.Addr().String()
	}
}

// Familiar is an empty string that expires: there was a login with the name from the network.
func (p Partition) Familiar(name string, from netip.Prefix) string {
	return p.Tag + ":familiar:" + name + ":" + from.Addr().String()
}

// Posts and timelines.

// Post is a hash: author, text, mentions and tags, or author, mentions, tags and deleted. Mentions are users and tags are hashtags, by
// their ids and in the order of the text, separated by spaces. A reply also has thread, the posts above it,
// the root first and the post answered last, separated by spaces. A reply to another user has answered, the author of the
// post answered. A quote has quoted, the post quoted. A repost has author and reposted, the post. A post whose oldest replies or
// quotes or reposts were trimmed has replies_trimmed, quotes_trimmed or reposts_trimmed.
func (p Partition) Post(id retwis.PostID) string { return p.Prefix(PostKeys) + id.String() }

// References is a sorted set, capped: the replies, quotes or reposts of a post, also of a deleted one. See lib/replyset.lua for the scores.
func (p Partition) References(kind retwis.ReferenceKind, id retwis.PostID) string {
	return p.Prefix(Kind(kind)) + id.String()
}

// Likers is a sorted set: the users of the partition who like the post, by the time of the like. Any partition may have one
// for the post.
func (p Partition) Likers(id retwis.PostID) string { return p.Prefix(LikerKeys) + id.String() }

// LikePartitions is a hash: partition → version ':' number of users there who like the post. The field total is the sum of
// these numbers.
func (p Partition) LikePartitions(id retwis.PostID) string {
	return p.Prefix(LikePartitionKeys) + id.String()
}

// ChangedLikes is a sorted set: the posts whose [Partition.Likers] have changed, by the time from which the worker counts
// them, in milliseconds. See lib/likes.lua.
func (p Partition) ChangedLikes() string { return p.Tag + ":changed_likes" }

// Changes is a stream, capped: the changes that reached the partition, other than new posts. See lib/changes.lua.
func (p Partition) Changes() string { return p.Tag + ":changes" }

// LastChange is a string: the id of the last change.
func (p Partition) LastChange() string { return p.Changes() + ":last" }

// PublicTimeline is a list like a home, of all posts.
func (p Partition) PublicTimeline() string { return p.Tag + ":public" }

// LargeAuthors is a set: the authors above the push threshold that have pulled posts in the partition.
func (p Partition) LargeAuthors() string { return p.Tag + ":large" }

// MergeMarks is a hash: timelines of this partition into which posts of another partition were merged. The
// value is an instant of that partition's clock; fan-out does not push posts up to it. See lib/mergemarks.lua.
func (p Partition) MergeMarks(outbox int) string {
	return p.Prefix(MergeMarkKeys) + strconv.Itoa(outbox)
}

// OlderMergeMarks is a hash like [Partition.MergeMarks]: older marks, which are deleted together.
func (p Partition) OlderMergeMarks(outbox int) string { return p.MergeMarks(outbox) + ":older" }

// Marks at the end of a list of posts. A list without a mark was trimmed.
const (
	ListComplete = "0" // no older post exists
	ListBuilding = "b" // the list is being built
)

// Fan-out.

// Outbox is a stream: the entries of users of the partition that are not yet delivered, or not yet trimmed.
func (p Partition) Outbox() string { return p.Tag + ":outbox" }

// Progress is a hash: how far the entries of a partition's outbox are delivered to this partition. Field
// watermark: all entries up to it are delivered. Fields <entry> and <entry>:<target>: the progress of an entry.
// Fields ah<author> and al<author>: the latest entry of the author whose delivery to homes or lists has begun.
func (p Partition) Progress(outbox int) string { return p.Tag + ":progress:" + strconv.Itoa(outbox) }

// Lease is a string that expires: the worker that holds the lease of the outbox, a space and its TTL in milliseconds.
func (p Partition) Lease() string { return p.Tag + ":lease" }

// DeadLetters is a stream, capped: entries that failed permanently.
func (p Partition) DeadLetters() string { return p.Tag + ":dead" }

// Written is an empty string that expires at once. A replica that has it has all earlier writes.
func (p Partition) Written() string { return p.Tag + ":written" }

// Presence.

// Online is a set: the timelines with an open subscription. [Partition.OnlineNodes] has the nodes that serve
// them, and [Partition.OnlineExpiry] the expiry.
func (p Partition) Online() string { return p.Tag + ":online" }

// OnlineNodes is a hash: timeline → the API processes that serve it, separated by spaces.
func (p Partition) OnlineNodes() string { return p.Tag + ":online:nodes" }

// OnlineExpiry is a sorted set: timeline and API process, by the time the presence expires.
func (p Partition) OnlineExpiry() string { return p.Tag + ":online:exp" }

// Live is a channel: messages about timelines of the partition to an API process.
func (p Partition) Live(node string) string { return p.Prefix(LiveChannels) + node }

// UserKeys builds the keys about one user in one partition.
type UserKeys struct {
	p  Partition
	id retwis.UserID
}

// User returns the keys about a user. Most exist only in the partition of the user. Exceptions are noted at the key.
func (p Partition) User(id retwis.UserID) UserKeys { return UserKeys{p, id} }

func (u UserKeys) key(k Kind) string { return u.p.Prefix(k) + u.id.String() }

// Account is a hash with the fields
//   - name, display, bio, password, created
//   - words: the words of display, for the people search
//   - posts, followers, following: counts
//   - epoch: the epoch of the home
//   - filter_epoch: the filter epoch; missing until it first rises
//   - last_read: the day the home was last read, in days since 1970
//   - marker, mentions_marker: the elements up to which the user has read the home and the mentions
//   - profile_trimmed: exists once posts were trimmed from the profile
//   - session_gen: the session generation
//   - imported:<source>: how many posts of a source were imported
//   - step: the last account deletion step that was queued
//   - state: pending before the name is claimed, then active. Account deletion sets deleting while posts and
//     lists are deleted, detaching while follows are removed, and deleted until the account expires.
func (u UserKeys) Account() string { return u.key(AccountKeys) }

// Sessions is a sorted set: the hashes of the user's session tokens, by last use.
func (u UserKeys) Sessions() string { return u.key(SessionsKeys) }

// Idempotency is a string: the post that was created with an idempotency key, and the digest of its text, or
// the list.
func (u UserKeys) Idempotency(key string) string { return u.key("idem") + ":" + key }

// Profile is a list: the elements of the user's posts and replies, newest first, sorted.
func (u UserKeys) Profile() string { return u.key("profile") }

// TrimmedPosts is a list: the ids of the user's posts that were trimmed from the profile, newest first,
// including deleted ones. Account deletion reads it.
func (u UserKeys) TrimmedPosts() string { return u.key("trimmed_posts") }

// Home is a list: the posts of the user and of the users followed, in order of arrival, newest first. Its last
// entry is [ListComplete], [ListBuilding] or a post.
func (u UserKeys) Home() string { return u.key(HomeKeys) }

// Mentions is a list like a home, of the posts that mention the user.
func (u UserKeys) Mentions() string { return u.key("mentions") }

// Pulled is a list: posts of an author above the push threshold, newest first, for the homes of the
// partition. Any partition may have one for the author.
func (u UserKeys) Pulled() string { return u.key("pulled") }

// PullWatermarks is a hash: large author → the newest post in [UserKeys.Pulled] that the home has received.
func (u UserKeys) PullWatermarks() string { return u.key(PullWatermarkKeys) }

// Following is a sorted set: the users whom the user follows, by the time of the follow.
func (u UserKeys) Following() string { return u.key(FollowingKeys) }

// HiddenReposters is a set: users whom the user follows, and whose reposts the home does not show.
func (u UserKeys) HiddenReposters() string { return u.key(HiddenReposterKeys) }

// Followers is a sorted set: the users of the partition who follow the user, by the time of the follow. Any
// partition may have one for the user. The kind is short because there are many such keys, and a key of up to
// 28 bytes takes 32 in Redis.
func (u UserKeys) Followers() string { return u.key(FollowerKeys) }

// Reposted is a hash: post → the repost of it by the user. It has an entry for each repost that was not undone.
func (u UserKeys) Reposted() string { return u.key("reposted") }

// Likes is a sorted set: the posts that the user likes, by the time of the like.
func (u UserKeys) Likes() string { return u.key(LikesKeys) }

// Uncounted is a set: authors that account deletion has detached from the user, and whose followers it has not
// counted again yet.
func (u UserKeys) Uncounted() string { return u.key("uncounted") }

// FollowerPartitions is a hash: partition → version ':' number of followers there. A field 'l' and a partition
// records that the partition has lists that contain the author.
func (u UserKeys) FollowerPartitions() string { return u.key("follower_partitions") }

// Lists is a sorted set: the user's lists, by creation time.
func (u UserKeys) Lists() string { return u.key("lists") }

// Listed is a sorted set: the lists of the partition that contain the user, by the time the user was added.
// Any partition may have one for the user.
func (u UserKeys) Listed() string { return u.key(ListedKeys) }

// UserListKeys builds the keys about one list of users.
type UserListKeys struct {
	p  Partition
	id retwis.ListID
}

// List returns the keys about a list of users of the partition.
func (p Partition) List(id retwis.ListID) UserListKeys { return UserListKeys{p, id} }

// Suffixes of the other keys of a list, after its id.
const (
	ListPostsSuffix   = ":posts"
	ListMembersSuffix = ":members"
)

// Properties is a hash: owner, name, created, state (active or deleted), epoch, last_read, the day the timeline
// was last read, and marker, the element up to which the owner has read it.
func (l UserListKeys) Properties() string { return l.p.Prefix(ListKeys) + l.id.String() }

// Posts is a list like a home, of the members' posts.
func (l UserListKeys) Posts() string { return l.Properties() + ListPostsSuffix }

// Members is a sorted set: the users on the list, by the time they were added.
func (l UserListKeys) Members() string { return l.Properties() + ListMembersSuffix }

// TagName is a string: the hashtag with a folded name, a space, and the name as it was first spelled.
func (p Partition) TagName(folded string) string { return p.Tag + ":tag_name:" + folded }

// HashtagKeys builds the keys about one hashtag.
type HashtagKeys struct {
	p  Partition
	id retwis.TagID
}

// Hashtag returns the keys about a hashtag of the partition.
func (p Partition) Hashtag(id retwis.TagID) HashtagKeys { return HashtagKeys{p, id} }

// Record is a hash: state (active); name, as it was first spelled; and used, the day of the last new post with the hashtag, in
// days since 1970.
func (h HashtagKeys) Record() string { return h.p.Prefix(TagKeys) + h.id.String() }

// Posts is a list like a home, of the posts with the hashtag.
func (h HashtagKeys) Posts() string { return h.Record() + ListPostsSuffix }
