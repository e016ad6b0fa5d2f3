package graph

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/graph/exec"
	"retwis/graph/limits"
	"retwis/graph/loaders"
	"retwis/internal/retwis"
)

// Options say how operations are run.
type Options struct {
	Log           *slog.Logger            // where internal errors go
	Introspection bool                    // whether clients may read the schema, and get suggestions for what they mistype
	Documents     limits.DocumentStore    // keeps persisted documents; nil keeps them in this process only
	Trusted       limits.TrustedDocuments // documents known in advance
	Unplanned     bool                    // leave all operations to gqlgen's own execution: to compare with

	// For tests that compare.
	resolvers ResolverRoot // in the place of the resolver
	schema    *ast.Schema  // that of Schema, where it is there already
}

// Executor runs the operations of every transport, at the same time. Deadlines are for
// the transport to set; the parser and the coercion of variables may panic.
type Executor struct {
	*executor.Executor
	schema       *ast.Schema
	resolvers    ResolverRoot
	exec         *exec.Schema
	unplanned    bool
	eventSources map[string]sourceFunc
	present      graphql.ErrorPresenterFunc
	limiter      limits.Limiter
	persisted    *limits.Persisted
	sources      *loaders.Sources
}

var _ graphql.GraphExecutor = (*Executor)(nil)

// cachedDocumentBytes bounds the memory of cached documents and their plans.
const cachedDocumentBytes = 32 << 20

// NewExecutor returns an executor of the API that the resolver serves.
func NewExecutor(resolver *Resolver, options Options) *Executor {
	documents := exec.NewDocumentCache(cachedDocumentBytes)
	schema := options.schema
	if schema == nil {
		schema = Schema()
	}
	generated := newSchema(schema, cmp.Or[ResolverRoot](options.resolvers, resolver))
	planned := exec.NewSchema(exec.Config{
		Generated:  generated,
		Types:      newTypes(generated.Resolvers),
		NewContext: func(op *graphql.OperationContext) any { return newExecutionContext(op, generated, nil) },
		Hooks:      hooks(),
		Documents:  documents,
	})
	e := executor.New(planned)
	if options.Unplanned {
		e = executor.New(generated)
	}
	present := ErrorPresenter(options.Log)
	e.SetErrorPresenter(present)
	e.SetRecoverFunc(recoverPanic)
	e.SetParserTokenLimit(limits.MaxTokens)
	e.SetQueryCache(documents)
	persisted := limits.NewPersisted(options.Documents, options.Trusted, options.Log)
	e.Use(persisted)
	e.Use(limits.DocumentBounds{Accepted: documents})
	e.Use(limits.OperationCost{})
	if options.Introspection {
		e.Use(extension.Introspection{})
	} else {
		e.Use(limits.NoIntrospection{})
		e.SetDisableSuggestion(true)
		e.SetDefaultRulesFn(limits.RulesWithoutSuggestions)
	}
	e.Use(rootSpans{})
	loaderSources := resolver.sources()
	e.Use(scope{loaderSources})
	e.Use(limits.RateLimit{Limiter: resolver.Limits})
	return &Executor{
		Executor:     e,
		schema:       schema,
		resolvers:    generated.Resolvers,
		exec:         planned,
		unplanned:    options.Unplanned,
		eventSources: resolver.eventSources(),
		present:      present,
		limiter:      resolver.Limits,
		persisted:    persisted,
		sources:      loaderSources,
	}
}

// errRateLimited stands for all failures of that code.
var errRateLimited = &retwis.Error{Code: retwis.CodeRateLimited}

// Schema returns the schema without @defer, which gqlgen adds: no transport here
// sends a response in parts.
func Schema() *ast.Schema {
	schema := gqlparser.MustLoadSchema(sources...)
	delete(schema.Directives, "defer")
	return schema
}

// newSchema returns what generated code executes operations with.
func newSchema(schema *ast.Schema, resolvers ResolverRoot) *executableSchema {
	return NewExecutableSchema(Config{Schema: schema, Resolvers: resolvers}).(*executableSchema) //nolint:forcetypeassert // it is generated so
}

// CreateOperationContext parses, checks and counts an operation. Of very many errors it
// returns the first, and long ones it shortens.
func (e *Executor) CreateOperationContext(
	ctx context.Context, params *graphql.RawParams,
) (*graphql.OperationContext, gqlerror.List) {
	client := limits.ClientOf(ctx)
	if err := e.limiter.Check(client); err != nil {
		return &graphql.OperationContext{}, gqlerror.List{gqlerror.Wrap(err)}
	}
	sent := params.Query != ""
	op, errs := e.Executor.CreateOperationContext(ctx, params)
	if len(errs) == 0 && sent {
		e.persisted.Keep(ctx, params)
	}
	if len(errs) > 0 && !errors.Is(errs[0], errRateLimited) {
		e.limiter.Spend(client, limits.RefusedCost)
	}
	return op, inFewWords(errs)
}

// scope gives every response loaders of its own: those of an HTTP request would live as
// long as a websocket.
type scope struct{ sources *loaders.Sources }

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

// InterceptResponse runs once per query or mutation.
func (s scope) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	return next(s.sources.With(ctx, loaders.ListWait))
}

// InterceptRootField gives each field of a mutation loaders of its own: they run one
// after the other, and must not see what was true before.
func (s scope) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	if graphql.GetOperationContext(ctx).Operation.Operation == ast.Mutation {
		ctx = s.sources.With(ctx, loaders.ListWait)
	}
	return next(ctx)
}

// viewerDependent is the directive of fields whose value may depend on the viewer.
const viewerDependent = "viewerDependent"

// RenderGroup returns a key that is equal for subscriptions that render every event to the same bytes for the same
// viewer, and whether the bytes may differ between viewers. The key is empty for operations that share nothing.
func (e *Executor) RenderGroup(op *graphql.OperationContext) (key string, ofViewer bool) {
	return exec.RenderGroup(e.schema, viewerDependent, op)
}
