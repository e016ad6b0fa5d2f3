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
	Work   int // in pushes to a timeline, for [DB.DoInPieces]
}

// keys returns the keys that Redis sees: those of the call, and one that never exists. Because of the latter, a cluster
// refuses the script with TRYAGAIN while it moves the slot to another master. Otherwise it would run the script and stop it
// halfway, at the first key that has moved or does not exist yet; or the new master would run it without the keys that
// have not moved. The script does not see the key: see [script.Load].
func (c Call) keys() []string {
	return append(slices.Clip(c.Keys), absentKey(c.Keys[0]))
}

// program returns the script of a call. Every name is a constant, and a test loads each of them.
func (db *DB) program(c Call) *redis.Script { return db.scripts[c.Script] }

// Do runs one script, with the companion of the context if it has one.
func (db *DB) Do(ctx context.Context, c Call) *redis.Cmd {
	if companion := db.claimCompanion(ctx, &c); companion != nil {
		return db.doWith(ctx, companion, []Call{c})[0]
	}
	return db.program(c).Run(ctx, db.Client, c.keys(), c.Args...)
}

// DoAll runs scripts in one concurrent pipeline per master, with the companion of the context if it has one. Each result holds its own error. The driver's
// own pipeline over several masters is not used: if one master does not answer before the deadline, it
// fails all commands, also those that other masters have answered.
func (db *DB) DoAll(ctx context.Context, calls []Call) []*redis.Cmd {
	if len(calls) == 0 {
		return nil
	}
	if companion := db.claimCompanion(ctx, nil); companion != nil {
		return db.doWith(ctx, companion, calls)
	}
	return db.doAll(ctx, calls)
}

// doWith runs scripts and a companion, which runs first.
func (db *DB) doWith(ctx context.Context, companion *Companion, calls []Call) []*redis.Cmd {
	results := db.doAll(ctx, append([]Call{companion.call}, calls...))
	companion.cmd.Store(results[0])
	return results[1:]
}

func (db *DB) doAll(ctx context.Context, calls []Call) []*redis.Cmd {
	results := make([]*redis.Cmd, len(calls))
	groups := slices.Collect(maps.Values(db.byMaster(ctx, calls)))
	var others sync.WaitGroup
	for _, group := range groups[1:] {
		others.Go(func() {
			ctx, _ := roundtrip.WithCounter(ctx) // the pipelines count as one round trip
			db.doGroup(ctx, calls, group, results)
		})
	}
	db.doGroup(ctx, calls, groups[0], results)
	others.Wait()
	return results
}

// byMaster returns the indexes of calls, grouped by the master that holds their keys, which is nil for a single server.
func (db *DB) byMaster(ctx context.Context, calls []Call) map[*redis.Client][]int {
	groups := map[*redis.Client][]int{}
	for i, c := range calls {
		master := db.masterOf(ctx, c.Keys[0])
		groups[master] = append(groups[master], i)
	}
	return groups
}

// masterOf returns the master that holds a key, which is nil for a single server. It is nil, too, if there is none: a call to it returns
// the error.
func (db *DB) masterOf(ctx context.Context, key string) *redis.Client {
	cluster, ok := db.Client.(*redis.ClusterClient)
	if !ok {
		return nil
	}
	master, _ := cluster.MasterForKey(ctx, key)
	return master
}

// doGroup runs a group of scripts in one pipeline. It sends the text of a script to a server that has not
// loaded it, such as a new master.
func (db *DB) doGroup(ctx context.Context, calls []Call, group []int, results []*redis.Cmd) {
	pipe := db.Client.Pipeline()
	for _, i := range group {
		results[i] = db.program(calls[i]).EvalSha(ctx, pipe, calls[i].keys(), calls[i].Args...)
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	for _, i := range group {
		if redis.HasErrorPrefix(results[i].Err(), "NOSCRIPT") {
			results[i] = db.program(calls[i]).Eval(ctx, pipe, calls[i].keys(), calls[i].Args...)
		}
	}
	if pipe.Len() > 0 {
		_, _ = pipe.Exec(ctx)
	}
}
