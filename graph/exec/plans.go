package exec

import (
	"context"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Bounds of the plans of one operation.
const (
	maxConditions = 16 // variables that @skip and @include read
	maxVariants   = 8  // combinations of their values that are kept
)

// plans are the plans of one operation, one for each combination of the variables that its @skip and @include read.
type plans struct {
	conditions []string

	mu       sync.Mutex
	variants map[uint]*Plan // nil if gqlgen executes the operation
}

func newPlans(op *graphql.OperationContext) *plans {
	found := conditions{fragments: map[*ast.FragmentDefinition]bool{}}
	found.selections(op.Operation.SelectionSet)
	return &plans{conditions: found.names, variants: map[uint]*Plan{}}
}

// get returns the plan for a request, and about how many more bytes the plans take now. If all variants are in use, a new one
// replaces any other: nobody can keep others from having their plans kept.
func (p *plans) get(ctx context.Context, op *graphql.OperationContext, by *planner) (plan *Plan, kept int) {
	if len(p.conditions) > maxConditions {
		return &Plan{refused: by.tooLarge}, 0
	}
	variant := uint(0)
	for i, name := range p.conditions {
		value, ok := op.Variables[name].(bool)
		if !ok {
			return &Plan{refused: by.nullCondition(name)}, 0
		}
		if value {
			variant |= 1 << i
		}
	}
	if plan, ok := p.variant(variant); ok {
		return plan, 0
	}
	done, err := by.hooks.Plan(ctx, selections(op.Operation.SelectionSet, smallPlan) < smallPlan)
	if err != nil {
		return &Plan{refused: err}, 0
	}
	fields := 0
	defer func() { done(fields) }()
	if plan, ok := p.variant(variant); ok {
		return plan, 0 // another request has made it meanwhile
	}
	plan, fields, err = by.makePlan(op) // without the lock: requests for other variants go on
	if err != nil {
		plan = nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	kept = plan.bytes() - p.variants[variant].bytes()
	if _, ok := p.variants[variant]; !ok && len(p.variants) == maxVariants {
		for other, replaced := range p.variants {
			kept -= replaced.bytes()
			delete(p.variants, other)
			break
		}
	}
	p.variants[variant] = plan
	return plan, kept
}

func (p *plans) variant(number uint) (*Plan, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	plan, ok := p.variants[number]
	return plan, ok
}

// bytes returns about how many bytes a plan takes, 0 if it is nil.
func (p *Plan) bytes() int {
	if p == nil {
		return 0
	}
	return bytesPerField * p.fields
}

// conditions collects the variables that decide which fields an operation selects.
type conditions struct {
	names     []string
	fragments map[*ast.FragmentDefinition]bool
}

func (c *conditions) selections(set ast.SelectionSet) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			c.directives(selection.Directives)
			c.selections(selection.SelectionSet)
		case *ast.InlineFragment:
			c.directives(selection.Directives)
			c.selections(selection.SelectionSet)
		case *ast.FragmentSpread:
			c.directives(selection.Directives)
			if !c.fragments[selection.Definition] {
				c.fragments[selection.Definition] = true
				c.selections(selection.Definition.SelectionSet)
			}
		}
	}
}

func (c *conditions) directives(directives ast.DirectiveList) {
	for _, d := range directives {
		for _, argument := range d.Arguments {
			name := argument.Value.Raw
			if argument.Value.Kind == ast.Variable && !slices.Contains(c.names, name) {
				c.names = append(c.names, name)
			}
		}
	}
}

// smallPlan is the number of selections, with fragments expanded, below which a plan takes less than a millisecond. A selection of
// an interface is planned for each of its types.
const smallPlan = 100

// selections counts the selections of a set, with fragments expanded, but stops at a limit.
func selections(set ast.SelectionSet, limit int) int {
	n := 0
	for _, selection := range set {
		if n++; n >= limit {
			return n
		}
		switch selection := selection.(type) {
		case *ast.Field:
			n += selections(selection.SelectionSet, limit-n)
		case *ast.InlineFragment:
			n += selections(selection.SelectionSet, limit-n)
		case *ast.FragmentSpread:
			n += selections(selection.Definition.SelectionSet, limit-n)
		}
	}
	return n
}
