package rdb

import (
	"fmt"
	"math/bits"
	"testing"

	"retwis/internal/retwis"
)

// maxPartitions is the greatest number of partitions of a database.
const maxPartitions = 512

func TestTags_SpreadEvenlyForEveryPowerOfTwo(t *testing.T) {
	t.Parallel()
	for n := 1; n <= maxPartitions; n *= 2 {
		partitions := NewPartitions(n)
		if len(partitions) != n {
			t.Fatalf("%d partitions, want %d", len(partitions), n)
		}
		width := Slots / n
		taken := map[int]string{}
		for _, p := range partitions {
			slot := SlotOfKey(p.Tag + ":clock")
			if other, ok := taken[slot/width]; ok {
				t.Errorf("of %d partitions, %s and %s are in one range of %d slots", n, other, p.Tag, width)
			}
			taken[slot/width] = p.Tag
		}
	}
}

func TestTags_AreInBitReversedOrder(t *testing.T) {
	t.Parallel()
	const width = Slots / maxPartitions
	for _, p := range NewPartitions(maxPartitions) {
		slot := SlotOfKey(p.Tag)
		if want := int(bits.Reverse16(uint16(p.Number)) >> 7); slot/width != want {
			t.Errorf("tag %s of partition %d is in range %d, want %d", p.Tag, p.Number, slot/width, want)
		}
		// Nodes may own ranges that begin a few slots before or after a multiple.
		if at := slot % width; at < width/4 || at >= width-width/4 {
			t.Errorf("tag %s of partition %d is at slot %d of its %d, want one in the middle", p.Tag, p.Number, at, width)
		}
	}
}

func TestTags_ArePartOfTheStoredFormat(t *testing.T) {
	t.Parallel()
	partitions := NewPartitions(maxPartitions)
	for number, want := range map[int]string{0: "{lvb}", 1: "{vzl}", 15: "{6kc}", 511: "{x2h}"} {
		if got := partitions[number].Tag; got != want {
			t.Errorf("partition %d has tag %s, want %s", number, got, want)
		}
	}
}

// databases returns a database with n partitions, and the same with twice as many.
func databases(n int) (before, after *DB) {
	before, after = &DB{}, &DB{}
	before.UsePartitions(n)
	after.UsePartitions(2 * n)
	return before, after
}

func TestPartitions_SplitIntoTwoWhenTheirNumberDoubles(t *testing.T) {
	t.Parallel()
	for n := 1; n < maxPartitions; n *= 2 {
		before, after := databases(n)
		check := func(what string, old, new Partition) {
			t.Helper()
			if new.Number != old.Number && new.Number != old.Number+n {
				t.Errorf("%s moves from partition %d of %d to partition %d", what, old.Number, n, new.Number)
			}
			if new.Number == old.Number && new.Tag != old.Tag {
				t.Errorf("%s stays in partition %d, whose tag changes from %s to %s", what, old.Number, old.Tag, new.Tag)
			}
		}
		for bucket := range retwis.Buckets {
			user := retwis.UserID(5*retwis.Buckets + bucket)
			check(fmt.Sprint("user ", user), before.OfUser(user), after.OfUser(user))
			name := fmt.Sprint("name", bucket)
			check(name, before.OfName(name), after.OfName(name))

			// Every id that names a place is in the partition of its user.
			post := retwis.PostID(1_700_000_000_000_000_000 + user.PostBucket()*1000 + 7)
			for _, db := range []*DB{before, after} {
				want := db.OfUser(user)
				if got, ok := db.OfPost(post); !ok || got != want {
					t.Errorf("post %s is in partition %d of %d, its author in %d", post, got.Number, len(db.Partitions()), want.Number)
				}
				list := retwis.ListID(user) + 9*retwis.Buckets
				if got := db.OfTimeline(retwis.ListPosts(list)); got != want {
					t.Errorf("list %s is in partition %d of %d, its owner in %d", list, got.Number, len(db.Partitions()), want.Number)
				}
			}
		}
		check("the public timeline", before.Public(), after.Public())
	}
}

func TestOfPost_RefusesBucketsThatNoPartitionHas(t *testing.T) {
	t.Parallel()
	db := &DB{}
	db.UsePartitions(maxPartitions)
	for _, bucket := range []int{retwis.PostBuckets, 999} {
		if p, ok := db.OfPost(retwis.PostID(1_700_000_000_000_000_000 + bucket*1000)); ok {
			t.Errorf("bucket %d is in partition %d", bucket, p.Number)
		}
	}
}

func TestCheckMeta_RefusesOtherSchemaVersions(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{"", "1", fmt.Sprint(SchemaVersion - 1), fmt.Sprint(SchemaVersion + 1)} {
		if _, err := CheckMeta(schema, "16", 0); err == nil {
			t.Errorf("a database of schema version %q is accepted", schema)
		}
	}
	if has, err := CheckMeta(fmt.Sprint(SchemaVersion), "16", 0); err != nil || has != 16 {
		t.Errorf("the current version is refused: %v", err)
	}
}
