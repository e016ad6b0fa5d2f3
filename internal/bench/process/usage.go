package process

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Usage is what a process has used and done since its start.
type Usage struct {
	CPU        time.Duration // user and system time
	Memory     int64         // resident, in bytes
	Stacks     int64         // of goroutines, in bytes
	Goroutines int
	Clients    int   // of a server of subscriptions
	Executions int64 // of GraphQL operations for events
}

// OwnUsage returns the usage of this process.
func OwnUsage() (Usage, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return Usage{}, fmt.Errorf("read the CPU time: %w", err)
	}
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return Usage{}, fmt.Errorf("read the memory: %w", err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(statm))[1], 10, 64)
	if err != nil {
		return Usage{}, fmt.Errorf("read the memory: %w", err)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return Usage{
		CPU:        time.Duration(r.Utime.Nano() + r.Stime.Nano()),
		Memory:     pages * int64(os.Getpagesize()),
		Stacks:     int64(memory.StackInuse),
		Goroutines: runtime.NumGoroutine(),
	}, nil
}

// Sum adds up the usage of several processes.
func Sum(all []Usage) (sum Usage) {
	for _, u := range all {
		sum.CPU += u.CPU
		sum.Memory += u.Memory
		sum.Stacks += u.Stacks
		sum.Goroutines += u.Goroutines
		sum.Clients += u.Clients
		sum.Executions += u.Executions
	}
	return sum
}
