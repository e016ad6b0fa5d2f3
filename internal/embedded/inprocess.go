package embedded

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"time"

	"github.com/alicebob/miniredis/v2"
)

func startInProcess() (*Instance, error) {
	m := miniredis.NewMiniRedis()
	// All users of the machine can connect to its port, so it requires a password.
	password := rand.Text()
	m.RequireAuth(password)
	if err := m.Start(); err != nil {
		return nil, fmt.Errorf("start an in-process Redis: %w", err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		age(ctx, m)
	}()
	return &Instance{
		url:       (&url.URL{Scheme: "redis", User: url.UserPassword("default", password), Host: m.Addr(), Path: "/0"}).String(),
		inProcess: true,
		done:      make(chan struct{}),
		close: func(context.Context) error {
			cancel()
			<-stopped
			m.Close()
			return nil
		},
	}, nil
}

// age advances the clock of an in-process Redis until ctx is done, so that keys expire. The
// option of miniredis to read the system clock makes every command visit all keys.
func age(ctx context.Context, m *miniredis.Miniredis) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := time.Now()
			m.FastForward(now.Sub(last))
			last = now
		}
	}
}
