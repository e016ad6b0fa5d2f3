package loaders

import (
	"context"
	"runtime/debug"
	"sync"
)

// results are the results of reads by their keys.
type results struct {
	mu    sync.Mutex
	byKey map[any]*result
}

type result struct {
	done  chan struct{} // closed after the read
	value any
	err   error
}

// Once returns the result of a read with a key. Within one response, reads with equal keys are made once, also if they run
// side by side; the others wait. The key has to be comparable, and has to name the read and all that its result depends on.
func Once[V any](ctx context.Context, key any, read func() (V, error)) (V, error) {
	all := &From(ctx).results
	all.mu.Lock()
	found := all.byKey[key]
	if found != nil {
		all.mu.Unlock()
		<-found.done
	} else {
		found = &result{done: make(chan struct{}), err: errExited}
		if all.byKey == nil {
			all.byKey = map[any]*result{}
		}
		all.byKey[key] = found
		all.mu.Unlock()
		found.run(func() (any, error) { return read() })
	}
	value, _ := found.value.(V)
	return value, found.err
}

func (r *result) run(read func() (any, error)) {
	defer close(r.done)
	defer func() {
		if v := recover(); v != nil {
			r.err = &PanicError{Value: v, Stack: string(debug.Stack())}
		}
	}()
	r.value, r.err = read()
}
