package store

import (
	"hash/fnv"
	"strconv"
	"strings"

	"retwis/internal/retwis"
)

// slots is the number of hash slots of a Redis Cluster.
const slots = 16384

// partition is one share of the readers. All of its keys carry its tag, so they live in
// one slot, and any of them may be used together in one script.
type partition struct {
	number int
	tag    string // with its braces
}

// partitions returns the partitions of a database that has n of them, 1 to 512. Their
// slots lie in the middle of n equal ranges, so that nodes with contiguous ranges of
// slots get equal shares.
func partitions(n int) []partition {
	all := make([]partition, n)
	for i := range all {
		low, high := i*slots/n, (i+1)*slots/n
		quarter := (high - low) / 4
		for k := 0; ; k++ {
			tag := strconv.Itoa(i) + "." + strconv.FormatInt(int64(k), 36)
			if slot := slotOf(tag); slot >= low+quarter && slot < high-quarter {
				all[i] = partition{number: i, tag: "{" + tag + "}"}
				break
			}
		}
	}
	return all
}

// slotOf is the slot of a hash tag: its CRC-16 (XMODEM) modulo the number of slots, as
// the Redis Cluster specification defines it.
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
	return int(crc) % slots
}

// slotOfKey is the slot of a key of a partition.
func slotOfKey(key string) int {
	tag, _, _ := strings.Cut(strings.TrimPrefix(key, "{"), "}")
	return slotOf(tag)
}

// of returns the partition of a user. This is the one place that maps an id to its
// partition: whoever groups, writes or reads goes through it.
func (s *Store) of(user retwis.UserID) partition {
	return s.partitions[user.Bucket()%len(s.partitions)]
}

func (s *Store) ofBucket(bucket int) partition {
	return s.partitions[bucket%len(s.partitions)]
}

// ofPost returns the partition that stores a post, false for an id that none gave out.
func (s *Store) ofPost(post retwis.PostID) (partition, bool) {
	if n := post.Partition(); n < len(s.partitions) {
		return s.partitions[n], true
	}
	return partition{}, false
}

// ofName returns the partition that holds the claim on a name.
func (s *Store) ofName(folded string) partition {
	h := fnv.New32a()
	_, _ = h.Write([]byte(folded)) // never fails, by its contract
	return s.partitions[int(h.Sum32()%uint32(len(s.partitions)))]
}

// public returns the partition of the public timeline.
func (s *Store) public() partition { return s.partitions[0] }

// ofTimeline returns the partition of a timeline.
func (s *Store) ofTimeline(t retwis.TimelineID) partition {
	if t.Kind == retwis.PublicTimeline {
		return s.public()
	}
	return s.of(t.Owner)
}

// PartitionOf returns the number of the partition that a timeline lives in.
func (s *Store) PartitionOf(t retwis.TimelineID) int { return s.ofTimeline(t).number }

// Partitions returns how many partitions the database has.
func (s *Store) Partitions() int { return len(s.partitions) }
