package graph

import (
	"context"
	"log/slog"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// Options say how operations are run.
type Options struct {
	Log           *slog.Logger
	Introspection bool          // whether clients may read the schema, and get suggestions for what they mistype
	Timeout       time.Duration // of one query or mutation; 0 is [DefaultTimeout]
}

// DefaultTimeout is how long a query or mutation may take.
const DefaultTimeout = 15 * time.Second

// Bounds of the caches. Longer documents are parsed and validated each time.
const (
	cachedDocuments   = 512
	cachedPersisted   = 1024
	maxCachedDocument = 8 << 10 // bytes
)

// maxErrors is how many errors a refused document gets to see.
const maxErrors = 20

// Executor runs the operations of every transport. It is safe for concurrent use.
type Executor struct {
	*executor.Executor
	present graphql.ErrorPresenterFunc
}

var _ graphql.GraphExecutor = (*Executor)(nil)

// NewExecutor returns an executor of the API that the resolver serves.
func NewExecutor(resolver *Resolver, options Options) *Executor {
	timeout := options.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	documents := shortOnly[*ast.QueryDocument]{
		Cache:  lru.New[*ast.QueryDocument](cachedDocuments),
		length: func(query string, _ *ast.QueryDocument) int { return len(query) },
	}
	persisted := shortOnly[string]{
		Cache:  lru.New[string](cachedPersisted),
		length: func(_, query string) int { return len(query) },
	}

	present := ErrorPresenter(options.Log)
	e := executor.New(newSchema(resolver))
	e.SetErrorPresenter(present)
	e.SetRecoverFunc(recoverPanic)
	e.SetParserTokenLimit(maxTokens)
	e.SetQueryCache(documents)
	e.Use(extension.AutomaticPersistedQuery{Cache: persisted})
	e.Use(documentLimits{accepted: documents})
	e.Use(operationLimits{})
	if options.Introspection {
		e.Use(extension.Introspection{})
	} else {
		e.Use(noIntrospection{})
		e.SetDisableSuggestion(true)
		e.SetDefaultRulesFn(rulesWithoutSuggestions)
	}
	e.Use(scope{resolver: resolver, timeout: timeout})
	return &Executor{e, present}
}

// newSchema returns the schema without @defer, which gqlgen adds: no transport here
// sends a response in parts.
func newSchema(resolver *Resolver) graphql.ExecutableSchema {
	schema := gqlparser.MustLoadSchema(sources...)
	delete(schema.Directives, "defer")
	return NewExecutableSchema(Config{Schema: schema, Resolvers: resolver})
}

// CreateOperationContext parses and checks an operation. A document with very many
// errors gets the first of them.
func (e *Executor) CreateOperationContext(
	ctx context.Context, params *graphql.RawParams,
) (op *graphql.OperationContext, errs gqlerror.List) {
	defer func() {
		// A websocket's reader has no server above it to recover.
		if crash := recover(); crash != nil {
			op = &graphql.OperationContext{}
			errs = gqlerror.List{e.present(ctx, recoverPanic(ctx, crash))}
		}
	}()
	op, errs = e.Executor.CreateOperationContext(ctx, params)
	return op, errs[:min(len(errs), maxErrors)]
}

// scope gives every response loaders of its own, and every query and mutation a
// deadline. Loaders of an HTTP request would live as long as a websocket.
type scope struct {
	resolver *Resolver
	timeout  time.Duration
}

func (scope) ExtensionName() string                   { return "Scope" }
func (scope) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext refuses a subscription to no stream or several, where
// validation lets it pass: behind @skip, or under two aliases.
func (scope) MutateOperationContext(_ context.Context, op *graphql.OperationContext) *gqlerror.Error {
	if op.Operation.Operation != ast.Subscription {
		return nil
	}
	if n := len(graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Subscription"})); n != 1 {
		err := gqlerror.ErrorPosf(op.Operation.Position, "a subscription selects one field, not %d", n)
		errcode.Set(err, errcode.ValidationFailed)
		return err
	}
	return nil
}

// InterceptOperation looks after subscriptions.
func (scope) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	if graphql.GetOperationContext(ctx).Operation.Operation == ast.Subscription {
		return runStream(ctx, next)
	}
	return next(ctx)
}

// InterceptResponse runs once per query or mutation, and once per subscription event.
func (s scope) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	if isSubscription(ctx) {
		return next(s.resolver.withLoaders(ctx, eventWait))
	}
	ctx = s.resolver.withLoaders(ctx, listWait)
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return next(ctx)
}

// InterceptRootField gives each field of a mutation loaders of its own: they run one
// after the other, and must not see what was true before.
func (s scope) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	if graphql.GetOperationContext(ctx).Operation.Operation == ast.Mutation {
		ctx = s.resolver.withLoaders(ctx, listWait)
	}
	return next(ctx)
}

func isSubscription(ctx context.Context) bool {
	if !graphql.HasOperationContext(ctx) {
		return false
	}
	operation := graphql.GetOperationContext(ctx).Operation
	return operation != nil && operation.Operation == ast.Subscription
}

// shortOnly is a cache that does not keep long documents, so that its bound in entries
// is a bound in memory.
type shortOnly[T any] struct {
	graphql.Cache[T]
	length func(key string, value T) int
}

// Add keeps the value if the document is short.
func (c shortOnly[T]) Add(ctx context.Context, key string, value T) {
	if c.length(key, value) <= maxCachedDocument {
		c.Cache.Add(ctx, key, value)
	}
}

// noIntrospection refuses operations that read the schema.
type noIntrospection struct{}

func (noIntrospection) ExtensionName() string                   { return "NoIntrospection" }
func (noIntrospection) Validate(graphql.ExecutableSchema) error { return nil }

func (noIntrospection) MutateOperationContext(_ context.Context, op *graphql.OperationContext) *gqlerror.Error {
	for _, field := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Query"}) {
		if field.Name == "__schema" || field.Name == "__type" {
			err := gqlerror.ErrorPosf(field.Position, "the schema cannot be read here")
			errcode.Set(err, errcode.ValidationFailed)
			return err
		}
	}
	return nil
}

// rulesWithoutSuggestions are the rules of validation that do not answer a mistake with
// names from the schema. Two more of the kind are replaced by the executor itself.
func rulesWithoutSuggestions() *rules.Rules {
	r := rules.NewDefaultRules()
	for _, swap := range []struct{ talkative, silent validator.Rule }{
		{rules.KnownArgumentNamesRule, rules.KnownArgumentNamesRuleWithoutSuggestions},
		{rules.KnownTypeNamesRule, rules.KnownTypeNamesRuleWithoutSuggestions},
		{rules.ValuesOfCorrectTypeRule, rules.ValuesOfCorrectTypeRuleWithoutSuggestions},
	} {
		r.RemoveRule(swap.talkative.Name)
		r.AddRule(swap.silent.Name, swap.silent.RuleFunc)
	}
	return r
}
