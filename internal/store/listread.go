package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

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
	below   []retwis.Element   // the next entries below the range, up to [retwis.CursorReserve]
	hidden  []bool             // of each of entries: whether the timeline does not show it
	same    [][]retwis.Element // of each of entries that is a repost: the elements directly below it that show the same post
	related []retwis.Relation  // of each of entries: the relation of the reader to its post, if the request asks for it
	bottom  bool               // whether the range includes [rdb.ListComplete]

	displaced retwis.PostID // of a whole list: the greatest id that was trimmed below a late entry; or 0

	above  aboveMarker   // if it was asked for
	reader retwis.UserID // the owner of a home or list
}

// listRequest asks for a range of the list of a timeline.
type listRequest struct {
	mode   string           // top, after, before or all
	from   []retwis.Element // of after and before
	count  int
	marker bool // whether to read the marker
	unread int  // number of entries above the marker to read

	viewer retwis.UserID // the reader, to read which posts they like and have reposted; or 0
}

// readList reads a range of the list of a timeline. The modes after and before read from the first of some entries
// that the list holds: the range excludes the first one, and for after it includes any other. It rebuilds a home or list
// first if it is missing or being built. It applies the changes of the partition to the cache of posts. It returns a list
// that is being built if its sources changed during each try, or if no replica has some of its posts yet.
func (s *Timelines) readList(ctx context.Context, id retwis.TimelineID, of listRequest) (listRange, error) {
	marks := of.marker || of.unread > 0
	if of.mode == "after" || of.mode == "before" || marks {
		if err := cost.Walk(ctx, s.options.HomeCap/10); err != nil { // the search for the entry
			return listRange{}, err
		}
	}
	if of.mode == "all" || marks || of.count >= scanStep {
		ctx = cost.Long(ctx) // a marker that the list no longer holds takes Redis up to 0.9 ms
	}
	partition := s.db.OfTimeline(id).Number
	for try := 0; ; try++ {
		position, cached := s.posts.cache.Position(partition)
		reply, err := s.db.Do(ctx, s.pageCall(id, of, positionArg(position, cached))).Slice()
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

func (s *Timelines) pageCall(id retwis.TimelineID, of listRequest, position string) rdb.Call {
	p := s.db.OfTimeline(id)
	marker := ""
	if of.marker || of.unread > 0 {
		marker = p.Timeline(id).Marker()
	}
	keys := []string{
		p.Timeline(id).Entries(), p.Timeline(id).Epoch(), p.Changes(), p.LargeAuthors(), p.OnlineNodes(), p.Timeline(id).Owner(),
		p.Timeline(id).Sources(), p.Timeline(id).HiddenReposters(),
	}
	relations := "0"
	if of.viewer != 0 {
		keys, relations = append(keys, p.User(of.viewer).Likes(), p.User(of.viewer).Reposted()), "1"
	}
	return rdb.Call{
		Script: script.ReadList,
		Keys:   keys,
		Args: append([]any{
			of.mode, joinIDs(of.from), of.count, retwis.CursorReserve, position, pageChanges, marker, of.unread,
			string(id.Kind), relations,
		}, s.pullArgs(id)...),
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
	if len(reply) != 18 {
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
	got := listRange{at: at, last: rdb.Text(reply[3]), found: size >= 0, displaced: retwis.PostID(rdb.Number(reply[16]))}
	if got.above.marker, err = parseMarker(rdb.Text(reply[7])); err != nil {
		return listRange{}, err
	}
	if err := got.above.parse(reply[8], reply[9], reply[13]); err != nil {
		return listRange{}, err
	}
	same, err := parseSamePosts(reply[14])
	if err != nil {
		return listRange{}, err
	}
	if got.reader = id.Owner; id.Kind == retwis.ListTimeline {
		got.reader = retwis.UserID(rdb.Number(reply[11]))
	}
	entries, _ := reply[5].([]any)
	hidden, liked, reposted := flags(reply[10], len(entries)), flags(reply[12], len(entries)), flags(reply[15], len(entries))
	inside := max(0, min(int(size), len(entries)))
	got.entries, got.hidden = make([]retwis.Element, 0, inside), make([]bool, 0, inside)
	got.related, got.same = make([]retwis.Relation, 0, inside), make([][]retwis.Element, 0, inside)
	for i, e := range entries {
		inRange := i < inside
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
				got.hidden = append(got.hidden, hidden[i])
				got.related = append(got.related, retwis.Relation{Liked: liked[i], Reposted: reposted[i]})
				got.same = append(got.same, same.below(place{i, element}))
			} else {
				got.below = append(got.below, element)
			}
		}
	}
	return got, nil
}

// parse parses the entries above a marker, the indexes of those that the timeline hides, and the same posts of lib/repeats.lua.
func (a *aboveMarker) parse(entries, hidden, repeated any) error {
	elements, err := rdb.Elements(entries)
	if err != nil {
		return err
	}
	same, err := parseSamePosts(repeated)
	if err != nil {
		return err
	}
	isHidden := flags(hidden, len(elements))
	for i, e := range elements {
		if !isHidden[i] {
			a.entries = append(a.entries, entry{element: e, same: same.below(place{i, e})})
		}
	}
	a.scanned = len(elements)
	return nil
}

// flags returns for each of n entries whether a reply has its index.
func flags(reply any, n int) []bool {
	all := make([]bool, n)
	for _, i := range rdb.Indexes(reply, n) {
		all[i] = true
	}
	return all
}

// parseMarker parses a marker, which is empty for a timeline that was never marked.
func parseMarker(marker string) (retwis.Element, error) {
	if marker == "" {
		return retwis.Element{}, nil
	}
	return retwis.ParseElement(marker)
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
