package exec

import (
	"context"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
)

// execution is one run of a plan, for one response. It resolves fields in waves: first all fields that can be resolved at
// once, then those below them, and so on, so that loaders know the keys of a whole wave before they read. Then it writes
// the response from the objects, depth first. The writer meets the resolved values in the order in which the waves
// visited the objects.
type execution struct {
	op            *graphql.OperationContext
	ctx           context.Context // of the response, or of the field of a mutation
	generated     any             // what arguments are read with
	introspection graphql.ExecutableSchema
	flags         Flags
	begin         func(context.Context, Flags)
	stop          func(context.Context) error
	added         func(context.Context, int) error
	written       func(context.Context, int) error
	tooMany       error

	pool    instancePool
	count   int         // instances that were added
	root    instance    // holds the root fields; of a subscription, the event
	wave    []*instance // to be resolved next
	spare   []*instance // the wave before, for reuse
	indices [maxListsBetween]int32
	lists   int // number of indices in use

	buf        []byte
	discarded  int    // bytes that were removed from buf
	at         []step // position of the writer in the response
	recovering bool   // something has panicked: each field is written with a recovery
	failures   []failure
	checkAt    int   // length of the response at which to call written again
	stopped    error // of stop, added or written
}

// instance is one occurrence of a resolved field in the response, with its value.
type instance struct {
	field   *plannedField
	parent  *instance
	object  any
	indices [maxListsBetween]int32 // positions in the lists between the parent and this instance

	value  any
	failed bool              // an error was reported
	raw    graphql.Marshaler // what an interceptor returned in place of the field

	first, last *instance // instances below the value, in the order of writing
	next        *instance // of the same parent
}

// instancePool hands out instances that are all returned at once.
type instancePool struct {
	blocks [][]instance
	block  int
	used   int
}

const (
	instancesPerBlock = 32
	keptBlocks        = 3 // for the next execution
)

func (p *instancePool) get() *instance {
	if p.block < len(p.blocks) && p.used == len(p.blocks[p.block]) {
		p.block, p.used = p.block+1, 0
	}
	if p.block == len(p.blocks) {
		p.blocks = append(p.blocks, make([]instance, instancesPerBlock<<min(p.block, 5)))
	}
	p.used++
	return &p.blocks[p.block][p.used-1]
}

func (p *instancePool) reset() {
	p.blocks = p.blocks[:min(len(p.blocks), keptBlocks)]
	for i, block := range p.blocks[:min(p.block+1, len(p.blocks))] {
		if i == p.block {
			block = block[:p.used]
		}
		clear(block)
	}
	p.block, p.used = 0, 0
}

// reset clears everything but the buffers, for the next execution.
func (e *execution) reset() {
	pool, wave, spare, at, failures := e.pool, e.wave[:0], e.spare[:0], e.at[:0], e.failures[:0]
	pool.reset()
	clear(wave[:cap(wave)])
	clear(spare[:cap(spare)])
	clear(at[:cap(at)])
	clear(failures[:cap(failures)])
	*e = execution{pool: pool, wave: wave, spare: spare, at: at, failures: failures}
}

// resolveWaves resolves the next wave, and all fields below it.
func (e *execution) resolveWaves() {
	for len(e.wave) > 0 && e.stopped == nil {
		wave := e.wave
		e.wave = e.spare[:0]
		e.resolve(wave)
		for _, i := range wave {
			e.descend(i)
		}
		e.spare = wave
	}
}

// Bounds of the instances of one response. Each takes up to 7 µs and half a kilobyte, before anything of the response is written.
const (
	maxInstances = 100_000
	addedAtOnce  = 250   // between two calls of [Hooks.Added]
	addedBefore  = 1_000 // before the first call: large pages have a few hundred
)

// add makes an instance of a field, unless the response has to stop. It is resolved with the next wave, or at once if its resolver waits for nothing.
func (e *execution) add(parent *instance, f *plannedField, object any) {
	if e.count++; e.count > addedBefore && e.count%addedAtOnce == 0 {
		e.stopped = e.added(e.ctx, addedAtOnce)
	}
	if e.stopped == nil && e.count > maxInstances {
		e.stopped = e.tooMany
	}
	if e.stopped != nil {
		return
	}
	i := e.pool.get()
	i.field, i.parent, i.object, i.indices = f, parent, object, e.indices
	if parent.first == nil {
		parent.first = i
	} else {
		parent.last.next = i
	}
	parent.last = i
	if !f.immediate {
		e.wave = append(e.wave, i)
		return
	}
	e.resolveInstance(i)
	indices, lists := e.indices, e.lists
	e.descend(i)
	e.indices, e.lists = indices, lists
}

// descend visits a resolved value and adds the fields below it that are resolved.
func (e *execution) descend(i *instance) {
	if !i.field.leads || i.value == nil {
		return
	}
	e.lists = 0
	if i.field.isList() {
		e.visitList(i, i.field, i.value)
	} else {
		e.visitValue(i, i.field, i.value)
	}
}

func (e *execution) visitList(parent *instance, f *plannedField, list any) {
	position := e.lists
	e.lists++
	for i := range f.Len(list) {
		e.indices[position] = int32(i) //nolint:gosec // lists are short
		e.visitValue(parent, f, f.At(list, i))
	}
	e.lists = position
}

func (e *execution) visitValue(parent *instance, f *plannedField, v any) {
	if e.stopped != nil {
		return
	}
	s, object := f.find(v)
	if s == nil {
		return // null, or of an unexpected type, which the writer reports
	}
	for _, f := range s.resolved {
		if f.isResolved() {
			e.add(parent, f, object)
		} else {
			e.visitPlain(parent, f, object)
		}
	}
}

// visitPlain visits the value of a plain field. If reading it panics, so does the writer, which reports it.
func (e *execution) visitPlain(parent *instance, f *plannedField, object any) {
	lists := e.lists
	defer func() {
		if recover() != nil {
			e.lists = lists
		}
	}()
	if f.isList() {
		e.visitList(parent, f, object)
	} else {
		e.visitValue(parent, f, f.Get(object))
	}
}

// resolve resolves a wave. Instances of an announced field are resolved one after the other: the first waits for the
// read, the others find their values. All other instances are resolved side by side, a part of them at a time, so that few have begun when
// the response has to stop.
func (e *execution) resolve(wave []*instance) {
	for part := range slices.Chunk(wave, maxParallel) {
		if e.stopped = e.stop(e.ctx); e.stopped != nil {
			return
		}
		for _, i := range part {
			if i.field.announce != nil {
				e.announce(i)
			}
		}
	}
	sequential := isSequential(wave)
	for part := range slices.Chunk(wave, maxParallel) {
		if e.stopped = e.stop(e.ctx); e.stopped != nil {
			return
		}
		if sequential {
			for _, i := range part {
				e.resolveInstance(i)
			}
		} else {
			e.resolveSideBySide(part)
		}
	}
	e.stopped = e.stop(e.ctx)
}

// maxParallel is how many instances of one response are resolved at once. A page has at most 100.
const maxParallel = 250

func (e *execution) resolveSideBySide(wave []*instance) {
	var wg sync.WaitGroup
	var announced []*FieldType
	for n, i := range wave {
		if i.field.announce == nil {
			wg.Go(func() { e.resolveInstance(i) })
			continue
		}
		if slices.Contains(announced, i.field.FieldType) {
			continue
		}
		announced = append(announced, i.field.FieldType)
		wg.Go(func() {
			for _, other := range wave[n:] {
				if other.field.FieldType == i.field.FieldType {
					e.resolveInstance(other)
				}
			}
		})
	}
	var prefetched []*plannedField
	for n, i := range wave {
		if i.field.prefetch == nil || slices.Contains(prefetched, i.field) {
			continue
		}
		prefetched = append(prefetched, i.field)
		for _, read := range i.field.prefetch {
			wg.Go(func() { e.prefetch(wave[n:], i.field, read) })
		}
	}
	wg.Wait()
}

// prefetch reads a value below each instance of a field. If the read panics, so does the resolver that needs the value.
func (e *execution) prefetch(wave []*instance, f *plannedField, read func(context.Context, any)) {
	defer func() { _ = recover() }()
	for _, i := range wave {
		if i.field == f {
			read(e.ctx, i.object)
		}
	}
}

// isSequential reports whether a wave gains nothing from goroutines.
func isSequential(wave []*instance) bool {
	if len(wave) == 1 && wave[0].field.prefetch == nil {
		return true
	}
	for _, i := range wave {
		if i.field.announce == nil || i.field.prefetch != nil || i.field.FieldType != wave[0].field.FieldType {
			return false
		}
	}
	return true
}

// announce announces the keys of a resolver to the loaders. If that panics, so does the resolver, which reports it.
func (e *execution) announce(i *instance) {
	defer func() { _ = recover() }()
	i.field.announce(e.ctx, i.object)
}
