package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// timed is an operation with the processor time that it took.
type timed struct {
	priced
	service, server time.Duration // of the process of the test and of Redis, for one execution
}

// perPoint returns the microseconds per point.
func (m timed) perPoint() float64 {
	return float64((m.service + m.server).Microseconds()) / float64(m.charged())
}

// String implements [fmt.Stringer].
func (m timed) String() string {
	return fmt.Sprintf("service %v, Redis %v: %v", m.service, m.server, m.priced)
}

// measureProcessor requires that the processor time per point of no operation is more than a multiple of the median. Other
// programs on the machine make an operation slower, never faster. So the operations that look expensive are measured again,
// and their least time counts.
func (db *pricedDB) measureProcessor(t *testing.T, operations []priced) {
	t.Helper()
	const (
		most   = 500 // operations
		rounds = 5
	)
	client := db.server.Client()
	idle := serverTime(t, client)
	idle = serverTime(t, client) - idle // what asking takes
	var all []timed
	for _, one := range operations[:min(most, len(operations))] {
		all = append(all, db.measure(t, one, idle))
	}
	slices.SortFunc(all, func(a, b timed) int { return cmp.Compare(a.perPoint(), b.perPoint()) })
	median := all[len(all)/2].perPoint()
	for i := range all {
		for n := 1; n < rounds && all[i].perPoint() > maxSpread*median/2; n++ {
			if again := db.measure(t, all[i].priced, idle); again.perPoint() < all[i].perPoint() {
				all[i] = again
			}
		}
	}
	requireEven(t, "processor time in microseconds", all, timed.perPoint)
}

// measure runs an operation until it has cost enough to be measured, several at once: an idle scheduler looks for work,
// which takes longer than a small operation. Asking Redis for its time takes the idle time.
func (db *pricedDB) measure(t *testing.T, one priced, idle time.Duration) timed {
	t.Helper()
	const (
		enough = 2_000 // points, about 10 ms
		atOnce = 8
	)
	client := db.server.Client()
	times := min(enough/one.charged()/atOnce+1, 100)
	service, server := serviceTime(t), serverTime(t, client)
	var running sync.WaitGroup
	for range atOnce {
		running.Go(func() {
			for range times {
				_, _, _ = db.run(t, one.params)
			}
		})
	}
	running.Wait()
	n := time.Duration(atOnce * times)
	return timed{one, (serviceTime(t) - service) / n, max(serverTime(t, client)-server-idle, 0) / n}
}

// serviceTime returns the processor time of this process.
func serviceTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// serverTime returns the processor time of a Redis.
func serverTime(t *testing.T, client *redis.Client) time.Duration {
	t.Helper()
	info, err := client.Info(t.Context(), "cpu").Result()
	if err != nil {
		t.Fatal(err)
	}
	var total time.Duration
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name != "used_cpu_sys" && name != "used_cpu_user" {
			continue
		}
		seconds, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		total += time.Duration(seconds * float64(time.Second))
	}
	return total
}
