package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// lookupChunk is how many members a script looks up in one call.
const lookupChunk = 500

// lookUpCalls returns calls that look up members in a set or hash, [lookupChunk] with each.
func lookUpCalls[T fmt.Stringer](with script.Name, key string, members []T) []rdb.Call {
	var calls []rdb.Call
	for chunk := range slices.Chunk(members, lookupChunk) {
		calls = append(calls, rdb.Call{Script: with, Keys: []string{key}, Args: textArgs(chunk)})
	}
	return calls
}

// lookedUp returns the scores or values that a call has found, nil for members that are missing.
func lookedUp(result *redis.Cmd) ([]any, error) {
	reply, err := result.Slice()
	if err != nil {
		return nil, err
	}
	values, _ := reply[0].([]any)
	return values, nil
}

// lookUp reports for each post whether a set or hash of a user has it.
func (s *core) lookUp(ctx context.Context, with script.Name, key string, ids []retwis.PostID) ([]bool, error) {
	var found []bool
	for _, result := range s.db.DoAll(ctx, lookUpCalls(with, key, ids)) {
		values, err := lookedUp(result)
		if err != nil {
			return nil, err
		}
		for _, value := range values {
			found = append(found, value != nil)
		}
	}
	return found, nil
}
