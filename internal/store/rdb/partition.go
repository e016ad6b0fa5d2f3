package rdb

import (
	"hash/fnv"
	"iter"
	"slices"
	"strings"

	"retwis/internal/retwis"
)

// Slots is the number of hash slots of a Redis Cluster.
const Slots = 16384

// Partition is a share of the users. All of its keys contain its tag, so they are in one slot, and a script
// may use any of them together.
type Partition struct {
	Number int
	Tag    string // with its braces
}

// NewPartitions returns n partitions, 1 to 512.
func NewPartitions(n int) []Partition {
	all := make([]Partition, 0, n)
	for word := range strings.FieldsSeq(tagWords) {
		if len(all) == n {
			break
		}
		all = append(all, Partition{Number: len(all), Tag: "{" + word + "}"})
	}
	return all
}

// slotOf returns the slot of a hash tag: its CRC-16 (XMODEM) modulo the number of slots, as in the Redis
// Cluster specification.
func slotOf(tag string) int {
	var crc uint16
	for i := range len(tag) {
		crc ^= uint16(tag[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc) % Slots
}

// SlotOfKey returns the slot of a key of a partition.
func SlotOfKey(key string) int {
	tag, _, _ := strings.Cut(strings.TrimPrefix(key, "{"), "}")
	return slotOf(tag)
}

// OfUser returns the partition of a user.
func (db *DB) OfUser(user retwis.UserID) Partition { return db.OfBucket(user.Bucket()) }

// OfBucket returns the partition of a bucket, or of any other number that spreads keys evenly.
func (db *DB) OfBucket(bucket int) Partition { return db.partitions[bucket%len(db.partitions)] }

// OfPost returns the partition that stores a post, false for an id that no partition can have assigned.
func (db *DB) OfPost(post retwis.PostID) (Partition, bool) {
	if bucket := post.Bucket(); bucket < retwis.PostBuckets {
		return db.OfBucket(bucket), true
	}
	return Partition{}, false
}

// OfName returns the partition that holds the claim on a folded name.
func (db *DB) OfName(folded string) Partition { return db.OfHash([]byte(folded)) }

// OfHash returns the partition of any other text, by its hash.
func (db *DB) OfHash(text []byte) Partition { return db.OfBucket(BucketOfHash(text)) }

// BucketOfHash returns the bucket of a text by its hash.
func BucketOfHash(text []byte) int {
	h := fnv.New32a()
	_, _ = h.Write(text) // never fails, by its contract
	return int(h.Sum32() % retwis.Buckets)
}

// OfTimeline returns the partition of a timeline.
func (db *DB) OfTimeline(t retwis.TimelineID) Partition {
	if t.Kind == retwis.PublicTimeline {
		return db.Public()
	}
	return db.OfUser(t.Owner)
}

// ofKey returns the partition of one of its keys.
func (db *DB) ofKey(key string) Partition {
	return db.partitions[slices.IndexFunc(db.partitions, func(p Partition) bool { return strings.HasPrefix(key, p.Tag) })]
}

// Public returns the partition of the public timeline.
func (db *DB) Public() Partition { return db.partitions[0] }

// Partition returns a partition by its number.
func (db *DB) Partition(number int) Partition { return db.partitions[number] }

// Numbers returns the numbers of all partitions.
func (db *DB) Numbers() iter.Seq[int] {
	return func(yield func(int) bool) {
		for number := range db.partitions {
			if !yield(number) {
				return
			}
		}
	}
}

// Partitions returns all partitions, by number.
func (db *DB) Partitions() []Partition { return db.partitions }
