package exec

import (
	"errors"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
)

// step is one step of a path in the response: a field, or an element of its list.
type step struct {
	field *plannedField // nil for an element
	index int
}

// failure is an error that the writer found in a value.
type failure struct {
	at       []step
	err      error
	panicked bool
}

var (
	errNull        = errors.New("the requested element is null which the schema does not allow")
	errUntypedNull = errors.New("must not be null")
)

// fail records a failure at the position of the writer or, given a field, at that field of the object there.
func (e *execution) fail(f *plannedField, reason failure) {
	reason.at = make([]step, len(e.at), len(e.at)+1)
	copy(reason.at, e.at)
	if f != nil {
		reason.at = append(reason.at, step{field: f})
	}
	e.failures = append(e.failures, reason)
}

// reportFailures reports the recorded failures as errors of the response. A null is reported once.
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
		if failure.panicked || !graphql.HasFieldError(ctx, graphql.GetFieldContext(ctx)) {
			e.op.Error(ctx, failure.err)
		}
	}
	e.failures = e.failures[:0]
}

// write runs a function that appends to the response, and reports the failures. If something panics, write discards the
// output and runs the function again, recovering field by field.
func (e *execution) write(object func() bool) bool {
	start, at := len(e.buf), len(e.at)
	ok, panicked := e.attempt(object)
	if panicked {
		e.discard(start)
		e.at, e.failures = e.at[:at], e.failures[:0]
		e.recovering = true
		ok = object()
	}
	e.reportFailures()
	return ok
}

func (e *execution) attempt(object func() bool) (ok, panicked bool) {
	defer func() { panicked = recover() != nil }()
	return object(), false
}

// writeObject appends the selected fields of an object. It takes the resolved values from the list of instances that
// begins at next, and advances next beyond them. It appends nothing and returns false if a non-null field is null.
func (e *execution) writeObject(s *selection, object any, next **instance) bool {
	start, valid := len(e.buf), true
	e.buf = append(e.buf, '{')
	for _, f := range s.fields {
		if len(e.buf) >= e.checkAt {
			e.checkLength()
		}
		if e.stopped != nil {
			return true // the data is discarded
		}
		e.buf = append(e.buf, f.key...)
		var ok bool
		if e.recovering {
			ok = e.writeRecovering(f, object, next)
		} else {
			ok = e.writeField(f, object, next)
		}
		valid = valid && ok // go on, to report the other failures
	}
	if !valid {
		e.discard(start)
		return false
	}
	e.buf = append(e.buf, '}')
	return true
}

// discard removes what was written from a length on. It counts all the same.
func (e *execution) discard(start int) {
	e.discarded += len(e.buf) - start
	e.buf = e.buf[:start]
}

// checkEvery is how many bytes are written between two calls of [Hooks.Written].
const checkEvery = 16 << 10

// checkLength notes how long the response is, and stops the writer if it has to.
func (e *execution) checkLength() {
	if e.stopped == nil {
		e.stopped = e.written(e.ctx, len(e.buf)+e.discarded)
	}
	e.checkAt = len(e.buf) + checkEvery
}

// writeRecovering writes a field, or null if something panics.
func (e *execution) writeRecovering(f *plannedField, object any, next **instance) (ok bool) {
	start, at := len(e.buf), len(e.at)
	defer func() {
		if r := recover(); r != nil {
			e.discard(start)
			e.at = e.at[:at]
			e.fail(f, failure{err: e.op.RecoverFunc(e.ctx, r), panicked: true})
			ok = e.writeNull(f)
		}
	}()
	return e.writeField(f, object, next)
}

func (e *execution) writeField(f *plannedField, object any, next **instance) bool {
	switch {
	case f.constant != nil:
		e.buf = append(e.buf, f.constant...)
		return true
	case f.inspects:
		e.writeIntrospection(f)
		return true
	case f.isResolved():
		i := *next
		*next = i.next
		return e.writeResolved(i)
	case f.Leaf != nil:
		return e.writeLeaf(f, object)
	}
	e.at = append(e.at, step{field: f})
	var ok bool
	if f.isList() {
		ok = e.writeList(f, object, next)
	} else if v := f.Get(object); v != nil {
		ok = e.writeValue(f, v, next)
	} else if f.NonNull {
		e.fail(nil, failure{err: errNull})
	}
	e.at = e.at[:len(e.at)-1]
	return ok || e.writeNull(f)
}

func (e *execution) writeResolved(i *instance) bool {
	f := i.field
	switch {
	case i.raw != nil:
		n := len(e.buf)
		e.buf = AppendMarshaler(e.buf, i.raw)
		return len(e.buf) > n || e.writeNull(f)
	case i.failed:
		return e.writeNull(f)
	case i.value == nil && f.UntypedNil:
		return e.writeMissing(f, errUntypedNull)
	case i.value == nil:
		return e.writeMissing(f, errNull)
	case f.Leaf != nil:
		return e.writeLeaf(f, i.value)
	}
	e.at = append(e.at, step{field: f})
	var ok bool
	next := i.first
	if f.isList() {
		ok = e.writeList(f, i.value, &next)
	} else {
		ok = e.writeValue(f, i.value, &next)
	}
	e.at = e.at[:len(e.at)-1]
	return ok || e.writeNull(f)
}

// writeNull appends null if the field is nullable.
func (e *execution) writeNull(f *plannedField) bool {
	if f.NonNull {
		return false
	}
	e.buf = append(e.buf, "null"...)
	return true
}

// writeMissing appends null for a missing value, which is a failure if the field is not nullable.
func (e *execution) writeMissing(f *plannedField, err error) bool {
	if f.NonNull {
		e.fail(f, failure{err: err})
	}
	return e.writeNull(f)
}

func (e *execution) writeLeaf(f *plannedField, x any) bool {
	n := len(e.buf)
	e.buf = f.Leaf(e.buf, x)
	return len(e.buf) > n || e.writeMissing(f, errNull)
}

// writeList appends a list. It returns false if the list, or a non-null element, is null.
func (e *execution) writeList(f *plannedField, list any, next **instance) bool {
	n := f.Len(list)
	if n == Null {
		return false
	}
	start, valid, known := len(e.buf), true, len(e.failures)
	e.buf = append(e.buf, '[')
	for i := range n {
		if len(e.buf) >= e.checkAt {
			e.checkLength()
		}
		if e.stopped != nil {
			return true
		}
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.at = append(e.at, step{index: i})
		if !e.writeElement(f, list, i, next) {
			valid = valid && !f.ElemNonNull
			e.buf = append(e.buf, "null"...)
		}
		e.at = e.at[:len(e.at)-1]
	}
	switch {
	case e.unexpectedSince(known):
		e.discard(start)
		e.buf = append(e.buf, "[]"...) // gqlgen does the same
		return true
	case !valid:
		e.discard(start)
		return false
	}
	e.buf = append(e.buf, ']')
	return true
}

func (e *execution) writeElement(f *plannedField, list any, i int, next **instance) bool {
	if f.LeafAt != nil {
		n := len(e.buf)
		e.buf = f.LeafAt(e.buf, list, i)
		if len(e.buf) > n {
			return true
		}
	} else if v := f.At(list, i); v != nil {
		return e.writeValue(f, v, next)
	}
	if f.ElemNonNull {
		e.fail(nil, failure{err: errNull})
	}
	return false
}

// writeValue appends the selected fields of a value of the field.
func (e *execution) writeValue(f *plannedField, v any, next **instance) bool {
	s, object := f.find(v)
	switch {
	case s != nil:
		return e.writeObject(s, object, next)
	case object == nil:
		return false
	}
	if m, ok := object.(graphql.Marshaler); ok {
		e.buf = AppendMarshaler(e.buf, m)
		return true
	}
	err := fmt.Errorf("unexpected type %T; non-generated variants of %s must implement graphql.Marshaler",
		object, f.collected.Definition.Type.Name())
	e.fail(nil, failure{err: e.op.RecoverFunc(e.ctx, err), panicked: true})
	return false
}

// unexpectedSince reports whether one of the failures after the first known ones is an element of unexpected type in the
// list at the position of the writer.
func (e *execution) unexpectedSince(known int) bool {
	for _, failure := range e.failures[known:] {
		if failure.panicked && len(failure.at) == len(e.at)+1 && failure.at[len(e.at)].field == nil {
			return true
		}
	}
	return false
}
