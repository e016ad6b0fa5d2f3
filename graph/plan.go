package graph

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"retwis/graph/loaders"
	"retwis/internal/retwis"
)

// plan is an operation made ready to be executed: the fields of each selection set
// collected, bound to how they are read, and their names encoded. It holds for all
// requests whose @skip and @include come out the same.
type plan struct {
	root     *selection
	fields   int // in all selections together
	selected loaders.Selection
	length   atomic.Int64 // of the last response, in bytes
}

// selection is what is selected of one object type at one place of an operation.
type selection struct {
	fields   []*plannedField
	resolved []*plannedField // those to be resolved, or with something to be resolved below
}

// plannedField is a field at one place of an operation.
type plannedField struct {
	*fieldType
	typeName  string // of the object it is a field of
	collected graphql.CollectedField
	key       []byte        // its name in the response as JSON, a comma before and a colon after it
	constant  []byte        // its value, of __typename
	up        *plannedField // the field that holds its object; nil at the root
	lists     int           // among the fields above it up to the next one that is resolved, that one included

	quick bool                                   // its resolver waits for nothing
	hint  hint                                   // tells loaders what its resolver is going to ask for; nil where it cannot be told
	of    *selection                             // of an object
	ofAny []variation                            // of an interface
	below bool                                   // something below it is to be resolved
	ahead []func(context.Context, retwis.UserID) // what is read of an author meanwhile
}

// variation is a selection for one of the types that an interface stands for.
type variation struct {
	object *objectType
	*selection
}

// What a plan may hold. Other operations are left to gqlgen.
const (
	maxListsBetween  = 3      // between two fields that are resolved
	maxPlannedFields = 10_000 // fragments that spread each other write out to far more than the document
)

// planner makes plans.
type planner struct {
	schema  *ast.Schema
	objects map[string]*objectType
	quick   map[string]bool
	hints   map[string]hint
	counts  map[string]bool
	ahead   map[string]func(context.Context, retwis.UserID)
}

// planning is the making of one plan.
type planning struct {
	planner
	op *graphql.OperationContext
	*plan
}

// plan returns the plan of an operation, for requests with its conditions. The fields are
// collected by gqlgen itself. The error says why the operation is left to gqlgen.
func (p planner) plan(op *graphql.OperationContext) (*plan, error) {
	root := p.objects[rootName(op.Operation.Operation)]
	if root == nil {
		return nil, fmt.Errorf("there is no type %s", rootName(op.Operation.Operation))
	}
	made := planning{p, op, &plan{selected: loaders.Selection{NoCounts: true}}}
	var err error
	made.root, err = made.selection(root, op.Operation.SelectionSet, nil)
	return made.plan, err
}

func rootName(operation ast.Operation) string {
	switch operation {
	case ast.Mutation:
		return "Mutation"
	case ast.Subscription:
		return "Subscription"
	default:
		return "Query"
	}
}

func (p *planning) selection(object *objectType, set ast.SelectionSet, up *plannedField) (*selection, error) {
	collected := graphql.CollectFields(p.op, set, object.satisfies)
	if p.fields += len(collected); p.fields > maxPlannedFields {
		return nil, errors.New("it has too many fields")
	}
	s := &selection{fields: make([]*plannedField, 0, len(collected))}
	for i, field := range collected {
		f, err := p.field(object, field, up)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			f.key = append(f.key, ',')
		}
		f.key = append(f.key, `"`+field.Alias+`":`...)
		s.fields = append(s.fields, f)
		if f.below || f.fieldType != nil && f.isResolved() {
			s.resolved = append(s.resolved, f)
		}
	}
	return s, nil
}

func (p *planning) field(object *objectType, collected graphql.CollectedField, up *plannedField) (*plannedField, error) {
	f := &plannedField{typeName: object.name, collected: collected, up: up}
	if collected.Name == "__typename" {
		f.constant = []byte(`"` + object.name + `"`)
		return f, nil
	}
	f.fieldType = object.fields[collected.Name]
	switch {
	case f.fieldType == nil:
		return nil, fmt.Errorf("%s.%s is not in the table of types", object.name, collected.Name)
	case f.unsupported != "":
		return nil, fmt.Errorf("%s.%s: %s", object.name, collected.Name, f.unsupported)
	case collected.IsDeferred():
		return nil, fmt.Errorf("%s.%s is deferred", object.name, collected.Name)
	}
	name := object.name + "." + collected.Name
	f.quick, f.hint = p.quick[name], p.hints[name]
	p.selected.NoCounts = p.selected.NoCounts && !p.planner.counts[name]
	p.selected.Mentions = p.selected.Mentions || name == "Post.mentions"
	if f.up != nil && !f.up.isResolved() {
		f.lists = f.up.lists
	}
	if f.up != nil && f.up.isList() {
		f.lists++
	}
	if f.lists > maxListsBetween {
		return nil, fmt.Errorf("%s is below too many lists", name)
	}
	return f, p.children(f)
}

// children plans what is selected of the objects that a field holds.
func (p *planning) children(f *plannedField) error {
	if f.isLeaf() {
		return nil
	}
	if f.object != nil {
		var err error
		f.of, err = p.selection(f.object, f.collected.Selections, f)
		if err != nil {
			return err
		}
		f.below = len(f.of.resolved) > 0
		if f.typeName == "Post" && f.collected.Name == "author" {
			f.ahead = p.aheadIn(f.of)
		}
		return nil
	}
	for _, possible := range p.schema.GetPossibleTypes(p.schema.Types[f.collected.Definition.Type.Name()]) {
		object := p.objects[possible.Name]
		if object == nil {
			return fmt.Errorf("there is no type %s", possible.Name)
		}
		s, err := p.selection(object, f.collected.Selections, f)
		if err != nil {
			return err
		}
		f.ofAny = append(f.ofAny, variation{object, s})
		f.below = f.below || len(s.resolved) > 0
	}
	return nil
}

// aheadIn returns what can be read of the users that are selected before they are there.
func (p *planning) aheadIn(users *selection) (ahead []func(context.Context, retwis.UserID)) {
	for _, f := range users.fields {
		if read := p.ahead[f.collected.Name]; read != nil {
			ahead = append(ahead, read)
		}
	}
	return ahead
}

// find returns what is selected of a value of the field, and the object to select it
// from. Without a selection that is nil for null, or a value of an unexpected type.
func (f *plannedField) find(v any) (*selection, any) {
	if v == nil {
		return nil, nil
	}
	if f.of != nil {
		return f.of, v
	}
	object, v := f.concrete(v)
	if object == nil {
		return nil, v
	}
	if v == nil {
		return nil, nil
	}
	for i := range f.ofAny {
		if f.ofAny[i].object == object {
			return f.ofAny[i].selection, v
		}
	}
	return nil, v
}
