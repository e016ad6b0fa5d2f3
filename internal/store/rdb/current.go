package rdb

import (
	"context"
	"time"

	"retwis/internal/sleep"
)

// slowRead is the time after which [DB.ReadCurrent] does not rely on a read. A shorter time would repeat reads of a busy server more often.
const slowRead = 250 * time.Millisecond

// newsTime is the time in which a master that resumes reads what the other nodes have sent it.
const newsTime = 100 * time.Millisecond

// ReadCurrent calls read, and on a cluster once more if that took long. The master may have been frozen meanwhile, and replaced. When it
// resumes, it answers the requests that have arrived before it learns of its replacement, and a process that does not know the
// failover either would take that for the current state. A read that such a master receives less than 250 ms before it
// resumes is not repeated.
func (db *DB) ReadCurrent(ctx context.Context, read func() error) error {
	sent := time.Now()
	if err := read(); err != nil || db.replicas == nil || time.Since(sent) < slowRead {
		return err
	}
	if err := sleep.For(ctx, newsTime); err != nil {
		return err
	}
	return read()
}
