package store

import (
	"fmt"

	"retwis/internal/store/rdb"
)

// origins are the partitions that posts were read from, by number, for a merge: fan-out must
// not push what the merge brings, and must push what was posted after the reading.
type origins map[int]origin

// origin is where a partition stood before its profiles were read.
type origin struct {
	clock     int64  // every post that was made up to this instant could be read
	watermark string // entry of the outbox up to which all are carried out; '' where none is
	last      string // last entry of the outbox that is above the watermark; '' where none is
}

// note notes what a reading replied, unless an earlier one is known. It does nothing where
// nobody wants to know.
func (o origins) note(number int, reply any) error {
	if o == nil {
		return nil
	}
	fields, _ := reply.([]any)
	if len(fields) != 3 {
		return fmt.Errorf("partition %d stands at %v", number, reply)
	}
	clock, err := parseScore(rdb.Text(fields[0]))
	if err != nil {
		return fmt.Errorf("clock of partition %d: %w", number, err)
	}
	if earlier, ok := o[number]; !ok || clock < earlier.clock {
		o[number] = origin{clock, rdb.Text(fields[1]), rdb.Text(fields[2])}
	}
	return nil
}
