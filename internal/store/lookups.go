package store

import (
	"context"
	"slices"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// lookupChunk is how many posts a script looks up in one call.
const lookupChunk = 500

// lookUp reports for each post whether a set or hash of a user has it.
func (s *core) lookUp(ctx context.Context, with script.Name, key string, ids []retwis.PostID) ([]bool, error) {
	var calls []rdb.Call
	for chunk := range slices.Chunk(ids, lookupChunk) {
		calls = append(calls, rdb.Call{Script: with, Keys: []string{key}, Args: textArgs(chunk)})
	}
	var found []bool
	for _, result := range s.db.DoAll(ctx, calls) {
		reply, err := result.Slice()
		if err != nil {
			return nil, err
		}
		values, _ := reply[0].([]any)
		for _, value := range values {
			found = append(found, value != nil)
		}
	}
	return found, nil
}
