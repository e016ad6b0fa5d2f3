package retwis

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"math"
)

// Cursor is a position in a connection, opaque to clients.
type Cursor string

// TimelinePosition is the content of a timeline cursor: the post it points at, and what a
// subscriber needs to resume there.
type TimelinePosition struct {
	Timeline TimelineID
	Epoch    int64     // of the list, when the cursor was made
	Post     PostID    // the post at the position; 0 below all posts
	Deep     bool      // whether the post was below the end of the stored list
	Removal  RemovalID // the last removal seen

	// Older are the next older entries of the stored list, nearest first, 0 for none. If the
	// list no longer holds the post, a page continues at the first that it still holds.
	Older [CursorReserve]PostID
}

// CursorReserve is the number of older entries that a cursor holds.
const CursorReserve = 3

// RemovalID is a position in the removals of a partition: the two halves of a Redis stream
// id. The zero value is before all removals.
type RemovalID struct{ Millis, Seq int64 }

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

// Cursor encodes the position.
func (p TimelinePosition) Cursor() Cursor {
	var deep int64
	if p.Deep {
		deep = 1
	}
	return seal(timelineCursorKind, int64(p.Timeline.Kind), int64(p.Timeline.Owner),
		p.Epoch, int64(p.Post), p.Removal.Millis, p.Removal.Seq, deep,
		int64(p.Older[0]), int64(p.Older[1]), int64(p.Older[2]))
}

// TimelinePosition decodes a cursor of the given timeline. Any other cursor is
// [ErrBadCursor].
func (c Cursor) TimelinePosition(of TimelineID) (TimelinePosition, error) {
	n, ok := c.open(timelineCursorKind, 7+CursorReserve)
	if !ok || n[6] > 1 || n[0] != int64(of.Kind) || n[1] != int64(of.Owner) {
		return TimelinePosition{}, ErrBadCursor
	}
	return TimelinePosition{
		Timeline: of,
		Epoch:    n[2],
		Post:     PostID(n[3]),
		Removal:  RemovalID{n[4], n[5]},
		Deep:     n[6] == 1,
		Older:    [CursorReserve]PostID{PostID(n[7]), PostID(n[8]), PostID(n[9])},
	}, nil
}

// Cursor encodes the position.
func (p FollowPosition) Cursor() Cursor {
	return seal(followCursorKind, int64(p.Connection.Kind), int64(p.Connection.User), p.Score, int64(p.User))
}

// FollowPosition decodes a cursor of the given connection. Any other cursor is
// [ErrBadCursor].
func (c Cursor) FollowPosition(of FollowConnection) (FollowPosition, error) {
	n, ok := c.open(followCursorKind, 4)
	if !ok || n[0] != int64(of.Kind) || n[1] != int64(of.User) {
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

// open decodes a cursor that seal returned. It returns exactly want numbers, none negative.
func (c Cursor) open(kind byte, want int) ([]int64, bool) {
	b, err := base64.RawURLEncoding.DecodeString(string(c))
	if err != nil || len(b) == 0 {
		return nil, false
	}
	numbers := make([]int64, want)
	rest := b[1:]
	for i := range numbers {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > math.MaxInt64 {
			return nil, false
		}
		numbers[i], rest = int64(n), rest[size:]
	}
	// Sealing the numbers again compares kind, length and checksum at once, and admits only one
	// spelling: base64 alone would accept line ends, and uvarints padding.
	return numbers, seal(kind, numbers...) == c
}
