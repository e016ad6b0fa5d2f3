package store

import (
	"fmt"

	"retwis/internal/store/rdb"
)

// origins are the partitions that posts were read from for a merge, by number. Fan-out must not push posts that the
// merge adds, and must push posts that were created after the read.
type origins map[int]origin

// origin is the state of a partition before its profiles were read.
type origin struct {
	clock     int64  // every post created up to this instant could be read
	watermark string // watermark of the outbox; '' if there is none
	last      string // last entry of the outbox above the watermark; '' if there is none
}

// add adds the state of a partition that a read returned, unless an earlier one is known. It does nothing on nil
// origins.
func (o origins) add(number int, reply any) error {
	if o == nil {
		return nil
	}
	fields, _ := reply.([]any)
	if len(fields) != 3 {
		return fmt.Errorf("unexpected state %v of partition %d", reply, number)
	}
	clock, err := parseScore(rdb.Text(fields[0]))
	if err != nil {
		return fmt.Errorf("parse the clock of partition %d: %w", number, err)
	}
	if earlier, ok := o[number]; !ok || clock < earlier.clock {
		o[number] = origin{clock, rdb.Text(fields[1]), rdb.Text(fields[2])}
	}
	return nil
}
