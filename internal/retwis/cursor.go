package retwis

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
)

// Cursor is a position in a connection, opaque to clients.
type Cursor string

// TimelinePosition is the content of a timeline cursor: the entry it points at, and what a
// subscriber needs to resume there.
type TimelinePosition struct {
	Timeline TimelineID
	Epoch    int64    // of the list, when the cursor was made
	Filter   int64    // the filter epoch of the viewer; 0 for an anonymous one
	Element  Element  // the entry at the position; zero below all entries
	Deep     bool     // whether the entry was below the end of the stored list
	Change   ChangeID // the last change seen

	// Older are the next older entries of the stored list, nearest first, zero for none or if they are not known. If the
	// list no longer holds the entry, a page continues at the first that it still holds. A subscriber that resumes is reset if
	// the list holds others instead, as after a failover that lost some.
	Older [CursorReserve]Element
}

// OlderEntries returns the known entries among [TimelinePosition.Older].
func (p TimelinePosition) OlderEntries() []Element {
	return slices.DeleteFunc(p.Older[:], func(e Element) bool { return e == Element{} })
}

// Next returns the position of an entry that arrived on top of the list when its newest entry was at p.
func (p TimelinePosition) Next(e Element) TimelinePosition {
	copy(p.Older[1:], p.Older[:])
	p.Older[0], p.Element = p.Element, e
	return p
}

// CursorReserve is the number of older entries that a cursor holds.
const CursorReserve = 3

// ChangeID is a position in the changes of a partition: the two halves of a Redis stream
// id. The zero value is before all changes.
type ChangeID struct{ Millis, Seq int64 }

// Before reports whether a change precedes another one of its partition.
func (c ChangeID) Before(other ChangeID) bool {
	return c.Millis < other.Millis || c.Millis == other.Millis && c.Seq < other.Seq
}

// String returns the stream id.
func (c ChangeID) String() string {
	return strconv.FormatInt(c.Millis, 10) + "-" + strconv.FormatInt(c.Seq, 10)
}

// FollowPosition is the content of a cursor of a followers or following connection.
type FollowPosition struct {
	Connection FollowConnection
	Score      int64 // time of the follow, microseconds since 1970
	User       UserID
}

// Every cursor is base64url of: kind byte, uvarints, and four bytes of CRC-32. The
// checksum detects truncated and mistyped cursors.
const (
	timelineCursorKind = 't'
	followCursorKind   = 'f'
)

// timelineNumbers is how many numbers a timeline cursor has before those of its elements. The last one
// is the shape: bit 0 is Deep, and two bits for each element are its form.
const timelineNumbers = 7

// The forms of an element in a cursor. A plain post is one number, the others are three.
const (
	plainForm = iota
	replyForm
	repostForm
)

// Cursor encodes the position.
func (p TimelinePosition) Cursor() Cursor {
	var shape int64
	if p.Deep {
		shape = 1
	}
	numbers := make([]int64, timelineNumbers, maxNumbers)
	add := func(e Element, shift int) {
		switch {
		case e.Reposted != 0:
			shape |= repostForm << shift
			numbers = append(numbers, int64(e.ID), int64(e.Author), int64(e.Reposted))
		case e.Answered != 0:
			shape |= replyForm << shift
			numbers = append(numbers, int64(e.ID), int64(e.Author), int64(e.Answered))
		default:
			numbers = append(numbers, int64(e.ID))
		}
	}
	add(p.Element, 1)
	for i, e := range p.Older {
		add(e, 3+2*i)
	}
	copy(numbers, []int64{int64(p.Timeline.Kind), int64(p.Timeline.Owner), p.Epoch, p.Filter, p.Change.Millis, p.Change.Seq, shape})
	return seal(timelineCursorKind, numbers...)
}

// TimelinePosition decodes a cursor of the given timeline. Any other cursor is
// [ErrBadCursor].
func (c Cursor) TimelinePosition(of TimelineID) (TimelinePosition, error) {
	n, ok := c.open(timelineCursorKind)
	if !ok || len(n) < timelineNumbers || n[0] != int64(of.Kind) || n[1] != int64(of.Owner) {
		return TimelinePosition{}, ErrBadCursor
	}
	shape, rest := n[6], n[timelineNumbers:]
	next := func(shift int) (e Element) {
		form, size := shape>>shift&3, 3
		if form == plainForm {
			size = 1
		}
		if ok = ok && form <= repostForm && len(rest) >= size; !ok {
			return Element{}
		}
		switch e.ID = PostID(rest[0]); form {
		case replyForm:
			e.Author, e.Answered = UserID(rest[1]), UserID(rest[2])
		case repostForm:
			e.Author, e.Reposted = UserID(rest[1]), PostID(rest[2])
		}
		rest = rest[size:]
		ok = e.valid() && (form == plainForm) == (e.Author == 0)
		return e
	}
	p := TimelinePosition{Timeline: of, Epoch: n[2], Filter: n[3], Change: ChangeID{n[4], n[5]}, Deep: shape&1 == 1}
	p.Element = next(1)
	for i := range p.Older {
		p.Older[i] = next(3 + 2*i)
	}
	if !ok || len(rest) > 0 || shape>>(3+2*CursorReserve) != 0 {
		return TimelinePosition{}, ErrBadCursor
	}
	return p, nil
}

// Cursor encodes the position.
func (p FollowPosition) Cursor() Cursor {
	return seal(followCursorKind, int64(p.Connection.Kind), int64(p.Connection.User), p.Score, int64(p.User))
}

// FollowPosition decodes a cursor of the given connection. Any other cursor is
// [ErrBadCursor].
func (c Cursor) FollowPosition(of FollowConnection) (FollowPosition, error) {
	n, ok := c.open(followCursorKind)
	if !ok || len(n) != 4 || n[0] != int64(of.Kind) || n[1] != int64(of.User) {
		return FollowPosition{}, ErrBadCursor
	}
	return FollowPosition{Connection: of, Score: n[2], User: UserID(n[3])}, nil
}

func seal(kind byte, numbers ...int64) Cursor {
	b := make([]byte, 1, 96)
	b[0] = kind
	for _, n := range numbers {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return Cursor(base64.RawURLEncoding.EncodeToString(b))
}

// maxNumbers is how many numbers a cursor has at most, and maxCursorLength how many characters.
const (
	maxNumbers      = timelineNumbers + 3*(1+CursorReserve)
	maxCursorLength = (8*(1+maxNumbers*binary.MaxVarintLen64+crc32.Size) + 5) / 6
)

// open decodes a cursor that seal returned. No number is negative.
func (c Cursor) open(kind byte) ([]int64, bool) {
	if len(c) > maxCursorLength {
		return nil, false
	}
	b, err := base64.RawURLEncoding.DecodeString(string(c))
	if err != nil || len(b) <= crc32.Size {
		return nil, false
	}
	numbers := make([]int64, 0, timelineNumbers+1+CursorReserve)
	for rest := b[1 : len(b)-crc32.Size]; len(rest) > 0; {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > math.MaxInt64 {
			return nil, false
		}
		numbers, rest = append(numbers, int64(n)), rest[size:]
	}
	// Sealing the numbers again compares kind and checksum at once, and admits only one
	// spelling: base64 alone would accept line ends, and uvarints padding.
	return numbers, seal(kind, numbers...) == c
}
