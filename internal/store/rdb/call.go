package rdb

import (
	"context"
	"maps"
	"slices"
	"sync"

	"retwis/internal/roundtrip"

	"github.com/redis/go-redis/v9"

	"retwis/internal/store/script"
)

// Call is one script with its keys, all of one slot, and its arguments.
type Call struct {
	Script script.Name
	Keys   []string
	Args   []any
}

// program returns the script of a call. Names are constants and a test loads each, so it is there.
func (db *DB) program(c Call) *redis.Script { return db.scripts[c.Script] }

// Do runs one script.
func (db *DB) Do(ctx context.Context, c Call) *redis.Cmd {
	return db.program(c).Run(ctx, db.Client, c.Keys, c.Args...)
}

// DoAll runs scripts, in one concurrent pipeline for each master: in a pipeline over several masters, one
// that does not answer until the deadline makes the driver fail all commands, also those that others have
// answered. Each result has its own error.
func (db *DB) DoAll(ctx context.Context, calls []Call) []*redis.Cmd {
	results := make([]*redis.Cmd, len(calls))
	if len(calls) == 0 {
		return results
	}
	groups := db.byMaster(ctx, calls)
	var others sync.WaitGroup
	for _, group := range groups[1:] {
		others.Go(func() {
			ctx, _ := roundtrip.WithCounter(ctx) // all of them are one exchange
			db.doGroup(ctx, calls, group, results)
		})
	}
	db.doGroup(ctx, calls, groups[0], results)
	others.Wait()
	return results
}

// byMaster returns the indexes of calls, grouped by the master that has their keys.
func (db *DB) byMaster(ctx context.Context, calls []Call) [][]int {
	cluster, ok := db.Client.(*redis.ClusterClient)
	if !ok {
		all := make([]int, len(calls))
		for i := range all {
			all[i] = i
		}
		return [][]int{all}
	}
	groups := map[*redis.Client][]int{}
	for i, c := range calls {
		master, _ := cluster.MasterForKey(ctx, c.Keys[0]) // if none is known, the call's error says why
		groups[master] = append(groups[master], i)
	}
	return slices.Collect(maps.Values(groups))
}

// doGroup runs some of the scripts in one pipeline. A server that does not know a script, such as a new
// master, is sent its text.
func (db *DB) doGroup(ctx context.Context, calls []Call, group []int, results []*redis.Cmd) {
	pipe := db.Client.Pipeline()
	for _, i := range group {
		results[i] = db.program(calls[i]).EvalSha(ctx, pipe, calls[i].Keys, calls[i].Args...)
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	for _, i := range group {
		if redis.HasErrorPrefix(results[i].Err(), "NOSCRIPT") {
			results[i] = db.program(calls[i]).Eval(ctx, pipe, calls[i].Keys, calls[i].Args...)
		}
	}
	if pipe.Len() > 0 {
		_, _ = pipe.Exec(ctx)
	}
}
