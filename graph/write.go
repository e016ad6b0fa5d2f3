package graph

import (
	"errors"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
)

// step is one step on the way to where the writer is: a field, or an element of its list.
type step struct {
	field *plannedField // nil for an element
	index int
}

// failure is what the writer found wrong with a value.
type failure struct {
	at      []step
	err     error
	crashed bool // by a panic
}

var (
	errNull        = errors.New("the requested element is null which the schema does not allow")
	errUntypedNull = errors.New("must not be null")
)

// fail notes what is wrong where the writer is, or at a field of the object there.
func (e *execution) fail(f *plannedField, reason failure) {
	reason.at = make([]step, len(e.at), len(e.at)+1)
	copy(reason.at, e.at)
	if f != nil {
		reason.at = append(reason.at, step{field: f})
	}
	e.failures = append(e.failures, reason)
}

// reportFailures reports what the writer found. What is null is reported once.
func (e *execution) reportFailures() {
	for _, failure := range e.failures {
		ctx := e.rootContext()
		for _, s := range failure.at {
			if s.field != nil {
				ctx = e.contextOfField(ctx, s.field)
			} else {
				ctx = contextOfElement(ctx, s.index)
			}
		}
		if failure.crashed || !graphql.HasFieldError(ctx, graphql.GetFieldContext(ctx)) {
			e.op.Error(ctx, failure.err)
		}
	}
	e.failures = e.failures[:0]
}

// write appends what the function writes, and reports what is wrong with it. If something
// panics it starts over, carefully.
func (e *execution) write(object func() bool) bool {
	start, at := len(e.buf), len(e.at)
	ok, crashed := e.attempt(object)
	if crashed {
		e.buf, e.at, e.failures = e.buf[:start], e.at[:at], e.failures[:0]
		e.careful = true
		ok = object()
	}
	e.reportFailures()
	return ok
}

func (e *execution) attempt(object func() bool) (ok, crashed bool) {
	defer func() { crashed = recover() != nil }()
	return object(), false
}

// writeObject appends what is selected of an object. It takes the resolved values from
// the places, and leaves those that follow. It reports false, and appends nothing, where
// a value is null that must not be.
func (e *execution) writeObject(s *selection, object any, places **place) bool {
	start, valid := len(e.buf), true
	e.buf = append(e.buf, '{')
	for _, f := range s.fields {
		e.buf = append(e.buf, f.key...)
		var ok bool
		if e.careful {
			ok = e.writeCarefully(f, object, places)
		} else {
			ok = e.writeField(f, object, places)
		}
		valid = valid && ok // what else is wrong is still to be told
	}
	if !valid {
		e.buf = e.buf[:start]
		return false
	}
	e.buf = append(e.buf, '}')
	return true
}

// writeCarefully writes a field, as null when something panics.
func (e *execution) writeCarefully(f *plannedField, object any, places **place) (ok bool) {
	start, at := len(e.buf), len(e.at)
	defer func() {
		if r := recover(); r != nil {
			e.buf, e.at = e.buf[:start], e.at[:at]
			e.fail(f, failure{err: e.op.RecoverFunc(e.ctx, r), crashed: true})
			ok = e.writeNull(f)
		}
	}()
	return e.writeField(f, object, places)
}

func (e *execution) writeField(f *plannedField, object any, places **place) bool {
	switch {
	case f.constant != nil:
		e.buf = append(e.buf, f.constant...)
		return true
	case f.isResolved():
		p := *places
		*places = p.next
		return e.writeResolved(p)
	case f.leaf != nil:
		return e.writeLeaf(f, object)
	}
	e.at = append(e.at, step{field: f})
	var ok bool
	if f.isList() {
		ok = e.writeList(f, object, places)
	} else if v := f.get(object); v != nil {
		ok = e.writeValue(f, v, places)
	} else if f.nonNull {
		e.fail(nil, failure{err: errNull})
	}
	e.at = e.at[:len(e.at)-1]
	return ok || e.writeNull(f)
}

func (e *execution) writeResolved(p *place) bool {
	f := p.field
	switch {
	case p.raw != nil:
		n := len(e.buf)
		e.buf = appendMarshaler(e.buf, p.raw)
		return len(e.buf) > n || e.writeNull(f)
	case p.failed:
		return e.writeNull(f)
	case p.value == nil && f.untypedNil:
		return e.writeMissing(f, errUntypedNull)
	case p.value == nil:
		return e.writeMissing(f, errNull)
	case f.leaf != nil:
		return e.writeLeaf(f, p.value)
	}
	e.at = append(e.at, step{field: f})
	var ok bool
	next := p.first
	if f.isList() {
		ok = e.writeList(f, p.value, &next)
	} else {
		ok = e.writeValue(f, p.value, &next)
	}
	e.at = e.at[:len(e.at)-1]
	return ok || e.writeNull(f)
}

// writeNull appends null if the field may be that.
func (e *execution) writeNull(f *plannedField) bool {
	if f.nonNull {
		return false
	}
	e.buf = append(e.buf, "null"...)
	return true
}

// writeMissing does so for a value that is not there.
func (e *execution) writeMissing(f *plannedField, err error) bool {
	if f.nonNull {
		e.fail(f, failure{err: err})
	}
	return e.writeNull(f)
}

func (e *execution) writeLeaf(f *plannedField, x any) bool {
	n := len(e.buf)
	e.buf = f.leaf(e.buf, x)
	return len(e.buf) > n || e.writeMissing(f, errNull)
}

// writeList appends a list. It reports false where it is null, or an element is that must
// not be.
func (e *execution) writeList(f *plannedField, list any, places **place) bool {
	n := f.len(list)
	if n == null {
		return false
	}
	start, valid, known := len(e.buf), true, len(e.failures)
	e.buf = append(e.buf, '[')
	for i := range n {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.at = append(e.at, step{index: i})
		if !e.writeElement(f, list, i, places) {
			valid = valid && !f.elemNonNull
			e.buf = append(e.buf, "null"...)
		}
		e.at = e.at[:len(e.at)-1]
	}
	switch {
	case e.unexpectedSince(known):
		e.buf = append(e.buf[:start], "[]"...) // as gqlgen has it
		return true
	case !valid:
		e.buf = e.buf[:start]
		return false
	}
	e.buf = append(e.buf, ']')
	return true
}

func (e *execution) writeElement(f *plannedField, list any, i int, places **place) bool {
	if f.leafAt != nil {
		n := len(e.buf)
		e.buf = f.leafAt(e.buf, list, i)
		if len(e.buf) > n {
			return true
		}
	} else if v := f.at(list, i); v != nil {
		return e.writeValue(f, v, places)
	}
	if f.elemNonNull {
		e.fail(nil, failure{err: errNull})
	}
	return false
}

// writeValue appends what is selected of a value of the field.
func (e *execution) writeValue(f *plannedField, v any, places **place) bool {
	s, object := f.find(v)
	switch {
	case s != nil:
		return e.writeObject(s, object, places)
	case object == nil:
		return false
	}
	if m, ok := object.(graphql.Marshaler); ok {
		e.buf = appendMarshaler(e.buf, m)
		return true
	}
	err := fmt.Errorf("unexpected type %T; non-generated variants of %s must implement graphql.Marshaler",
		object, f.collected.Definition.Type.Name())
	e.fail(nil, failure{err: e.op.RecoverFunc(e.ctx, err), crashed: true})
	return false
}

// unexpectedSince reports whether an element of the list where the writer is was of an
// unexpected type.
func (e *execution) unexpectedSince(known int) bool {
	for _, failure := range e.failures[known:] {
		if failure.crashed && len(failure.at) == len(e.at)+1 && failure.at[len(e.at)].field == nil {
			return true
		}
	}
	return false
}
