// Package exec executes GraphQL operations by plans.
//
// A plan is a prepared operation. For each selection set it lists the fields, with the function that reads or resolves
// each and its encoded name. Plans are made once per document and kept with it. gqlgen still parses,
// validates, reads arguments, generates the interfaces of resolvers, and executes introspection, and operations that have no plan.
//
// The package does not depend on the schema. The command in generate writes the table of types ([ObjectType]) and also
// runs gqlgen. Callers pass special rules for fields as [Hooks].
package exec
