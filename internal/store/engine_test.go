package store_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"retwis/internal/enginetest"
	"retwis/internal/store"
)

// engine adds the readers and expectations of this package to the shared one.
type engine struct{ *enginetest.Engine }

func newEngine(t *testing.T, options store.Options) *engine {
	t.Helper()
	return &engine{enginetest.New(t, options)}
}

// commandStat returns a number that Redis keeps for a command, such as its calls or the usec that they took.
func commandStat(t *testing.T, client redis.UniversalClient, command, field string) int {
	t.Helper()
	_, stats, _ := strings.Cut(client.Info(t.Context(), "commandstats").Val(), "cmdstat_"+command+":")
	stats, _, _ = strings.Cut(stats, "\n")
	_, number, _ := strings.Cut(stats, field+"=")
	number, _, _ = strings.Cut(number, ",")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatalf("read %s of %s: %v", field, command, err)
	}
	return n
}

// scriptTime returns how many microseconds Redis spends on scripts while do runs.
func scriptTime(t *testing.T, client redis.UniversalClient, do func()) int {
	t.Helper()
	before := commandStat(t, client, "evalsha", "usec")
	do()
	return commandStat(t, client, "evalsha", "usec") - before
}
