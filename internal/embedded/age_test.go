package embedded

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
)

func TestAge_ExpiresKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := miniredis.NewMiniRedis()
		if err := m.Set("k", "v"); err != nil {
			t.Fatal(err)
		}
		m.SetTTL("k", time.Minute)

		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go age(ctx, m)
		time.Sleep(59*time.Second + time.Millisecond)
		synctest.Wait()
		if !m.Exists("k") {
			t.Error("the key has expired too early")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if m.Exists("k") {
			t.Error("the key has not expired")
		}
	})
}
