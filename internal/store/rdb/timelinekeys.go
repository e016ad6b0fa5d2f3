package rdb

import "retwis/internal/retwis"

// TimelineKeys builds the keys of one timeline.
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
	case retwis.ProfileTimeline, retwis.RepliesTimeline:
		return t.p.User(t.id.Owner).Profile()
	case retwis.MentionsTimeline:
		return t.p.User(t.id.Owner).Mentions()
	case retwis.ListTimeline:
		return t.p.List(t.id.List()).Posts()
	case retwis.TagTimeline:
		return t.p.Hashtag(t.id.Tag()).Posts()
	default:
		return t.p.PublicTimeline()
	}
}

// Sources is the sorted set of the timeline's sources: for a home the users followed, for a list the members.
// For other kinds the key does not exist.
func (t TimelineKeys) Sources() string {
	if t.id.Kind == retwis.ListTimeline {
		return t.p.List(t.id.List()).Members()
	}
	return t.p.User(t.id.Owner).Following()
}

// HiddenReposters is the set of users whose reposts the timeline does not show. Only homes have one; for other kinds the key does
// not exist.
func (t TimelineKeys) HiddenReposters() string {
	if t.id.Kind == retwis.HomeTimeline {
		return t.p.User(t.id.Owner).HiddenReposters()
	}
	return t.none()
}

// none is a key that does not exist.
func (t TimelineKeys) none() string { return t.p.Tag + ":none" }

// Owner is the hash of the user, list or hashtag that the timeline belongs to, whose field state says whether it still
// exists. The public timeline has none.
func (t TimelineKeys) Owner() string {
	switch t.id.Kind {
	case retwis.ListTimeline:
		return t.p.List(t.id.List()).Properties()
	case retwis.TagTimeline:
		return t.p.Hashtag(t.id.Tag()).Record()
	default:
		return t.p.User(t.id.Owner).Account()
	}
}

// Marker is the field of the hash [TimelineKeys.Owner] that holds the marker of the timeline: see lib/marker.lua. It is empty
// for a timeline that has none.
func (t TimelineKeys) Marker() string {
	switch t.id.Kind {
	case retwis.HomeTimeline, retwis.ListTimeline:
		return "marker"
	case retwis.MentionsTimeline:
		return "mentions_marker"
	default:
		return ""
	}
}

// Epoch is the hash whose field epoch is the epoch of the timeline. Only homes and lists have one; for other
// kinds the key does not exist.
func (t TimelineKeys) Epoch() string {
	switch t.id.Kind {
	case retwis.HomeTimeline, retwis.ListTimeline:
		return t.Owner()
	default:
		return t.none()
	}
}
