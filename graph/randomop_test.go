package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// choices are the decisions from which a random operation is generated. When they are used up, they
// return 0, which selects the simplest option.
type choices struct{ rest []byte }

// of returns a number below n.
func (c *choices) of(n int) int {
	if len(c.rest) == 0 || n < 2 {
		return 0
	}
	v := int(c.rest[0])
	c.rest = c.rest[1:]
	if n > 256 && len(c.rest) > 0 {
		v = v<<8 | int(c.rest[0])
		c.rest = c.rest[1:]
	}
	return v % n
}

// outOf returns true with a probability of n percent.
func (c *choices) outOf100(n int) bool { return c.of(100) >= 100-n }

func pick[T any](c *choices, from []T) T { return from[c.of(len(from))] }

// randomOperation is an operation that is almost always valid, with variables for several
// requests.
type randomOperation struct {
	*choices
	schema *ast.Schema
	values map[string][]string // literals for arguments, by type name

	text      string
	name      string
	fragments []*randomFragment
	declared  []string            // variables
	variables []map[string]string // JSON values by name, for each request
	fields    int
}

type randomFragment struct{ name, on, text string }

const (
	randomRequests  = 3
	maxRandomDepth  = 8
	maxRandomFields = 40
)

func newRandomOperation(c *choices, schema *ast.Schema, kind ast.Operation, values map[string][]string) *randomOperation {
	o := &randomOperation{choices: c, schema: schema, values: values}
	for range randomRequests {
		o.variables = append(o.variables, map[string]string{})
	}
	root := map[ast.Operation]*ast.Definition{
		ast.Query: schema.Query, ast.Mutation: schema.Mutation, ast.Subscription: schema.Subscription,
	}[kind]
	var body string
	if kind == ast.Subscription {
		body = "{ " + o.field(root.Fields.ForName("timelineEvents"), maxRandomDepth) + " }"
	} else {
		body = o.selections(root, maxRandomDepth)
	}
	o.text = string(kind)
	if o.outOf100(30) {
		o.name = "Random"
		o.text += " " + o.name
	}
	if len(o.declared) > 0 {
		o.text += "(" + strings.Join(o.declared, ", ") + ")"
	}
	o.text += " " + body
	for _, f := range o.fragments {
		o.text += fmt.Sprintf("\nfragment %s on %s %s", f.name, f.on, f.text)
	}
	if o.name != "" && o.outOf100(30) {
		o.text += "\nquery Other { __typename }"
	}
	return o
}

func (o *randomOperation) selections(of *ast.Definition, depth int) string {
	var parts []string
	for range 1 + o.of(5) {
		parts = append(parts, o.selection(of, depth))
		if o.fields >= maxRandomFields {
			break
		}
	}
	return "{ " + strings.Join(parts, " ") + " }"
}

func (o *randomOperation) selection(of *ast.Definition, depth int) string {
	o.fields++
	var fields []*ast.FieldDefinition
	for _, f := range of.Fields {
		isLeaf := o.schema.Types[f.Type.Name()].IsLeafType()
		if !strings.HasPrefix(f.Name, "__") && (isLeaf || depth > 0 && o.fields < maxRandomFields) {
			fields = append(fields, f)
			if !isLeaf {
				fields = append(fields, f, f) // prefer nested fields
			}
		}
	}
	switch {
	case len(fields) == 0, o.outOf100(8):
		return o.alias("__typename") + "__typename" + o.directives()
	case depth > 0 && o.fields < maxRandomFields && o.outOf100(15):
		on := pick(o.choices, o.conditions(of))
		condition := ""
		if on != of || o.outOf100(50) {
			condition = " on " + on.Name
		}
		return "..." + condition + o.directives() + " " + o.selections(on, depth-1)
	case depth > 0 && o.fields < maxRandomFields && o.outOf100(15):
		return "..." + o.fragment(of, depth-1) + o.directives()
	default:
		return o.field(pick(o.choices, fields), depth)
	}
}

// conditions returns the types that a fragment within the type may be on.
func (o *randomOperation) conditions(of *ast.Definition) []*ast.Definition {
	types := []*ast.Definition{of}
	for _, name := range of.Interfaces {
		types = append(types, o.schema.Types[name])
	}
	if of.IsAbstractType() {
		types = append(types, o.schema.GetPossibleTypes(of)...)
	}
	return types
}

// fragment returns the name of a fragment that can be spread on the type.
func (o *randomOperation) fragment(of *ast.Definition, depth int) string {
	fitting := o.conditions(of)
	if o.outOf100(50) {
		for _, f := range o.fragments {
			if slices.Contains(fitting, o.schema.Types[f.on]) {
				return f.name
			}
		}
	}
	on := pick(o.choices, fitting)
	text := o.selections(on, depth)
	f := &randomFragment{fmt.Sprintf("F%d", len(o.fragments)), on.Name, text}
	o.fragments = append(o.fragments, f) // added last, so that it cannot spread itself
	return f.name
}

func (o *randomOperation) field(f *ast.FieldDefinition, depth int) string {
	text := o.alias(f.Name) + f.Name
	var arguments []string
	for _, a := range f.Arguments {
		chance := 15
		if a.Name == "first" {
			chance = 90 // short pages keep the operation within the cost limit
		}
		if a.Type.NonNull || o.outOf100(chance) {
			arguments = append(arguments, a.Name+": "+o.value(a.Type, true))
		}
	}
	if len(arguments) > 0 && !o.outOf100(5) {
		text = fmt.Sprintf("a%d: %s", o.fields, f.Name) // avoids conflicts between fields with different arguments
	}
	if len(arguments) > 0 {
		text += "(" + strings.Join(arguments, ", ") + ")"
	}
	text += o.directives()
	if of := o.schema.Types[f.Type.Name()]; !of.IsLeafType() {
		text += " " + o.selections(of, depth-1)
	}
	return text
}

// alias returns a response name. There are few names, so that some fields are merged.
func (o *randomOperation) alias(field string) string {
	if !o.outOf100(20) {
		return ""
	}
	return field + strconv.Itoa(o.of(3)) + ": "
}

func (o *randomOperation) directives() string {
	if !o.outOf100(12) {
		return ""
	}
	name := pick(o.choices, []string{"include", "skip", "include"})
	value := pick(o.choices, []string{"true", "false"})
	if o.outOf100(60) {
		value = o.variable("Boolean!", []string{"true", "false"})
	}
	return fmt.Sprintf(" @%s(if: %s)", name, value)
}

// variable declares a variable with a value for each request, and returns its name.
func (o *randomOperation) variable(typ string, values []string) string {
	name := fmt.Sprintf("v%d", len(o.declared))
	declared := "$" + name + ": " + typ
	optional := !strings.HasSuffix(typ, "!")
	if optional && o.outOf100(20) {
		declared += " = " + pick(o.choices, values)
	}
	o.declared = append(o.declared, declared)
	for _, request := range o.variables {
		if optional && o.outOf100(20) {
			continue
		}
		request[name] = pick(o.choices, values)
		if optional && o.outOf100(10) {
			request[name] = "null"
		}
	}
	return "$" + name
}

// value returns a literal or a variable for an input of a type.
func (o *randomOperation) value(t *ast.Type, top bool) string {
	if !t.NonNull && o.outOf100(10) {
		return "null"
	}
	definition := o.schema.Types[t.Name()]
	switch {
	case t.Elem != nil:
		var elements []string
		for range o.of(4) {
			elements = append(elements, o.value(t.Elem, false))
		}
		return "[" + strings.Join(elements, ", ") + "]"
	case definition.Kind == ast.InputObject:
		var fields []string
		for _, f := range definition.Fields {
			if f.Type.NonNull || o.outOf100(50) {
				fields = append(fields, f.Name+": "+o.value(f.Type, false))
			}
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
	values := o.values[t.Name()]
	if definition.Kind == ast.Enum {
		var names []string
		for _, v := range definition.EnumValues {
			names = append(names, v.Name)
		}
		return pick(o.choices, names)
	}
	if top && o.outOf100(40) {
		return o.variable(t.String(), values)
	}
	return pick(o.choices, values)
}
