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
	pieceWait      = 250 * time.Millisecond
)

// newPieces returns the gate of the pieces in flight at each master.
func newPieces() *fair.Gate[*redis.Client] {
	return fair.NewGate[*redis.Client](math.MaxInt, piecesInFlight)
}

// DoInPieces runs scripts of background work like [DB.DoAll], but in several short pipelines: a server executes a whole pipeline before it serves
// other connections. Pipelines of other calls wait for each other, too, but not for a master that does not answer. DoInPieces takes
// the work of each call, in pushes to a timeline. The order of the calls is not defined.
func (db *DB) DoInPieces(ctx context.Context, calls []Call, work []int) []*redis.Cmd {
	results := make([]*redis.Cmd, len(calls))
	var running sync.WaitGroup
	for master, group := range db.byMaster(ctx, calls) {
		left := &pieces{rest: group, work: work}
		for range piecesInFlight {
			running.Go(func() {
				for {
					piece, outage := left.next()
					switch {
					case len(piece) == 0:
						return
					case outage != nil:
						setResults(ctx, results, piece, outage)
					default:
						db.doPiece(ctx, master, calls, piece, results)
						left.stopAfter(results[piece[0]].Err())
					}
				}
			})
		}
	}
	running.Wait()
	return results
}

func (db *DB) doPiece(ctx context.Context, master *redis.Client, calls []Call, piece []int, results []*redis.Cmd) {
	waiting, cancel := context.WithTimeout(ctx, pieceWait)
	defer cancel()
	if db.pieces.Acquire(waiting, master, 1) == nil {
		defer db.pieces.Release(master, 1)
	}
	db.doGroup(ctx, calls, piece, results)
}

// pieces divides the calls to a master.
type pieces struct {
	work []int // of all calls

	mu     sync.Mutex
	rest   []int // indexes of the calls that are not made yet
	outage error // set: they fail with it, and are not made
}

// next removes a piece: one call, or some with at most pieceWork. It returns none after the last one, and an error if they are
// not to be made.
func (p *pieces) next() (piece []int, outage error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for sum := 0; n < len(p.rest); n++ {
		if sum += p.work[p.rest[n]]; sum > pieceWork && n > 0 {
			break
		}
	}
	piece, p.rest = p.rest[:n], p.rest[n:]
	return piece, p.outage
}

// stopAfter ends the pieces if the error of one is an outage.
func (p *pieces) stopAfter(err error) {
	if isOutage(err) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.outage = err
	}
}

// setResults sets the results of calls that are not made.
func setResults(ctx context.Context, results []*redis.Cmd, group []int, err error) {
	for _, i := range group {
		results[i] = redis.NewCmd(ctx)
		results[i].SetErr(err)
	}
}
