package store

import (
	"context"
	"fmt"
)

// Probe sends a node a live message of its own, over the channel of a partition and from
// another connection than it listens on: where it does not arrive, nothing else does.
func (s *Store) Probe(ctx context.Context, node string, number int) error {
	channel := s.partitions[number].live(node)
	if err := s.client.Do(ctx, s.publish, channel, "?").Err(); err != nil {
		return fmt.Errorf("probe channel %s: %w", channel, err)
	}
	return nil
}
