package live

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"retwis/internal/retwis"
)

func (db *fakeDatabase) SetOnline(ctx context.Context, node string, timelines []retwis.TimelineID, ttl time.Duration) (absent []retwis.TimelineID, err error) {
	db.countEntering(1)
	defer db.countEntering(-1)
	if err := db.call(ctx, "Enter"); err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.calls["longest Enter"] = max(db.calls["longest Enter"], len(timelines))
	for _, t := range timelines {
		if _, ok := db.online[t]; !ok {
			absent = append(absent, t)
		}
		db.online[t] = time.Now().Add(ttl)
	}
	return absent, nil
}

// countEntering counts the calls of SetOnline that have begun and not ended.
func (db *fakeDatabase) countEntering(change int) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.calls["Enter at once"] += change
	db.calls["most Enter at once"] = max(db.calls["most Enter at once"], db.calls["Enter at once"])
}

func (db *fakeDatabase) SetOffline(ctx context.Context, node string, timelines []retwis.TimelineID) error {
	if err := db.call(ctx, "Leave"); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, t := range timelines {
		delete(db.online, t)
	}
	return nil
}

// present returns the timelines with presence, sorted.
func (db *fakeDatabase) present() []string {
	db.mu.Lock()
	defer db.mu.Unlock()
	var names []string
	for t := range maps.Keys(db.online) {
		if time.Now().Before(db.online[t]) {
			names = append(names, t.String()+"@"+strconv.Itoa(db.PartitionOf(t)))
		}
	}
	slices.Sort(names)
	return names
}
