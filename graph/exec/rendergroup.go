package exec

import (
	"crypto/sha256"
	"encoding/json"
	"errors"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// maxForm bounds the normal form of an operation, in bytes. Fragments that spread each other expand to far more than the
// document.
const maxForm = 32 << 10

// leastOfField is the size that a field counts for at least, in bytes.
const leastOfField = 64

var errFormTooLong = errors.New("the normal form of the operation is too long")

// RenderGroup returns a key that is equal for subscriptions that render every event to the same bytes for the same
// viewer, and whether the bytes may differ between viewers. Fields whose value may differ have the directive
// viewerDependent. The key is empty for operations whose normal form is too long.
//
// The arguments of the root field are not part of the key: they decide which events reach a subscriber, not how these
// look. The key also ignores white space, fragments, and the names of variables and of the operation.
//
// The size is that of the fields in the normal form in bytes, each of which has at least 64. A field of an interface counts for each type that
// implements it, as it is planned for each. The memory that the operation takes is in proportion.
func RenderGroup(schema *ast.Schema, viewerDependent string, op *graphql.OperationContext) (key string, size int, ofViewer bool) {
	if op.Operation.Operation != ast.Subscription {
		return "", 0, false
	}
	f := form{schema: schema, viewerDependent: viewerDependent, variables: op.Variables}
	if f.selections(op.Operation.SelectionSet, 1, true) != nil || len(f.text) > maxForm {
		return "", 0, true
	}
	sum := sha256.Sum256(f.text)
	return string(sum[:]), f.size, f.ofViewer
}

// form is the normal form of an operation: variables replaced by their values, fragments expanded.
type form struct {
	schema          *ast.Schema
	viewerDependent string
	variables       map[string]any
	text            []byte
	size            int
	ofViewer        bool
}

// selections writes a set of selections, which is planned for so many types of object.
func (f *form) selections(set ast.SelectionSet, types int, root bool) error {
	f.text = append(f.text, '{')
	for _, selection := range set {
		if len(f.text) > maxForm {
			return errFormTooLong
		}
		var err error
		switch selection := selection.(type) {
		case *ast.Field:
			err = f.field(selection, types, root)
		case *ast.InlineFragment:
			err = f.fragment(selection.TypeCondition, selection.Directives, selection.SelectionSet, types, root)
		case *ast.FragmentSpread:
			definition := selection.Definition
			err = f.fragment(definition.TypeCondition, selection.Directives, definition.SelectionSet, types, root)
		}
		if err != nil {
			return err
		}
	}
	f.text = append(f.text, '}')
	return nil
}

// field writes a field, those of the root without their arguments.
func (f *form) field(field *ast.Field, types int, root bool) error {
	types *= max(len(f.possibleTypes(field)), 1)
	begin := len(f.text)
	f.text = append(f.text, field.Alias...)
	f.text = append(f.text, ':')
	f.text = append(f.text, field.Name...)
	if !root {
		f.ofViewer = f.ofViewer || f.isOfViewer(field)
		if len(field.Arguments) > 0 || len(field.Definition.Arguments) > 0 {
			if err := f.values(field.ArgumentMap(f.variables)); err != nil {
				return err
			}
		}
	}
	if err := f.directives(field.Directives); err != nil {
		return err
	}
	f.size += types * max(len(f.text)-begin, leastOfField)
	if len(field.SelectionSet) == 0 {
		f.text = append(f.text, ' ')
		return nil
	}
	return f.selections(field.SelectionSet, types, false)
}

func (f *form) fragment(on string, directives ast.DirectiveList, set ast.SelectionSet, types int, root bool) error {
	f.text = append(f.text, "..."...)
	f.text = append(f.text, on...)
	if err := f.directives(directives); err != nil {
		return err
	}
	return f.selections(set, types, root)
}

func (f *form) directives(directives ast.DirectiveList) error {
	for _, d := range directives {
		f.text = append(f.text, '@')
		f.text = append(f.text, d.Name...)
		if err := f.values(d.ArgumentMap(f.variables)); err != nil {
			return err
		}
	}
	return nil
}

// values writes arguments, unless they are too long. A document may use a long variable hundreds of times.
func (f *form) values(arguments map[string]any) error {
	if !fits(arguments, maxForm-len(f.text)) {
		return errFormTooLong
	}
	text, err := json.Marshal(arguments) // sorted by name
	f.text = append(f.text, text...)
	return err
}

// isOfViewer reports whether a field, or the same field of a type that implements its interface, depends on the viewer.
func (f *form) isOfViewer(field *ast.Field) bool {
	if field.Definition.Directives.ForName(f.viewerDependent) != nil {
		return true
	}
	for _, possible := range f.possibleTypes(field) {
		if d := possible.Fields.ForName(field.Name); d != nil && d.Directives.ForName(f.viewerDependent) != nil {
			return true
		}
	}
	return false
}

// possibleTypes returns the types of object that a field may be of: those that implement its interface, or only one.
func (f *form) possibleTypes(field *ast.Field) []*ast.Definition {
	if field.ObjectDefinition == nil {
		return nil
	}
	return f.schema.GetPossibleTypes(field.ObjectDefinition)
}

// fits reports whether the JSON encoding of a value may have no more than some bytes.
func fits(v any, bytes int) bool { return spare(v, bytes) >= 0 }

// spare returns how many of some bytes the encoding of a value leaves at most. It looks at nothing more when none are left.
func spare(v any, bytes int) int {
	switch v := v.(type) {
	case string:
		return bytes - len(v)
	case []any:
		for _, element := range v {
			if bytes = spare(element, bytes-1); bytes < 0 {
				break
			}
		}
	case map[string]any:
		for name, value := range v {
			if bytes = spare(value, bytes-len(name)-1); bytes < 0 {
				break
			}
		}
	}
	return bytes - 1
}
