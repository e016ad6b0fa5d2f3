package retwis

import (
	"fmt"
	"strconv"
	"time"
)

// TimeOrigin is the instant from which ids and follow times count.
var TimeOrigin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Buckets is the number of buckets that user ids are spread over. It bounds the
// number of partitions: a partition is a bucket modulo the partition count.
const Buckets = 1024

// UserID identifies a user: a sequence number times [Buckets], plus the bucket.
// Valid ids are above 0 and below 2^53, so every language holds them exactly.
type UserID int64

// maxUserID is the first number that a double no longer holds exactly.
const maxUserID = 1 << 53

// Bucket returns the bucket that names the user's partition, 0 to 1023.
func (id UserID) Bucket() int { return int(id % Buckets) }

func (id UserID) String() string { return strconv.FormatInt(int64(id), 10) }

// ParseUserID reads the decimal form that [UserID.String] writes.
func ParseUserID(s string) (UserID, error) {
	n, err := parseID(s)
	if err != nil || n >= maxUserID {
		return 0, fmt.Errorf("%q is no user id", s)
	}
	return UserID(n), nil
}

// PostID identifies a post: milliseconds since [TimeOrigin], then three decimal digits
// of partition, then three of sequence. Ids are above 0, below 2^63, sort by time
// of creation, and those of one author only ever rise.
type PostID int64

func (id PostID) String() string { return strconv.FormatInt(int64(id), 10) }

// Partition returns the partition that stores the post.
func (id PostID) Partition() int { return int(id / 1000 % 1000) }

// CreatedAt returns when the post was made, to the millisecond.
func (id PostID) CreatedAt() time.Time {
	return TimeOrigin.Add(time.Duration(id/1_000_000) * time.Millisecond)
}

// ParsePostID reads the decimal form that [PostID.String] writes.
func ParsePostID(s string) (PostID, error) {
	n, err := parseID(s)
	if err != nil {
		return 0, fmt.Errorf("%q is no post id", s)
	}
	return PostID(n), nil
}

// parseID accepts only the canonical decimal spelling of a positive number, so that every id
// has exactly one string.
func parseID(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || strconv.FormatInt(n, 10) != s {
		return 0, strconv.ErrSyntax
	}
	return n, nil
}
