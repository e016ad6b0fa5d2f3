package store

import (
	"context"
	"time"
)

// Load bounds what a worker asks of Redis at once, so that operations do not wait.
type Load struct{ core }

// Masters returns the number of masters that hold partitions.
func (s *Load) Masters(ctx context.Context) (int, error) {
	masters, err := s.db.ByMaster(ctx, s.db.Numbers())
	return len(masters), err
}

// BesideOperations reports whether operations have exchanges with the database now: see [rdb.DB.BesideOperations].
func (s *Load) BesideOperations() bool { return s.db.BesideOperations() }

// WorkAtOnce returns how much work a round beside operations should have, in pushes: see [rdb.DB.WorkAtOnce].
func (s *Load) WorkAtOnce() int { return s.db.WorkAtOnce() }

// RestAfterSearches returns for how long the reposts of a network have to rest after searches for them: see [rdb.DB.RestAfterSearches].
func (s *Load) RestAfterSearches(lists int) time.Duration { return s.db.RestAfterSearches(lists) }

// SetCrowded notes whether one network caused most of many deliveries that wait: see [rdb.DB.WorkAtOnce].
func (s *Load) SetCrowded(crowded bool) { s.db.SetCrowded(crowded) }
