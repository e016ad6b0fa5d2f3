package ratelimit

import "context"

type budgetKey struct{}

// WithBudgetReport returns a context in which [ReportBudget] calls report. A transport that
// reports budgets to its clients wraps the context of an operation in it.
func WithBudgetReport(ctx context.Context, report func(Budget)) context.Context {
	return context.WithValue(ctx, budgetKey{}, report)
}

// ReportBudget reports to the transport how much its client may still read.
func ReportBudget(ctx context.Context, budget Budget) {
	if report, ok := ctx.Value(budgetKey{}).(func(Budget)); ok {
		report(budget)
	}
}

type queriesKey struct{}

// WithQueriesOnly returns a context of a request that may only read, by the rules of its
// transport. Its mutations are refused, and therefore not counted.
func WithQueriesOnly(ctx context.Context) context.Context {
	return context.WithValue(ctx, queriesKey{}, true)
}

// QueriesOnly reports whether a request may only read.
func QueriesOnly(ctx context.Context) bool { return ctx.Value(queriesKey{}) != nil }
