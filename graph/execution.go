package graph

import (
	"context"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"retwis/graph/loaders"
	"retwis/internal/retwis"
)

// execution is one run of a plan, for a response. It resolves what is to be resolved in
// waves: all fields that can be resolved at once, then those below them, and so on, so
// that loaders are told of a whole wave before they read. Then it writes the response
// from the objects, depth first, taking the resolved values in the order in which the
// objects were gone through.
type execution struct {
	op     *graphql.OperationContext
	ctx    context.Context   // of the response, or of the field of a mutation
	fields *executionContext // reads arguments

	selected loaders.Selection

	places  placePool
	root    place    // holds the fields of the root; of a subscription, the event
	wave    []*place // to be resolved next
	spare   []*place // the wave before, to be used again
	indices [maxListsBetween]int32
	lists   int // how many of the indices count

	buf      []byte
	at       []step // where in the response the writer is
	careful  bool   // something has panicked: each field is written with a recovery
	failures []failure
}

// place is a field to be resolved at one place of the response, and what came of it.
type place struct {
	field  *plannedField
	parent *place
	object any
	// The positions in the lists between the parent and this place.
	indices [maxListsBetween]int32

	value  any
	failed bool              // an error was reported
	raw    graphql.Marshaler // what an interceptor answered in the place of the field

	first, last *place // the places below the value, in the order of writing
	next        *place // of the same parent
}

// placePool hands out places that are all given back at once.
type placePool struct {
	blocks [][]place
	block  int
	used   int
}

const placesPerBlock = 32

func (p *placePool) get() *place {
	if p.block < len(p.blocks) && p.used == len(p.blocks[p.block]) {
		p.block, p.used = p.block+1, 0
	}
	if p.block == len(p.blocks) {
		p.blocks = append(p.blocks, make([]place, placesPerBlock<<min(p.block, 5)))
	}
	p.used++
	return &p.blocks[p.block][p.used-1]
}

// keptPlaceBlocks is how many blocks are kept for the next execution.
const keptPlaceBlocks = 3

func (p *placePool) reset() {
	p.blocks = p.blocks[:min(len(p.blocks), keptPlaceBlocks)]
	for i, block := range p.blocks[:min(p.block+1, len(p.blocks))] {
		if i == p.block {
			block = block[:p.used]
		}
		clear(block)
	}
	p.block, p.used = 0, 0
}

// reset makes an execution forget everything but its buffers, for the next one.
func (e *execution) reset() {
	places, wave, spare, at, failures := e.places, e.wave[:0], e.spare[:0], e.at[:0], e.failures[:0]
	places.reset()
	clear(wave[:cap(wave)])
	clear(spare[:cap(spare)])
	clear(at[:cap(at)])
	clear(failures[:cap(failures)])
	*e = execution{places: places, wave: wave, spare: spare, at: at, failures: failures}
}

// resolveWaves resolves what is to be resolved next, and everything below.
func (e *execution) resolveWaves() {
	for len(e.wave) > 0 {
		wave := e.wave
		e.wave = e.spare[:0]
		e.resolve(wave)
		for _, p := range wave {
			e.below(p)
		}
		e.spare = wave
	}
}

// add makes a place for a field that is to be resolved, and resolves it where that takes
// no time.
func (e *execution) add(parent *place, f *plannedField, object any) {
	p := e.places.get()
	p.field, p.parent, p.object, p.indices = f, parent, object, e.indices
	if parent.first == nil {
		parent.first = p
	} else {
		parent.last.next = p
	}
	parent.last = p
	if !f.quick {
		e.wave = append(e.wave, p)
		return
	}
	e.resolveOne(p)
	indices, lists := e.indices, e.lists
	e.below(p)
	e.indices, e.lists = indices, lists
}

// below goes through a resolved value to find what is to be resolved below it.
func (e *execution) below(p *place) {
	if !p.field.below || p.value == nil {
		return
	}
	e.lists = 0
	if p.field.isList() {
		e.elements(p, p.field, p.value)
	} else {
		e.value(p, p.field, p.value)
	}
}

func (e *execution) elements(parent *place, f *plannedField, list any) {
	position := e.lists
	e.lists++
	for i := range f.len(list) {
		e.indices[position] = int32(i) //nolint:gosec // lists are short
		e.value(parent, f, f.at(list, i))
	}
	e.lists = position
}

func (e *execution) value(parent *place, f *plannedField, v any) {
	s, object := f.find(v)
	if s == nil {
		return // null, or of an unexpected type, which the writer tells
	}
	for _, f := range s.resolved {
		if f.isResolved() {
			e.add(parent, f, object)
		} else {
			e.through(parent, f, object)
		}
	}
}

// through goes through what a plain field holds. Where reading it panics the writer will
// find the same, and report it.
func (e *execution) through(parent *place, f *plannedField, object any) {
	lists := e.lists
	defer func() {
		if recover() != nil {
			e.lists = lists
		}
	}()
	if f.isList() {
		e.elements(parent, f, object)
	} else {
		e.value(parent, f, f.get(object))
	}
}

// resolve resolves a wave. Fields whose resolvers ask only loaders are resolved one after
// the other, all the places of the same field: the first waits for the read, the others
// find what they need. All others are resolved side by side.
func (e *execution) resolve(wave []*place) {
	for _, p := range wave {
		if p.field.hint != nil {
			e.announce(p)
		}
	}
	if oneByOne(wave) {
		for _, p := range wave {
			e.resolveOne(p)
		}
		return
	}
	var wg sync.WaitGroup
	var hinted []*fieldType
	for i, p := range wave {
		if p.field.hint == nil {
			wg.Go(func() { e.resolveOne(p) })
			continue
		}
		if slices.Contains(hinted, p.field.fieldType) {
			continue
		}
		hinted = append(hinted, p.field.fieldType)
		wg.Go(func() {
			for _, other := range wave[i:] {
				if other.field.fieldType == p.field.fieldType {
					e.resolveOne(other)
				}
			}
		})
	}
	var led []*plannedField
	for i, p := range wave {
		if p.field.ahead == nil || slices.Contains(led, p.field) {
			continue
		}
		led = append(led, p.field)
		for _, read := range p.field.ahead {
			wg.Go(func() { e.readAhead(wave[i:], p.field, read) })
		}
	}
	wg.Wait()
}

// readAhead reads something of the authors of posts. If that panics, so it will for
// whoever asks for it.
func (e *execution) readAhead(wave []*place, f *plannedField, read func(context.Context, retwis.UserID)) {
	defer func() { _ = recover() }()
	for _, p := range wave {
		if p.field == f {
			read(e.ctx, p.object.(*retwis.Post).AuthorID) //nolint:forcetypeassert // only posts have authors
		}
	}
}

func oneByOne(wave []*place) bool {
	if len(wave) == 1 && wave[0].field.ahead == nil {
		return true
	}
	for _, p := range wave {
		if p.field.hint == nil || p.field.ahead != nil || p.field.fieldType != wave[0].field.fieldType {
			return false
		}
	}
	return true
}

// announce tells the loaders what a resolver is going to ask for. If it cannot, neither
// can the resolver, which then reports why.
func (e *execution) announce(p *place) {
	defer func() { _ = recover() }()
	p.field.hint(e.ctx, p.object)
}
