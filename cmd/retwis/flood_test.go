package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"retwis/internal/programtest"
	"retwis/internal/redistest"
)

// TestRegistration_BoundsMemoryUnderFlood registers many users at once. Few passwords are hashed at a time: each
// request is answered, memory is bounded, and other clients can read.
func TestRegistration_BoundsMemoryUnderFlood(t *testing.T) {
	t.Parallel()
	many, atOnce := redistest.Size(40, 10_000), redistest.Size(40, 100)
	p := serve(t, environment("RETWIS_REDIS_URL="+redistest.Server(t).URL()))
	reader := register(t, p.url, "reader")
	before := p.peakMemory()
	const document = `mutation ($name: String!) {
		register(input: {username: $name, password: "correct horse"}) { token userErrors { code message } } }`
	var mu sync.Mutex
	made, busy := 0, 0
	names := make(chan int)
	var group sync.WaitGroup
	for range atOnce {
		c := newClient(t, p.url)
		group.Go(func() {
			for name := range names {
				unknown := false // whether an earlier attempt may have registered the user
				for {
					_, a := c.post(document, map[string]any{"name": fmt.Sprint("flood", name)})
					retry := len(a.Errors) == 1 && slices.Contains([]string{"RATE_LIMITED", "UNAVAILABLE"}, a.Errors[0].Extensions.Code)
					unknown = unknown || retry && a.Errors[0].Extensions.Code == "UNAVAILABLE"
					failures := a.Data.Register.UserErrors
					mu.Lock()
					switch {
					case retry:
						busy++
					case a.Data.Register.Token != "", unknown && len(failures) == 1 && failures[0].Code == "TAKEN":
						made++
					default:
						t.Errorf("registration %d: errors %v %v", name, a.Errors, failures)
					}
					mu.Unlock()
					if !retry {
						break
					}
					time.Sleep(time.Second) // as Retry-After asks
				}
			}
		})
	}
	for i := range many {
		names <- i
		if i%10 == 0 {
			if a := reader.do(`{ viewer { user { username } } }`, nil); a.Data.Viewer == nil {
				t.Error("reads fail meanwhile")
			}
		}
	}
	close(names)
	group.Wait()
	t.Logf("%d users registered; %d requests were told to retry; peak memory %d MB, before %d MB", made, busy, p.peakMemory()>>20, before>>20)
	if made != many {
		t.Errorf("%d of %d registered", made, many)
	}
	// A hash takes 19 MB. Forty at once would take 760 MB more than one, and several times as much with the
	// race detector.
	most := 640 << 20
	if programtest.RaceDetector {
		most *= 2
	}
	if more := p.peakMemory() - before; more > most {
		t.Errorf("peak memory grew by %d MB", more>>20)
	}
	p.stop()
}

// peakMemory returns the peak resident memory of the process in bytes, or 0 if the system does not report it.
func (p *process) peakMemory() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmHWM:" {
			kilobytes, _ := strconv.Atoi(fields[1])
			return kilobytes << 10
		}
	}
	return 0
}

// TestSubscriptions_AreLimitedPerUser opens more subscriptions than a websocket and a user may have.
func TestSubscriptions_AreLimitedPerUser(t *testing.T) {
	t.Parallel()
	p := serve(t, environment("RETWIS_REDIS_URL="+redistest.Server(t).URL(), "RETWIS_RATE_LIMITS=on"))
	reader := register(t, p.url, "reader")
	opened, refused := 0, 0
	for range 11 {
		var made struct {
			Data struct {
				CreateList struct {
					List struct{ Timeline struct{ ID string } }
				}
			}
		}
		reader.decode(&made, `mutation { createList(input: {name: "watched"}) { list { timeline { id } } } }`, nil)
		s := reader.open()
		for i := range 101 {
			s.send(map[string]any{"type": "subscribe", "id": fmt.Sprint(i), "payload": map[string]any{
				"query":     `subscription($t: ID) { timelineEvents(timelineId: $t) { __typename } }`,
				"variables": map[string]any{"t": made.Data.CreateList.List.Timeline.ID},
			}})
		}
		for range 101 {
			switch m := s.read(); {
			case m.Type == "next":
				opened++
			case m.Type == "error" && strings.Contains(string(m.Payload), "RATE_LIMITED") && len(m.Payload) < 4<<10:
				refused++
			default:
				t.Fatalf("got %s %s", m.Type, m.Payload)
			}
		}
	}
	if opened != 1000 || refused != 111 { // a socket has 100
		t.Errorf("%d subscriptions opened and %d refused", opened, refused)
	}
	reader.createPost("still alive")
	p.stop()
}
