package retwis

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Ids name a bucket, never a partition. The number of a partition is a bucket modulo the
// partition count, a power of two up to [PostBuckets]. An id therefore still names its
// partition after the count was doubled.
const (
	Buckets     = 1024 // of the ids of users and lists
	PostBuckets = 512  // of the ids of posts: the bucket of the author modulo this number
)

// UserID identifies a user: a sequence number times [Buckets], plus the bucket. Valid ids
// are above 0 and below 2^53, so every language represents them exactly.
type UserID int64

// maxUserID is the exclusive bound: a double represents all integers below it exactly.
const maxUserID = 1 << 53

// Bucket returns the bucket of the user, 0 to 1023, which determines the partition.
func (id UserID) Bucket() int { return int(id % Buckets) }

// PostBucket returns the bucket of the user's posts, 0 to 511.
func (id UserID) PostBucket() int { return id.Bucket() % PostBuckets }

func (id UserID) String() string { return strconv.FormatInt(int64(id), 10) }

// ParseUserID parses the result of [UserID.String].
func ParseUserID(s string) (UserID, error) {
	n, err := parseID(s)
	if err != nil || n >= maxUserID {
		return 0, fmt.Errorf("invalid user id %.40q", s)
	}
	return UserID(n), nil
}

// PostID identifies a post: milliseconds since 1970, then three decimal digits of bucket,
// then three of sequence, which is unique within the bucket and the millisecond. Ids are
// above 0 and below 2^63. They sort by creation time, and those of one author always increase.
type PostID int64

func (id PostID) String() string { return strconv.FormatInt(int64(id), 10) }

// Bucket returns the bucket of the post, which determines the partition. An id that was never
// assigned may have a bucket of [PostBuckets] or above, up to 999.
func (id PostID) Bucket() int { return int(id / 1000 % 1000) }

// CreatedAt returns the creation time of the post in milliseconds.
func (id PostID) CreatedAt() time.Time { return time.UnixMilli(int64(id / 1_000_000)).UTC() }

// EndOfMilli returns the first id after the millisecond of the post. The ids of different
// buckets do not order the posts of one millisecond by time.
func (id PostID) EndOfMilli() PostID { return (id/1_000_000 + 1) * 1_000_000 }

// FirstPostID returns the lowest id of a millisecond since 1970.
func FirstPostID(millis int64) PostID { return PostID(millis * 1_000_000) }

// MaxPostID is the highest post id.
const MaxPostID PostID = math.MaxInt64

// ParsePostID parses the result of [PostID.String].
func ParsePostID(s string) (PostID, error) {
	n, err := parseID(s)
	if err != nil {
		return 0, fmt.Errorf("invalid post id %.40q", s)
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
