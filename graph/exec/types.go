package exec

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
)

// ObjectType describes an object type of the schema.
type ObjectType struct {
	Name      string
	Satisfies []string // its own name, and those of its interfaces
	Fields    map[string]*FieldType
}

// FieldType describes how the value of a field is found and written. A plain field is read from its object. Any other
// field is resolved, and functions with a parameter x receive the resolved value instead of the object.
type FieldType struct {
	Unsupported string // why gqlgen has to execute operations with the field; empty if it does not
	NonNull     bool
	ElemNonNull bool
	UntypedNil  bool // the resolver returns an interface type

	// Fields that are resolved have these. The first argument of Prepare is the result of [Config.NewContext].
	Prepare func(ctx context.Context, generated any, field graphql.CollectedField) (*graphql.FieldContext, error)
	Resolve func(ctx context.Context, x any, fc *graphql.FieldContext) (any, error)

	// Scalars and enums have one of these. They append nothing for null.
	Leaf   func(b []byte, x any) []byte
	LeafAt func(b []byte, x any, i int) []byte

	// Len returns the number of elements of a list, or [Null].
	Len func(x any) int

	// Objects have these. Their values are pointers, or nil.
	Object   *ObjectType
	Concrete func(v any) (*ObjectType, any) // of an interface; the type is nil if the value has none in the schema
	Get      func(x any) any
	At       func(x any, i int) any
}

// Null is the length that represents a null list.
const Null = -1

func (f *FieldType) isList() bool     { return f.Len != nil }
func (f *FieldType) isResolved() bool { return f.Resolve != nil }
func (f *FieldType) isLeaf() bool     { return f.Leaf != nil || f.LeafAt != nil }
