// Package loaders batches the reads of one response.
//
// A [Loader] knows keys in three ways. Keys of one page are known before anybody asks for them: [Loader.Expect] makes
// them one batch, read when the first of them is asked for. Keys that an executor meets one by one before it runs
// resolvers are added to a batch with [Loader.Announce]. Neither needs a timer or a goroutine. All other keys are
// collected for a short time, as the dataloader libraries do for all keys.
package loaders

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"retwis/internal/cost"
)

// Read reads the values of keys, in the order of the keys.
type Read[K comparable, V any] func(context.Context, []K) ([]V, error)

// Options bound the batches of a loader.
type Options struct {
	Wait         time.Duration // collection time for all other keys
	MaxCollected int           // keys in one such batch
	MaxAnnounced int           // keys in one announced batch
}

// Loader reads values in batches and remembers them, failures included. It is safe for use by several goroutines.
type Loader[K comparable, V any] struct {
	read    Read[K, V]
	options Options

	mu         sync.Mutex
	batches    []*batch[K, V]
	announced  *batch[K, V]     // takes more announced keys until it is read; may be nil
	collecting *batch[K, V]     // takes more unforeseen keys until it is read; may be nil
	count      int              // of the keys of all batches
	index      map[K]slot[K, V] // nil while there are few keys
}

// batch is the one read of several keys.
type batch[K comparable, V any] struct {
	keys    []K
	started bool          // guarded by the loader's mutex
	done    chan struct{} // closed after the read; nil if the values were primed

	values []V
	err    error
}

// wait waits until a batch is read. An operation that has to wait ends its turn.
func (b *batch[K, V]) wait(ctx context.Context) {
	select {
	case <-b.done:
	default:
		cost.EndTurn(ctx)
		<-b.done
	}
}

// slot is where the value of a key is, or will be.
type slot[K comparable, V any] struct {
	batch *batch[K, V]
	i     int
}

// maxUnindexed is the number of keys up to which a linear search is faster than a map.
const maxUnindexed = 64

// New returns a loader that has read nothing.
func New[K comparable, V any](options Options, read Read[K, V]) *Loader[K, V] {
	return &Loader[K, V]{read: read, options: options}
}

// Expect makes keys one batch, which is read when the first of them is asked for. The loader keeps the slice.
func (l *Loader[K, V]) Expect(keys []K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addLocked(&batch[K, V]{keys: keys})
}

// Announce adds a key to the batch of announced keys, which is read when the first of them is asked for.
func (l *Loader[K, V]) Announce(key K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.findLocked(key); ok {
		return
	}
	if l.announced == nil || len(l.announced.keys) == l.options.MaxAnnounced {
		l.announced = &batch[K, V]{}
		l.addLocked(l.announced)
	}
	l.extendLocked(l.announced, key)
}

// Prime stores values that were read elsewhere. The loader keeps both slices.
func (l *Loader[K, V]) Prime(keys []K, values []V) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addLocked(&batch[K, V]{keys: keys, values: values, started: true})
}

// Load returns the value of a key, reading its batch unless it was read already.
func (l *Loader[K, V]) Load(ctx context.Context, key K) (V, error) {
	return l.await(ctx, l.find(ctx, key))
}

// LoadThunk returns a function that waits for the value of a key. Keys that were neither expected nor announced are
// read in the background, so that several loaders can read concurrently.
func (l *Loader[K, V]) LoadThunk(ctx context.Context, key K) func() (V, error) {
	at := l.find(ctx, key)
	return func() (V, error) { return l.await(ctx, at) }
}

// find returns the slot of a key. An unforeseen key is added to the batch that is being collected.
func (l *Loader[K, V]) find(ctx context.Context, key K) slot[K, V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.findLocked(key); ok {
		return at
	}
	if l.collecting == nil || len(l.collecting.keys) == l.options.MaxCollected {
		l.collecting = &batch[K, V]{started: true, done: make(chan struct{})}
		l.addLocked(l.collecting)
		go l.collect(ctx, l.collecting)
	}
	return l.extendLocked(l.collecting, key)
}

// collect reads a batch of unforeseen keys after the wait.
func (l *Loader[K, V]) collect(ctx context.Context, b *batch[K, V]) {
	time.Sleep(l.options.Wait)
	l.mu.Lock()
	if l.collecting == b {
		l.collecting = nil // it takes no more keys
	}
	l.mu.Unlock()
	l.readBatch(ctx, b)
}

func (l *Loader[K, V]) addLocked(b *batch[K, V]) {
	l.batches = append(l.batches, b)
	l.count += len(b.keys)
	if l.index != nil {
		l.indexLocked(b)
	}
}

func (l *Loader[K, V]) extendLocked(b *batch[K, V], key K) slot[K, V] {
	at := slot[K, V]{b, len(b.keys)}
	b.keys = append(b.keys, key)
	l.count++
	if l.index != nil {
		l.index[key] = at
	}
	return at
}

func (l *Loader[K, V]) indexLocked(b *batch[K, V]) {
	for i, key := range b.keys {
		if _, ok := l.index[key]; !ok {
			l.index[key] = slot[K, V]{b, i}
		}
	}
}

func (l *Loader[K, V]) findLocked(key K) (slot[K, V], bool) {
	if l.index == nil && l.count > maxUnindexed {
		l.index = make(map[K]slot[K, V], 2*l.count)
		for _, b := range l.batches {
			l.indexLocked(b)
		}
	}
	if l.index != nil {
		at, ok := l.index[key]
		return at, ok
	}
	for _, b := range l.batches {
		if i := slices.Index(b.keys, key); i >= 0 {
			return slot[K, V]{b, i}, true
		}
	}
	return slot[K, V]{}, false
}

// await returns the value of a slot. The first caller of an expected or announced batch reads it.
func (l *Loader[K, V]) await(ctx context.Context, at slot[K, V]) (V, error) {
	b := at.batch
	l.mu.Lock()
	first := !b.started
	if first {
		b.started, b.done = true, make(chan struct{})
		if l.announced == b {
			l.announced = nil // it takes no more keys
		}
	}
	l.mu.Unlock()
	if first {
		l.readBatch(ctx, b)
	} else if b.done != nil {
		b.wait(ctx)
	}
	if b.err != nil {
		var none V
		return none, b.err
	}
	return b.values[at.i], nil
}

// PanicError is the error of keys whose batch read panicked.
type PanicError struct {
	Value any
	Stack string
}

// Error implements error.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// errExited is the error of keys whose batch read ended its goroutine.
var errExited = errors.New("the batch read did not return")

func (l *Loader[K, V]) readBatch(ctx context.Context, b *batch[K, V]) {
	defer close(b.done)
	b.err = errExited
	defer func() {
		if r := recover(); r != nil {
			b.err = &PanicError{Value: r, Stack: string(debug.Stack())}
		}
	}()
	values, err := l.read(ctx, b.keys)
	if err == nil && len(values) != len(b.keys) {
		err = fmt.Errorf("%d values were read for %d keys", len(values), len(b.keys))
	}
	b.values, b.err = values, err
}
