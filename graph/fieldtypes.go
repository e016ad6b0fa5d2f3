package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
)

// objectType is what the executor knows about an object type of the schema. The table of
// all of them is generated.
type objectType struct {
	name      string
	satisfies []string // its own name, and those of its interfaces
	fields    map[string]*fieldType
}

// fieldType says how the value of a field is found and written. A plain field is read
// from its object; any other one is resolved, and then the functions below that take an x
// are given the resolved value instead of the object.
type fieldType struct {
	unsupported string // why operations with the field are left to gqlgen, if they are
	nonNull     bool
	elemNonNull bool
	untypedNil  bool // what the resolver returns is of an interface type

	// Of what is to be resolved.
	prepare func(context.Context, *executionContext, graphql.CollectedField) (*graphql.FieldContext, error)
	resolve func(ctx context.Context, x any, fc *graphql.FieldContext) (any, error) // nil for a subscription

	// Of scalars and enums. They append nothing for null.
	leaf   func(b []byte, x any) []byte
	leafAt func(b []byte, x any, i int) []byte

	// Of lists: how many elements there are, or null.
	len func(x any) int

	// Of objects: pointers to them, or nil.
	object   *objectType
	concrete func(v any) (*objectType, any) // of interfaces; no type for a value of one that is not in the schema
	get      func(x any) any
	at       func(x any, i int) any
}

// null is the length of a list that is not there.
const null = -1

func (f *fieldType) isList() bool     { return f.len != nil }
func (f *fieldType) isResolved() bool { return f.resolve != nil }
func (f *fieldType) isLeaf() bool     { return f.leaf != nil || f.leafAt != nil }
