package logsample

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// output is a log that a test reads while timers write.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func TestHandler_SuppressesRepeatsAndCountsThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out output
		log := slog.New(New(slog.NewTextHandler(&out, nil))).With("worker", "w")
		for range 250 {
			log.Error("it failed")
			log.Warn("it failed")
			log.Info("a request")
		}
		log.Error("something else failed")
		lines := func(text string) int { return strings.Count(out.String(), text) }
		for text, want := range map[string]int{
			`level=ERROR msg="it failed" worker=w`:             burst,
			`level=WARN msg="it failed" worker=w`:              burst,
			`level=INFO msg="a request" worker=w`:              250,
			`level=ERROR msg="something else failed" worker=w`: 1,
			"suppressed": 0,
		} {
			if got := lines(text); got != want {
				t.Errorf("%d lines contain %s, want %d", got, text, want)
			}
		}
		time.Sleep(interval)
		synctest.Wait()
		const summary = `msg="log: repeated messages suppressed" message="it failed" count=240 within=10s`
		for _, level := range []string{"level=ERROR ", "level=WARN "} {
			if got := lines(level + summary); got != 1 {
				t.Errorf("%d lines contain %s, want 1, in:\n%s", got, level+summary, out.String())
			}
		}
		log.Error("it failed")
		if got := lines(`level=ERROR msg="it failed" worker=w`); got != burst+1 {
			t.Errorf("after the interval, the message does not pass: %d lines", got)
		}
	})
}

func TestHandler_BoundsItsMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out output
		h := New(slog.NewTextHandler(&out, nil))
		log := slog.New(h)
		for i := range 2 * maxMessages {
			log.Warn(fmt.Sprint("message ", i))
		}
		if got := strings.Count(out.String(), "\n"); got != 2*maxMessages {
			t.Errorf("%d of %d different messages passed", got, 2*maxMessages)
		}
		s := h.(handler).sampler
		s.mu.Lock()
		if got := len(s.seen); got != maxMessages {
			t.Errorf("the handler counts %d messages", got)
		}
		s.mu.Unlock()
		time.Sleep(interval)
		synctest.Wait()
	})
}
