package rdb

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/fair"
)

const (
	pieceWork      = 500 // work of a pipeline, in pushes: about half a millisecond
	piecesInFlight = 2   // at each master: it has the next one when it has finished one
	tasksInFlight  = 1   // at each master

	taskWait  = 5 * time.Second        // for the tasks of others, of which a hundred may take half a second
	pieceWait = 250 * time.Millisecond // for the pieces of others; a master that leaves them waiting for longer does not answer
)

// newTurns returns a gate of what is in flight at each master.
func newTurns(inFlight int) *fair.Gate[*redis.Client] {
	return fair.NewGate[*redis.Client](math.MaxInt, inFlight)
}

// DoInPieces runs scripts of background work like [DB.DoAll], but in several short pipelines: a server executes a whole pipeline before it serves
// other connections. Pipelines of other calls wait for each other, too, but not for a master that does not answer. DoInPieces takes
// the work of each call, in pushes to a timeline. Calls with keys of one slot run in their order.
func (db *DB) DoInPieces(ctx context.Context, calls []Call, work []int) []*redis.Cmd {
	results := make([]*redis.Cmd, len(calls))
	workOf := func(call int) int { return work[call] }
	var running sync.WaitGroup
	for master, group := range db.byMaster(ctx, calls) {
		for _, lane := range lanes(calls, group, workOf) {
			running.Go(func() { db.doLane(ctx, master, calls, workOf, lane, results) })
		}
	}
	running.Wait()
	return results
}

// lanes divides a group of calls by their slots into as many lanes as may be in flight at a master. What fits in one piece is not divided.
func lanes(calls []Call, group []int, workOf func(call int) int) [][]int {
	if pieceLength(group, workOf, pieceWork) == len(group) {
		return [][]int{group}
	}
	lanes := make([][]int, piecesInFlight)
	ofSlot := map[int]int{}
	for _, i := range group {
		slot := SlotOfKey(calls[i].Keys[0])
		lane, ok := ofSlot[slot]
		if !ok {
			lane = len(ofSlot) % len(lanes)
			ofSlot[slot] = lane
		}
		lanes[lane] = append(lanes[lane], i)
	}
	return lanes
}

// doLane runs calls to one master in their order.
func (db *DB) doLane(ctx context.Context, master *redis.Client, calls []Call, workOf func(call int) int, lane []int, results []*redis.Cmd) {
	for len(lane) > 0 {
		piece := lane[:pieceLength(lane, workOf, pieceWork)]
		lane = lane[len(piece):]
		db.doPiece(ctx, master, calls, piece, results)
		if err := results[piece[0]].Err(); isOutage(err) {
			setResults(ctx, results, lane, err)
			return
		}
	}
}

func (db *DB) doPiece(ctx context.Context, master *redis.Client, calls []Call, piece []int, results []*redis.Cmd) {
	defer inTurn(ctx, db.pieces, master, pieceWait)()
	db.doGroup(ctx, calls, piece, results)
}

// inTurn waits for a while until one more may be in flight at a master. The returned function has to be called afterwards.
func inTurn(ctx context.Context, gate *fair.Gate[*redis.Client], master *redis.Client, most time.Duration) (done func()) {
	waiting, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if gate.Acquire(waiting, master, 1) != nil {
		return func() {}
	}
	return func() { gate.Release(master, 1) }
}

// TaskTurn waits until a task of background work that takes milliseconds may begin, which changes keys of a partition: one at a time at its
// master. Outboxes have more than a hundred such tasks at a time, and operations would wait behind all of them, for Redis and for a core. The
// returned function has to be called after the task.
func (db *DB) TaskTurn(ctx context.Context, p Partition) (done func()) {
	return inTurn(ctx, db.tasks, db.masterOf(ctx, p.Written()), taskWait)
}

// pieceLength returns how many elements are the next piece: one, or as many as have at most some work together.
func pieceLength[T any](rest []T, workOf func(T) int, atMost int) int {
	sum := 0
	for n, one := range rest {
		if sum += workOf(one); sum > atMost && n > 0 {
			return n
		}
	}
	return len(rest)
}

// setResults sets the results of calls that are not made.
func setResults(ctx context.Context, results []*redis.Cmd, group []int, err error) {
	for _, i := range group {
		results[i] = redis.NewCmd(ctx)
		results[i].SetErr(err)
	}
}
