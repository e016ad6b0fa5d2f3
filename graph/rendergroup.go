package graph

import (
	"crypto/sha256"
	"encoding/json"
	"errors"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// viewerDependent is the directive of fields whose value may depend on who asks.
const viewerDependent = "viewerDependent"

// maxForm bounds the normal form of an operation: fragments that spread each other write
// out to far more than the document.
const maxForm = 32 << 10

var errFormTooLong = errors.New("the operation is too long to compare")

// RenderGroup returns a key that subscriptions share when they render every event to the
// same bytes for the same viewer, and whether for different viewers the bytes may differ.
// The key is empty for operations that are not to be compared.
//
// The arguments of the subscription itself say whom an event reaches, not what it looks
// like, so they are no part of it; neither is how a document spells what it means: its
// white space, fragments, and the names of its variables and of the operation.
func (e *Executor) RenderGroup(op *graphql.OperationContext) (key string, ofViewer bool) {
	if op.Operation.Operation != ast.Subscription {
		return "", false
	}
	f := form{schema: e.schema, variables: op.Variables}
	if f.selections(op.Operation.SelectionSet, true) != nil {
		return "", true
	}
	sum := sha256.Sum256(f.text)
	return string(sum[:]), f.ofViewer
}

// form writes an operation out: variables by their values, fragments in place.
type form struct {
	schema    *ast.Schema
	variables map[string]any
	text      []byte
	ofViewer  bool
}

func (f *form) selections(set ast.SelectionSet, root bool) error {
	f.text = append(f.text, '{')
	for _, selection := range set {
		if len(f.text) > maxForm {
			return errFormTooLong
		}
		var err error
		switch selection := selection.(type) {
		case *ast.Field:
			err = f.field(selection, root)
		case *ast.InlineFragment:
			err = f.fragment(selection.TypeCondition, selection.Directives, selection.SelectionSet, root)
		case *ast.FragmentSpread:
			definition := selection.Definition
			err = f.fragment(definition.TypeCondition, selection.Directives, definition.SelectionSet, root)
		}
		if err != nil {
			return err
		}
	}
	f.text = append(f.text, '}')
	return nil
}

// field writes a field. Those of the root were answered when the subscription was
// routed.
func (f *form) field(field *ast.Field, root bool) error {
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
	if len(field.SelectionSet) == 0 {
		f.text = append(f.text, ' ')
		return nil
	}
	return f.selections(field.SelectionSet, false)
}

func (f *form) fragment(on string, directives ast.DirectiveList, set ast.SelectionSet, root bool) error {
	f.text = append(f.text, "..."...)
	f.text = append(f.text, on...)
	if err := f.directives(directives); err != nil {
		return err
	}
	return f.selections(set, root)
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

func (f *form) values(arguments map[string]any) error {
	text, err := json.Marshal(arguments) // sorted by name
	f.text = append(f.text, text...)
	return err
}

// isOfViewer reports whether the field, or that of any type it may stand for, is marked.
func (f *form) isOfViewer(field *ast.Field) bool {
	if field.Definition.Directives.ForName(viewerDependent) != nil {
		return true
	}
	parent := field.ObjectDefinition
	if parent == nil || !parent.IsAbstractType() {
		return false
	}
	for _, possible := range f.schema.PossibleTypes[parent.Name] {
		if d := possible.Fields.ForName(field.Name); d != nil && d.Directives.ForName(viewerDependent) != nil {
			return true
		}
	}
	return false
}
