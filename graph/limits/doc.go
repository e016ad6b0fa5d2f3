// Package limits bounds what clients may ask of the GraphQL API: the size of documents, the cost of operations, how often
// clients run them, which documents they may run, and whether they may read the schema.
//
// Each bound is an extension of gqlgen's executor. The order of the extensions matters: [Persisted] finds the document,
// [DocumentBounds] refuses what would be expensive to validate, and after validation [OperationCost] computes the cost
// that [RateLimit] takes from the client's budget.
package limits
