package exec

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"retwis/internal/netpoll"
)

// Plan is an operation made ready to run. It is valid for all requests with the same results of @skip and @include.
type Plan struct {
	root    *selection
	fields  int   // of all selections
	refused error // why the operation is not executed
	flags   Flags
	length  atomic.Int64 // of the last response, in bytes
}

// selection is the set of fields selected of one object type at one position of an operation.
type selection struct {
	fields   []*plannedField
	resolved []*plannedField // fields that are resolved, or lead to one that is
}

// plannedField is a field at one position of an operation.
type plannedField struct {
	*FieldType
	typeName  string // of the object that has the field
	collected graphql.CollectedField
	key       []byte        // `"name":`, after a comma if it is not the first of its object
	constant  []byte        // the value of __typename
	inspects  bool          // it is a field of introspection
	up        *plannedField // the field that holds the object; nil at the root
	lists     int           // number of lists among the fields above, up to and including the next resolved one

	immediate bool
	announce  func(ctx context.Context, object any)
	prefetch  []func(ctx context.Context, object any)
	of        *selection      // of an object
	ofAny     []typeSelection // of an interface
	leads     bool            // to a field that is resolved
}

// typeSelection is the selection of one of the types that implement an interface.
type typeSelection struct {
	object *ObjectType
	*selection
}

// Bounds of a plan. Other operations are refused: fragments that spread each other expand to far more than the document, and
// gqlgen, which executes operations without a plan, would collect their fields for each object.
const (
	maxListsBetween  = 3 // two resolved fields
	maxPlannedFields = 10_000
	plannedAtOnce    = 250 // fields that are planned before others have the core: it takes up to half a millisecond
	maxVisits        = 50_000
)

// VisitsPerField is how many [Visits] take as long as planning a field.
const VisitsPerField = 5

var errTooLarge = errors.New("the operation exceeds the bounds of a plan")

// planner makes plans.
type planner struct {
	schema *ast.Schema
	types  map[string]*ObjectType
	hooks  Hooks

	tooLarge      error
	tooMany       error
	nullCondition func(variable string) error
}

// planning is the state of making one plan.
type planning struct {
	*planner
	op     *graphql.OperationContext
	plan   *Plan
	visits int // selections that were visited to collect the fields
	atOnce int // fields that were planned since others had the core
}

// makePlan returns the plan of an operation, and for how many fields the work counts. gqlgen itself collects the fields. The error says why
// the operation cannot have a plan, and gqlgen has to execute it.
func (p *planner) makePlan(op *graphql.OperationContext) (plan *Plan, fields int, err error) {
	root := p.types[rootName(op.Operation.Operation)]
	if root == nil {
		return nil, 0, fmt.Errorf("there is no type %s", rootName(op.Operation.Operation))
	}
	made := planning{planner: p, op: op, plan: &Plan{}}
	made.plan.root, err = made.selection(root, op.Operation.SelectionSet, nil)
	fields = made.plan.fields + made.visits/VisitsPerField
	if errors.Is(err, errTooLarge) {
		return &Plan{refused: p.tooLarge}, fields, nil
	}
	return made.plan, fields, err
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

func (p *planning) selection(object *ObjectType, set ast.SelectionSet, up *plannedField) (*selection, error) {
	if p.visits += Visits(set); p.visits > maxVisits {
		return nil, errTooLarge
	}
	collected := graphql.CollectFields(p.op, set, object.Satisfies)
	if p.plan.fields += len(collected); p.plan.fields > maxPlannedFields {
		return nil, errTooLarge
	}
	if p.atOnce += len(collected); p.atOnce > plannedAtOnce {
		p.atOnce = 0
		netpoll.Yield()
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
		if f.leads || f.FieldType != nil && f.isResolved() {
			s.resolved = append(s.resolved, f)
		}
	}
	return s, nil
}

func (p *planning) field(object *ObjectType, collected graphql.CollectedField, up *plannedField) (*plannedField, error) {
	f := &plannedField{typeName: object.Name, collected: collected, up: up}
	if collected.Name == "__typename" {
		f.constant = []byte(`"` + object.Name + `"`)
		return f, nil
	}
	if up == nil && isIntrospection(collected.Name) {
		f.inspects = true
		return f, nil
	}
	f.FieldType = object.Fields[collected.Name]
	name := object.Name + "." + collected.Name
	switch {
	case f.FieldType == nil:
		return nil, fmt.Errorf("%s is not in the table of types", name)
	case f.Unsupported != "":
		return nil, fmt.Errorf("%s: %s", name, f.Unsupported)
	case collected.IsDeferred():
		return nil, fmt.Errorf("%s is deferred", name)
	}
	f.immediate, f.announce = p.hooks.Immediate[name], p.hooks.Announce[name]
	p.plan.flags |= p.hooks.Flags[name]
	if f.up != nil && !f.up.isResolved() {
		f.lists = f.up.lists
	}
	if f.up != nil && f.up.isList() {
		f.lists++
	}
	if f.lists > maxListsBetween {
		return nil, errTooLarge
	}
	return f, p.children(f, p.hooks.Prefetch[name])
}

// children plans the selections of the objects that a field holds.
func (p *planning) children(f *plannedField, prefetch map[string]func(context.Context, any)) error {
	if f.isLeaf() {
		return nil
	}
	if f.Object != nil {
		var err error
		f.of, err = p.selection(f.Object, f.collected.Selections, f)
		if err != nil {
			return err
		}
		f.leads = len(f.of.resolved) > 0
		for _, inner := range f.of.fields {
			if read := prefetch[inner.collected.Name]; read != nil {
				f.prefetch = append(f.prefetch, read)
			}
		}
		return nil
	}
	for _, possible := range p.schema.GetPossibleTypes(p.schema.Types[f.collected.Definition.Type.Name()]) {
		object := p.types[possible.Name]
		if object == nil {
			return fmt.Errorf("there is no type %s", possible.Name)
		}
		s, err := p.selection(object, f.collected.Selections, f)
		if err != nil {
			return err
		}
		f.ofAny = append(f.ofAny, typeSelection{object, s})
		f.leads = f.leads || len(s.resolved) > 0
	}
	return nil
}

// Visits returns how many selections of a set gqlgen visits at most to collect its fields: those of fragments too, each of which
// it visits once. It visits the fields of a fragment again to merge them with those around it.
func Visits(set ast.SelectionSet) int {
	n, _ := visits(set, map[*ast.FragmentDefinition]bool{})
	return n
}

// visits also returns the number of fields, those of fragments included.
func visits(set ast.SelectionSet, visited map[*ast.FragmentDefinition]bool) (n, fields int) {
	n = len(set)
	for _, selection := range set {
		var inner ast.SelectionSet
		switch selection := selection.(type) {
		case *ast.Field:
			fields++
			continue
		case *ast.InlineFragment:
			inner = selection.SelectionSet
		case *ast.FragmentSpread:
			if visited[selection.Definition] {
				continue
			}
			visited[selection.Definition] = true
			inner = selection.Definition.SelectionSet
		}
		visited, found := visits(inner, visited)
		n += visited + found
		fields += found
	}
	return n, fields
}

// find returns the selection of a value of the field, and the object to select from. The selection is nil if the value is
// null, which makes the object nil too, or has a type that is not in the schema.
func (f *plannedField) find(v any) (*selection, any) {
	if v == nil {
		return nil, nil
	}
	if f.of != nil {
		return f.of, v
	}
	object, v := f.Concrete(v)
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
