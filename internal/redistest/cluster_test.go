package redistest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"retwis/internal/redistest"
)

func TestSharedCluster_IsEmptyOnEachUse(t *testing.T) {
	t.Parallel()
	for i := range 3 {
		t.Run(fmt.Sprint("use ", i), func(t *testing.T) {
			t.Parallel()
			client := redistest.SharedCluster(t).Client()
			if got := load(t, client, "return 1"); got {
				t.Error("a script of an earlier use is loaded")
			}
			for key := range 20 {
				wantValue(t, client, fmt.Sprint(key), "")
				set(t, client, fmt.Sprint(key), "v")
			}
		})
	}
}

// load loads a script on all masters and reports whether it was loaded before.
func load(t *testing.T, client *redis.ClusterClient, script string) bool {
	t.Helper()
	sha := redis.NewScript(script).Hash()
	loaded, err := client.ScriptExists(t.Context(), sha).Result()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.ScriptLoad(t.Context(), script).Err(); err != nil {
		t.Fatal(err)
	}
	return loaded[0]
}

func TestSharedCluster_IsReplacedAfterFault(t *testing.T) {
	t.Parallel()
	var damaged string
	t.Run("damage", func(t *testing.T) {
		g := redistest.SharedCluster(t)
		damaged = g.URL()
		g.Nodes()[0].Kill()
	})
	t.Run("next use", func(t *testing.T) {
		g := redistest.SharedCluster(t)
		if g.URL() == damaged {
			t.Error("the damaged cluster is used again")
		}
		g.AwaitHealthy()
	})
}

func TestClusterURL_ListsAllNodes(t *testing.T) {
	t.Parallel()
	g := redistest.SharedCluster(t)
	urls := strings.Split(g.URL(), ",")
	if len(urls) != 3 || len(g.Nodes()) != 3 {
		t.Fatalf("URL() = %q", g.URL())
	}
	for _, u := range urls {
		if _, err := redis.ParseURL(u); err != nil {
			t.Error(err)
		}
	}
}

func TestCluster_FailsOver(t *testing.T) {
	t.Parallel()
	g := redistest.Cluster(t, redistest.ClusterOptions{Masters: 3, Replicas: 1})
	client := g.Client()
	set(t, client, "k", "v")
	slot := g.Slot("k")
	if n, err := g.Master(slot).Client().Wait(t.Context(), 1, 0).Result(); err != nil || n != 1 {
		t.Fatalf("WAIT 1 = %d, %v", n, err)
	}

	old := g.KillMaster(slot)
	g.AwaitAvailable()
	if g.Master(slot) == old {
		t.Error("the dead node still owns the slot")
	}
	old.Start()
	g.AwaitHealthy()
	if g.Master(slot) == old {
		t.Error("the old master owns the slot again")
	}
	client.ReloadState(t.Context())
	wantValue(t, client, "k", "v")

	// A paused master is replaced too, and returns as a replica.
	paused := g.Master(slot)
	paused.Pause()
	g.AwaitAvailable()
	if g.Master(slot) != old {
		t.Error("the replica did not take over")
	}
	paused.Resume()
	g.AwaitHealthy()
}

func TestMoveSlot_DuringWrites(t *testing.T) {
	t.Parallel()
	g := redistest.Cluster(t, redistest.ClusterOptions{})
	client := g.Client()
	const keys = 200
	key := func(i int) string { return fmt.Sprintf("{tag}:%d", i) }
	for i := range keys {
		set(t, client, key(i), "0")
	}
	slot := g.Slot("{tag}")
	from := g.Master(slot)
	to := g.Nodes()[0]
	if to == from {
		to = g.Nodes()[1]
	}

	// A client writes during the move.
	done := make(chan struct{})
	rounds := 0
	var writer errgroup.Group
	writer.Go(func() error {
		for {
			for i := range keys {
				if err := client.Incr(t.Context(), key(i)).Err(); err != nil {
					return fmt.Errorf("INCR %s: %w", key(i), err)
				}
			}
			rounds++
			select {
			case <-done:
				return nil
			default:
			}
		}
	})
	g.MoveSlot(slot, to)
	close(done)
	if err := writer.Wait(); err != nil {
		t.Error(err)
	}
	if g.Master(slot) != to {
		t.Errorf("slot %d did not move", slot)
	}
	for i := range keys {
		wantValue(t, client, key(i), fmt.Sprint(rounds))
	}
	if n, err := from.Client().DBSize(t.Context()).Result(); err != nil && !errors.Is(err, redis.Nil) || n != 0 {
		t.Errorf("the old master still holds %d keys, %v", n, err)
	}
}
