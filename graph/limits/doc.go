// Package limits bounds what clients may ask of the GraphQL API: the size of documents, the cost of operations, how often
// clients run them, which documents they may run, and whether they may read the schema.
//
// The executor applies them in this order: [Persisted] finds the document, [ReadDocument] measures it, its cost is taken
// from the budget of the client if it has to be parsed, [Document.Check] refuses what would be expensive to validate, and
// after validation [OperationCost] computes the cost that [CountedCost] returns to the limiter.
package limits
