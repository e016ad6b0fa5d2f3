package retwis

import (
	"fmt"
	"strconv"
	"time"
)

// TimeOrigin is the origin of the times in post ids and of follow times.
var TimeOrigin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Buckets is the number of buckets of user ids. The number of a user's partition is the bucket
// modulo the partition count, which is at most 512.
const Buckets = 1024

// UserID identifies a user: a sequence number times [Buckets], plus the bucket. Valid ids
// are above 0 and below 2^53, so every language represents them exactly.
type UserID int64

// maxUserID is the exclusive bound: a double represents all integers below it exactly.
const maxUserID = 1 << 53

// Bucket returns the bucket of the user, 0 to 1023, which determines the partition.
func (id UserID) Bucket() int { return int(id % Buckets) }

func (id UserID) String() string { return strconv.FormatInt(int64(id), 10) }

// ParseUserID parses the result of [UserID.String].
func ParseUserID(s string) (UserID, error) {
	n, err := parseID(s)
	if err != nil || n >= maxUserID {
		return 0, fmt.Errorf("invalid user id %q", s)
	}
	return UserID(n), nil
}

// PostID identifies a post: milliseconds since [TimeOrigin], then three decimal digits
// of partition, then three of sequence. Ids are above 0 and below 2^63. They sort by
// creation time, and those of one author always increase.
type PostID int64

func (id PostID) String() string { return strconv.FormatInt(int64(id), 10) }

// Partition returns the partition that stores the post.
func (id PostID) Partition() int { return int(id / 1000 % 1000) }

// CreatedAt returns the creation time of the post in milliseconds.
func (id PostID) CreatedAt() time.Time {
	return TimeOrigin.Add(time.Duration(id/1_000_000) * time.Millisecond)
}

// ParsePostID parses the result of [PostID.String].
func ParsePostID(s string) (PostID, error) {
	n, err := parseID(s)
	if err != nil {
		return 0, fmt.Errorf("invalid post id %q", s)
	}
	return PostID(n), nil
}

// parseID accepts only the canonical decimal form of a positive number, so that every id has
// exactly one string.
func parseID(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || strconv.FormatInt(n, 10) != s {
		return 0, strconv.ErrSyntax
	}
	return n, nil
}
