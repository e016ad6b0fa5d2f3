package limits

import (
	"context"
	"encoding/json"
	"math"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/cost"
	"retwis/internal/retwis"
)

// MaxIDs is the number of ids that one field may ask for.
const MaxIDs = 100

// MaxAncestors is the number of ancestors of a reply that one field returns at most.
const MaxAncestors = 1 + retwis.MaxAncestors

// MaxFoundUsers is the number of users that a people search returns at most.
const MaxFoundUsers = 20

// maxCost bounds the cost of an operation, which is about the number of fields in its largest possible response.
const maxCost = 10_000

// Costs of parts of a response, besides the 1 of every field.
const (
	textCost          = 3     // a text that a user wrote, beyond the 1 of the field: the excess is charged by its bytes
	pageCost          = 10    // a page of a connection is a read of its own
	mutationCost      = 500   // a write
	smallMutationCost = 100   // a write whose work in workers is small
	listCost          = 2_500 // the memory of a timeline, up to 63 KB: others pay for 25 bytes with a point
	passwordCost      = 3_000 // the hash of a password
	schemaCost        = 1_000 // introspection is slow
	introspectionList = 4     // assumed length of each list in an introspection query
	entitiesPerText   = 4     // mentions and links: many texts have none, a few have dozens
	nameCost          = 4     // looking up the usernames in a text
	searchCost        = 50    // every partition is asked
	sessionsPerViewer = 10    // the maximum is 100

	valuesPerPoint = 20 // of variables and in the document, which are validated or evaluated for each request
)

// costOfMutation returns the price of a mutation, and the part of it for its work in workers. The rest is for a hash, or for memory.
func costOfMutation(name string) (price, later int) {
	switch name {
	case "likePost", "unlikePost", "createPost", "repostPost":
		return smallMutationCost, smallMutationCost
	case "createList":
		return listCost, mutationCost
	case "login", "register", "deleteAccount":
		return passwordCost, 0
	case "changePassword":
		return 2 * passwordCost, 0 // the old one and the new one
	}
	return mutationCost, mutationCost
}

// Names of the cost, and of its part for work that no meter sees, among the statistics of an operation.
const (
	costKey      = "cost"
	unmeteredKey = "unmeteredCost"
)

// OperationCost is a gqlgen extension that computes the cost of each operation, for [Cost], and refuses operations that
// cost too much. It runs on valid documents.
type OperationCost struct{}

// ExtensionName implements [graphql.HandlerExtension].
func (OperationCost) ExtensionName() string { return "OperationCost" }

// Validate implements [graphql.HandlerExtension].
func (OperationCost) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext implements [graphql.OperationContextMutator].
func (OperationCost) MutateOperationContext(_ context.Context, op *graphql.OperationContext) *gqlerror.Error {
	c := calculator{variables: op.Variables, fragments: map[*ast.FragmentDefinition]int{}}
	fields := c.selections(op.Operation.SelectionSet)
	values := c.literals + cost.CountValues(op.Variables, math.MaxInt) // those of default values are among the variables
	for _, variable := range op.Operation.VariableDefinitions {
		c.literal(variable.DefaultValue)
	}
	values = values/valuesPerPoint + cost.Received(c.literalBytes)
	total := saturate(cost.PerOperation + values + fields)
	op.Stats.SetExtension(costKey, total)
	op.Stats.SetExtension(unmeteredKey, values+c.introspection)
	if total > maxCost {
		return tooComplex("the operation asks for too much: it costs more than %d; ask for smaller pages, or fewer fields", maxCost)
	}
	return nil
}

// CountUndeclared adds the price of the variables that an operation does not declare to its cost: they were decoded like the others.
func CountUndeclared(op *graphql.OperationContext, given map[string]any) {
	values := 0
	for name, value := range given {
		if _, declared := op.Variables[name]; !declared {
			values += cost.CountValues(value, math.MaxInt)
		}
	}
	unmetered, _ := op.Stats.GetExtension(unmeteredKey).(int)
	op.Stats.SetExtension(costKey, Cost(op)+values/valuesPerPoint)
	op.Stats.SetExtension(unmeteredKey, unmetered+values/valuesPerPoint)
}

// Cost returns the cost that [OperationCost] computed for an operation.
func Cost(op *graphql.OperationContext) int {
	total, _ := op.Stats.GetExtension(costKey).(int)
	return total
}

// Price returns what an operation is charged before it runs. [OperationCost] must have computed its cost. No meter sees the
// work of values, introspection and mutations, so their costs are due in full.
func Price(op *graphql.OperationContext) cost.Price {
	unmetered, _ := op.Stats.GetExtension(unmeteredKey).(int)
	price := cost.Price{Charged: Cost(op), Fixed: cost.PerOperation + unmetered}
	if op.Operation.Operation == ast.Mutation {
		for _, field := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Mutation"}) {
			fixed, later := costOfMutation(field.Name)
			price.Covered += fixed
			price.Later += later
		}
		price.Fixed += price.Covered
	}
	return price
}

// calculator computes the cost of the operation of a valid document. It visits each fragment once, however often it is
// spread.
type calculator struct {
	variables     map[string]any
	fragments     map[*ast.FragmentDefinition]int
	introspection int // the part of the cost for reading the schema
	literals      int // values in the document, with those in lists and objects
	literalBytes  int
}

// literal counts a value in the document, which may be nil. A known document is not sent again, but its values are evaluated for each
// request.
func (c *calculator) literal(value *ast.Value) {
	if value == nil || value.Kind == ast.Variable {
		return
	}
	c.literals++
	c.literalBytes += len(value.Raw)
	for _, child := range value.Children {
		c.literal(child.Value)
	}
}

func (c *calculator) selections(set ast.SelectionSet) int {
	total := 0
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			total += c.field(selection)
		case *ast.InlineFragment:
			total += c.selections(selection.SelectionSet)
		case *ast.FragmentSpread:
			total += c.fragment(selection.Definition)
		}
		total = saturate(total)
	}
	return total
}

func (c *calculator) fragment(fragment *ast.FragmentDefinition) int {
	known, ok := c.fragments[fragment]
	if !ok {
		known = c.selections(fragment.SelectionSet)
		c.fragments[fragment] = known
	}
	return known
}

func (c *calculator) field(field *ast.Field) int {
	for _, argument := range field.Arguments {
		c.literal(argument.Value)
	}
	price := saturate(1 + c.elements(field)*c.selections(field.SelectionSet))
	switch {
	case field.ObjectDefinition.Name == "Mutation":
		fixed, _ := costOfMutation(field.Name)
		price += fixed
	case isConnection(field):
		price += pageCost
	case field.ObjectDefinition.Name == "Timeline" && field.Name == "marker":
		price += pageCost
	case field.ObjectDefinition.Name == "Timeline" && field.Name == "unreadCount":
		price += pageCost + c.unread(field)
	case isPeopleSearch(field):
		price += searchCost
	case field.Name == "ancestors", field.Definition.Type.Name() == "Thread":
		price += pageCost
	case field.ObjectDefinition.Name == "User" && field.Name == "bioEntities":
		price += nameCost
	case isText(field):
		price += textCost
	case field.Name == "__schema", field.Name == "__type":
		price += schemaCost
		c.introspection = saturate(c.introspection + price)
	}
	return saturate(price)
}

// elements returns how many times the children of a field may be in the response.
func (c *calculator) elements(field *ast.Field) int {
	switch {
	case isConnection(field):
		for _, name := range []string{"first", "last"} {
			if size, ok := c.argument(field, name); ok {
				return pageSize(size)
			}
		}
		return retwis.DefaultPageSize
	case field.Definition.Type.Elem == nil:
		return 1
	case field.Definition.Arguments.ForName("ids") != nil:
		ids, _ := c.argument(field, "ids")
		if list, ok := ids.([]any); ok {
			return min(len(list), MaxIDs)
		}
		return 1
	case field.ObjectDefinition.Name == "Post" && field.Name == "mentions", field.Definition.Type.Name() == "TextEntity":
		return entitiesPerText
	case field.ObjectDefinition.Name == "Viewer" && field.Name == "sessions":
		return sessionsPerViewer
	case isPeopleSearch(field):
		return MaxFoundUsers
	case field.Definition.Type.Name() == "Ancestor":
		if last, ok := c.argument(field, "last"); ok {
			return min(pageSize(last), MaxAncestors)
		}
		return MaxAncestors
	case field.ObjectDefinition.BuiltIn:
		return introspectionList
	}
	return 1 // edges count with their connection, and userErrors are few and small
}

// unread returns how many posts a count of unread posts reads. A number out of bounds is refused when the field is resolved.
func (c *calculator) unread(field *ast.Field) int {
	if atMost, ok := c.argument(field, "atMost"); ok {
		return pageSize(atMost)
	}
	return retwis.DefaultUnread
}

// argument returns the value of an argument, unless it is absent or null.
func (c *calculator) argument(field *ast.Field, name string) (any, bool) {
	argument := field.Arguments.ForName(name)
	if argument == nil {
		return nil, false
	}
	value, err := argument.Value.Value(c.variables)
	return value, err == nil && value != nil
}

// pageSize returns the size of a page. A size out of bounds is refused when the field is resolved, so it counts as the
// largest possible one.
func pageSize(v any) int {
	n := int64(retwis.MaxPageSize)
	switch v := v.(type) {
	case int:
		n = int64(v)
	case int64:
		n = v
	case json.Number:
		if parsed, err := v.Int64(); err == nil {
			n = parsed
		}
	}
	if n < 1 || n > retwis.MaxPageSize {
		return retwis.MaxPageSize
	}
	return int(n)
}

// isText reports whether a field is a text of many bytes.
func isText(field *ast.Field) bool {
	switch field.ObjectDefinition.Name + "." + field.Name {
	case "Post.text", "User.bio":
		return true
	}
	return false
}

// isConnection reports whether a field is read in pages.
func isConnection(field *ast.Field) bool { return field.Definition.Arguments.ForName("first") != nil }

func isPeopleSearch(field *ast.Field) bool {
	return field.ObjectDefinition.Name == "Query" && field.Name == "findUsers"
}
