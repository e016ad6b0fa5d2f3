package store

import (
	"context"

	"retwis/internal/store/rdb"
)

// JoinProcesses tells the other processes on this Redis what this one does, and learns the same of them, until ctx is done. The networks are those of
// its clients, nil if it has none; workerBehind is nil if it has no worker. See [rdb.DB.JoinProcesses].
func (s *Store) JoinProcesses(ctx context.Context, networks rdb.ClientNetworks, workerBehind func() bool) error {
	return s.db.JoinProcesses(ctx, networks, workerBehind)
}
