package rdb

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// redirected is a hook of clients of a cluster. The driver repeats all commands of a pipeline if the first one fails with a
// transient error such as TRYAGAIN. While slots move, it has already planned to send some of them to other nodes. It would then
// send these twice at the same time, and two goroutines would write the same reply. With the hook, it sends only the redirected commands
// again.
type redirected struct{}

// DialHook implements [redis.Hook].
func (redirected) DialHook(next redis.DialHook) redis.DialHook {
	return next
}

// ProcessHook implements [redis.Hook].
func (redirected) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// ProcessPipelineHook implements [redis.Hook].
func (redirected) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if cmds[0].Name() == "multi" { // the driver handles a transaction as a whole
			return next(ctx, cmds)
		}
		once := make([]redis.Cmder, len(cmds))
		for i, cmd := range cmds {
			once[i] = redirectable{cmd}
		}
		return next(ctx, once)
	}
}

// redirectable is a command of a pipeline on a cluster.
type redirectable struct{ redis.Cmder }

// NoRetry reports whether the driver sends the command to another node. If so, it does not repeat the pipeline.
func (c redirectable) NoRetry() bool {
	return redis.HasErrorPrefix(c.Err(), "MOVED") || redis.HasErrorPrefix(c.Err(), "ASK")
}
