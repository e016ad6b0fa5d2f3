package rdb

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/fair"
)

const (
	pieceWork      = 500                        // work of a pipeline, in pushes: about a millisecond
	piecesInFlight = 2                          // of that work, at each master: it has the next one when it has finished one
	workInFlight   = piecesInFlight * pieceWork // at each master

	shortPieceWork  = 160                   // in flight beside operations, at least
	piecesShare     = 2                     // beside operations, what is in flight takes at most one in so many parts of the time of an exchange
	operationsFresh = 20 * time.Millisecond // for as long after the last exchange of an operation, the next one is near

	timeOfPush      = 3 * time.Microsecond   // what a push of a short pipeline takes, its way included
	restAfterSearch = 100 * time.Microsecond // of the reposts of a network, for each list that was searched and each process that delivers

	shortestRest = time.Millisecond
	longestRest  = 50 * time.Millisecond // beside very many processes

	pieceWait = 250 * time.Millisecond // for the pieces of others; a master that leaves them waiting for longer does not answer
)

// newPieceTurns returns a gate of the work of pieces that are in flight at each master.
func newPieceTurns() *fair.Gate[*redis.Client] {
	return fair.NewGate[*redis.Client](math.MaxInt, workInFlight)
}

// DoInPieces runs scripts of background work like [DB.DoAll], but in several short pipelines: a server executes a whole pipeline before it serves
// other connections. Pipelines of other calls wait for each other, too, but not for a master that does not answer. Each call
// has its work. Calls with keys of one slot run in their order. Beside operations the pipelines have less work at once,
// see [DB.WorkAtOnce]: each operation has several exchanges, which all wait for those before them. If other processes deliver, too, none is in flight
// for a while.
func (db *DB) DoInPieces(ctx context.Context, calls []Call) []*redis.Cmd {
	b := &pieceByPiece{db: db, calls: calls, results: make([]*redis.Cmd, len(calls))}
	var running sync.WaitGroup
	for master, group := range db.byMaster(ctx, calls) {
		for _, lane := range b.lanes(group) {
			running.Go(func() { b.doLane(ctx, master, lane) })
		}
	}
	running.Wait()
	return b.results
}

// pieceByPiece is one call of [DB.DoInPieces]. Groups, lanes and pieces are indexes of its calls.
type pieceByPiece struct {
	db      *DB
	calls   []Call
	results []*redis.Cmd
}

func (b *pieceByPiece) workOf(call int) int { return b.calls[call].Work }

// lanes divides a group of calls by their slots into as many lanes as may be in flight at a master. What fits in one piece is not divided.
func (b *pieceByPiece) lanes(group []int) [][]int {
	if pieceLength(group, b.workOf, pieceWork) == len(group) {
		return [][]int{group}
	}
	lanes := make([][]int, piecesInFlight)
	ofSlot := map[int]int{}
	for _, i := range group {
		slot := SlotOfKey(b.calls[i].Keys[0])
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
func (b *pieceByPiece) doLane(ctx context.Context, master *redis.Client, lane []int) {
	for len(lane) > 0 {
		atOnce := b.db.WorkAtOnce()
		piece := lane[:pieceLength(lane, b.workOf, min(atOnce, pieceWork))]
		lane = lane[len(piece):]
		b.doPiece(ctx, master, piece, atOnce)
		if err := b.results[piece[0]].Err(); isOutage(err) {
			setResults(ctx, b.results, lane, err)
			return
		}
	}
}

// doPiece runs a piece when it may be in flight, with others up to as much work as may be at once.
func (b *pieceByPiece) doPiece(ctx context.Context, master *redis.Client, piece []int, atOnce int) {
	work := 0
	for _, call := range piece {
		work += b.workOf(call)
	}
	share := max(work*workInFlight/atOnce, 1)
	waiting, cancel := context.WithTimeout(ctx, pieceWait)
	defer cancel()
	counts := b.db.pieces.Acquire(waiting, master, share) == nil
	sent := time.Now()
	b.db.doGroup(ctx, b.calls, piece, b.results)
	took := time.Since(sent)
	if b.results[piece[0]].Err() == nil {
		b.db.pace.note(took)
	}
	if counts {
		b.db.endPiece(master, min(share, workInFlight), work, took)
	}
}

// WorkAtOnce returns how much work of deliveries may be in flight at a master, in pushes. Beside operations, it takes Redis no more than half of the time of
// an exchange: the exchanges of operations wait for it, too. Where these are slow, because Redis waits for a disk or a core, or the network does, little work in
// each would let deliveries fall behind. They may also be slow because of the deliveries. If most of these were caused by one network, and others have
// operations, the shorter exchanges count.
func (db *DB) WorkAtOnce() int {
	if !db.BesideOperations() {
		return workInFlight
	}
	took := &db.pace.usual
	if db.crowded.Load() && db.severalNetworks() {
		took = &db.pace.shorter
	}
	return min(max(int(time.Duration(took.Load())/(piecesShare*timeOfPush)), shortPieceWork), workInFlight)
}

// RestAfterSearches returns for how long the reposts of a network have to rest after some lists were searched for what they repeat. A search takes Redis
// as long as several pushes. So that of the posts of one network, all processes together search 10 000 lists a second at each master beside operations of others.
func (db *DB) RestAfterSearches(lists int) time.Duration {
	if lists == 0 || !db.BesideOperations() || !db.severalNetworks() {
		return 0
	}
	return time.Duration(lists*(1+int(db.processes.deliver.Load()))) * restAfterSearch
}

// severalNetworks reports whether several networks have operations.
func (db *DB) severalNetworks() bool { return db.processes.several.within(severalFor) }

// SetCrowded notes whether one network caused most of many deliveries that wait.
func (db *DB) SetCrowded(crowded bool) { db.crowded.Store(crowded) }

// slowestPace is the time of an exchange from which on deliveries are not held back.
const slowestPace = piecesShare * workInFlight * timeOfPush

// pace is how long exchanges of deliveries took lately, in nanoseconds. Its zero value is ready.
type pace struct {
	usual   atomic.Int64 // a moving average
	shorter atomic.Int64 // the same of the shorter ones: longer ones count little
}

// note notes the time of an exchange. One that took very long, because a server or process was stopped, counts little.
func (p *pace) note(took time.Duration) {
	const part, littlePart = 8, 128
	took = min(took, 2*slowestPace)
	usual, shorter := p.usual.Load(), p.shorter.Load() // concurrent exchanges may overwrite each other
	p.usual.Store(usual + (int64(took)-usual)/part)
	if longer := int64(took) - shorter; longer > 0 {
		p.shorter.Store(shorter + longer/littlePart)
	} else {
		p.shorter.Store(shorter + longer/part)
	}
}

// endPiece lets the next piece of a master begin. Beside operations, that is after a rest for the pieces of other processes: together they have about
// as many pieces in flight as one of them.
func (db *DB) endPiece(master *redis.Client, share, work int, took time.Duration) {
	var rest time.Duration
	if others := db.processes.deliver.Load(); others > 0 && db.BesideOperations() {
		rest = db.rests.due(time.Duration(others*int64(min(work, pieceWork))) * timeOfPush)
	}
	db.processes.delivering.Add(int64(took+rest) * int64(share) / workInFlight)
	if rest == 0 {
		db.pieces.Release(master, share)
		return
	}
	start := time.Now()
	time.AfterFunc(rest, func() {
		db.rests.taken(rest, time.Since(start))
		db.pieces.Release(master, share)
	})
}

// rests are those after pieces. Short ones are taken together, because a timer takes a millisecond.
type rests struct{ owed atomic.Int64 } // nanoseconds

// due returns for how long to rest now. Call taken after the rest.
func (r *rests) due(more time.Duration) time.Duration {
	if time.Duration(r.owed.Add(int64(more))) < shortestRest {
		return 0
	}
	return max(min(time.Duration(r.owed.Swap(0)), longestRest), 0) // another piece may have taken it
}

// taken notes for how long a rest lasted. What it was too long counts for the next ones.
func (r *rests) taken(rest, lasted time.Duration) { r.owed.Add(-int64(min(lasted-rest, shortestRest))) }

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
