package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// listRange is a range of the list of a timeline, with the position of the timeline.
type listRange struct {
	at      retwis.TimelinePosition
	last    string // last entry or mark of the list; '' if the list is missing
	found   bool   // whether the list holds the requested entry, or one of the older ones of its cursor
	entries []retwis.Element
	below   []retwis.Element // the next entries below the range, up to [retwis.CursorReserve]
	bottom  bool             // whether the range includes [rdb.ListComplete]
}

// readList reads a range of the list of a timeline. The modes after and before read from the first of some entries
// that the list holds: the range excludes the first one, and for after it includes any other. It rebuilds a home or list
// first if it is missing or being built. It applies the changes of the partition to the cache of posts. It returns a list that is being built if its sources changed during each try,
// or if no replica has some of its posts yet.
func (s *Timelines) readList(ctx context.Context, id retwis.TimelineID, mode string, from []retwis.Element, count int) (listRange, error) {
	if mode == "after" || mode == "before" {
		if err := cost.Walk(ctx, s.options.HomeCap/10); err != nil { // the search for the entry
			return listRange{}, err
		}
	}
	partition := s.db.OfTimeline(id).Number
	for try := 0; ; try++ {
		position, cached := s.posts.cache.Position(partition)
		reply, err := s.db.Do(ctx, s.pageCall(id, mode, from, count, positionArg(position, cached))).Slice()
		if err != nil {
			return listRange{}, fmt.Errorf("read a list: %w", err)
		}
		got, err := parseListRange(id, reply)
		if err != nil {
			return listRange{}, fmt.Errorf("read a list: %w", err)
		}
		if cached {
			changes, err := parseChanges(position, got.at.Change, reply[6])
			if err != nil {
				return listRange{}, fmt.Errorf("read a list: %w", err)
			}
			s.posts.cache.Apply(partition, changes)
		}
		built := got.last != "" && got.last != rdb.ListBuilding
		if !id.FannedOut() || built || try >= 3 {
			return got, nil
		}
		switch err := s.Rebuild(ctx, id); {
		case errors.Is(err, retwis.ErrNotReplicated):
			try = 3
		case err != nil && !errors.Is(err, errConcurrentChange):
			return listRange{}, err
		}
	}
}

func (s *Timelines) pageCall(id retwis.TimelineID, mode string, from []retwis.Element, count int, position string) rdb.Call {
	p := s.db.OfTimeline(id)
	elements := make([]string, len(from))
	for i, e := range from {
		elements[i] = e.String()
	}
	return rdb.Call{
		Script: script.ReadList,
		Keys:   []string{p.Timeline(id).Entries(), p.Timeline(id).Epoch(), p.Changes(), p.LargeAuthors(), p.OnlineNodes()},
		Args:   append([]any{mode, strings.Join(elements, " "), count, retwis.CursorReserve, position, pageChanges}, s.pullArgs(id)...),
	}
}

// pullArgs returns the arguments of lib/pullonread.lua, which pulls posts of large authors before a read.
func (s *Timelines) pullArgs(id retwis.TimelineID) []any {
	p := s.db.OfTimeline(id)
	return []any{homeOwner(id), p.Tag + ":", s.options.HomeCap, s.options.Slack, s.db.Publish, p.Prefix(rdb.LiveChannels), len(s.db.Partitions())}
}

// homeOwner returns the owner of a home, empty for other timelines.
func homeOwner(id retwis.TimelineID) string {
	if id.Kind != retwis.HomeTimeline {
		return ""
	}
	return id.Owner.String()
}

func parseListRange(id retwis.TimelineID, reply []any) (listRange, error) {
	if len(reply) != 7 {
		return listRange{}, fmt.Errorf("%d fields", len(reply))
	}
	at, err := parsePosition(id, rdb.Text(reply[0]), rdb.Text(reply[1]))
	if err != nil {
		return listRange{}, err
	}
	if at.Element, err = rdb.Element(rdb.Text(reply[2])); err != nil {
		return listRange{}, err
	}
	size, _ := reply[4].(int64)
	got := listRange{at: at, last: rdb.Text(reply[3]), found: size >= 0}
	entries, _ := reply[5].([]any)
	for i, e := range entries {
		inRange := i < int(size)
		switch rdb.Text(e) {
		case rdb.ListComplete:
			got.bottom = inRange
		case rdb.ListBuilding:
		default:
			element, err := retwis.ParseElement(rdb.Text(e))
			if err != nil {
				return listRange{}, err
			}
			if inRange {
				got.entries = append(got.entries, element)
			} else {
				got.below = append(got.below, element)
			}
		}
	}
	return got, nil
}

// parsePosition parses an epoch and a change id that a script returned.
func parsePosition(id retwis.TimelineID, epoch, change string) (retwis.TimelinePosition, error) {
	at := retwis.TimelinePosition{Timeline: id}
	var err error
	if at.Epoch, err = strconv.ParseInt(epoch, 10, 64); err != nil {
		return at, fmt.Errorf("epoch %q: %w", epoch, err)
	}
	at.Change, err = rdb.ChangeID(change)
	return at, err
}
