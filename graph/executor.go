package graph

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

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
	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
)

// Options configure an executor.
type Options struct {
	Log           *slog.Logger
	Introspection bool                    // clients may read the schema, and errors suggest its names
	Documents     limits.DocumentStore    // keeps persisted documents; nil keeps them in this process only
	Trusted       limits.TrustedDocuments // documents known in advance
	Unplanned     bool                    // disable plans, for comparison with gqlgen
	Shares        *cost.Shares            // of the process; by default of this executor

	// Unavailable returns what clients see of a transient failure, and nil for any other error. By default,
	// no failure does.
	Unavailable func(error) *retwis.Error

	// For tests.
	resolvers ResolverRoot // in place of the resolver
	schema    *ast.Schema  // the result of Schema, to save time
}

// Executor executes the operations of all transports. It is safe for concurrent use. The transport sets deadlines, and
// recovers from panics of the parser and of the coercion of variables.
type Executor struct {
	*executor.Executor
	schema       *ast.Schema
	resolvers    ResolverRoot
	exec         *exec.Schema
	unplanned    bool
	eventSources map[string]sourceFunc
	present      graphql.ErrorPresenterFunc
	limiter      limits.Limiter
	documents    *exec.DocumentCache
	validator    *limits.Validator
	shares       *cost.Shares
	persisted    *limits.Persisted
	sources      *loaders.Sources
	retained     *retained
}

var _ graphql.GraphExecutor = (*Executor)(nil)

// cachedDocumentBytes bounds the memory of cached documents and their plans.
const cachedDocumentBytes = 32 << 20

// NewExecutor returns an executor of the API.
func NewExecutor(resolver *Resolver, options Options) *Executor {
	documents := exec.NewDocumentCache(cachedDocumentBytes, func(ctx context.Context) any { return ratelimit.NetworkOf(limits.ClientOf(ctx).Address) })
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
		TooLarge:   limits.ErrTooLarge,
		TooMany:    limits.ErrTooMany,

		NullCondition: limits.ErrNullCondition,
	})
	e := executor.New(planned)
	if options.Unplanned {
		e = executor.New(generated)
	}
	if options.Unavailable == nil {
		options.Unavailable = func(error) *retwis.Error { return nil }
	}
	shares := options.Shares
	if shares == nil {
		shares = cost.NewShares()
	}
	present := errorPresenter(options.Log, options.Unavailable)
	e.SetErrorPresenter(present)
	e.SetRecoverFunc(recoverPanic)
	e.SetQueryCache(parsedDocuments{})
	persisted := limits.NewPersisted(options.Documents, shares, options.Trusted, options.Log)
	e.Use(limits.OperationCost{})
	if options.Introspection {
		e.Use(extension.Introspection{})
	} else {
		e.Use(limits.NoIntrospection{})
	}
	e.Use(rootSpans{})
	loaderSources := resolver.sources()
	e.Use(scope{loaderSources})
	e.AroundFields(countResolver)
	return &Executor{
		Executor:     e,
		schema:       schema,
		resolvers:    generated.Resolvers,
		exec:         planned,
		unplanned:    options.Unplanned,
		eventSources: resolver.eventSources(),
		present:      present,
		limiter:      resolver.Limits,
		documents:    documents,
		validator:    limits.NewValidator(schema, options.Introspection),
		shares:       shares,
		persisted:    persisted,
		sources:      loaderSources,
		retained:     newRetained(shares),
	}
}

// errRateLimited matches all errors with its code.
var errRateLimited = &retwis.Error{Code: retwis.CodeRateLimited}

// Schema returns the schema of the API. It lacks the directive @defer of gqlgen, because no transport sends incremental
// responses.
func Schema() *ast.Schema {
	schema := gqlparser.MustLoadSchema(sources...)
	delete(schema.Directives, "defer")
	return schema
}

// newSchema returns the generated executable schema.
func newSchema(schema *ast.Schema, resolvers ResolverRoot) *executableSchema {
	return NewExecutableSchema(Config{Schema: schema, Resolvers: resolvers}).(*executableSchema) //nolint:forcetypeassert // generated code returns no other type
}

// CreateOperationContext is [Executor.Prepare] for the transports of gqlgen.
func (e *Executor) CreateOperationContext(
	ctx context.Context, params *graphql.RawParams,
) (*graphql.OperationContext, gqlerror.List) {
	op, _, errs := e.Prepare(ctx, params, false)
	return op, errs
}

// Prepare parses, validates and counts an operation. It limits the number and the length of the errors. With or without
// errors, it returns how much the client may still read; the zero budget if reads have no limit or the operation was not
// counted. If the transport allows queries only, it refuses mutations itself. Prepare does not count them, because a
// forged link to a mutation must not use up the user's budget. In params it replaces the document by its normal form, and clears them if the budget
// refuses the operation.
func (e *Executor) Prepare(
	ctx context.Context, params *graphql.RawParams, queriesOnly bool,
) (*graphql.OperationContext, ratelimit.Budget, gqlerror.List) {
	client := limits.ClientOf(ctx)
	op, charged, errs := e.prepare(ctx, client, params, queriesOnly)
	switch {
	case len(errs) == 0:
	case errors.Is(errs[0], errRateLimited):
		op, *params = &graphql.OperationContext{}, graphql.RawParams{} // the delay keeps nothing: many may be delayed
		e.delay(ctx, client)
	default:
		e.limiter.Spend(client, max(cost.PerRefusal-charged.document, 1))
	}
	return op, charged.budget, shortenErrors(errs)
}

// prepare does the same, but neither delays nor charges a refusal.
func (e *Executor) prepare(
	ctx context.Context, client ratelimit.Client, params *graphql.RawParams, queriesOnly bool,
) (*graphql.OperationContext, charge, gqlerror.List) {
	if err := e.limiter.Check(client); err != nil {
		return &graphql.OperationContext{}, charge{}, gqlerror.List{gqlerror.Wrap(err)}
	}
	bytes := bytesOf(params)
	release, err := e.retained.values(client, bytes)
	if err != nil {
		return &graphql.OperationContext{}, charge{}, gqlerror.List{gqlerror.Wrap(err)}
	}
	defer release()
	op, charged, errs := e.createOperation(ctx, client, params, queriesOnly)
	if len(errs) == 0 {
		op.Stats.SetExtension(retainedKey, bytes)
	}
	return op, charged, errs
}

// Admit refuses a client whose budget of reads is used up.
func (e *Executor) Admit(ctx context.Context) error {
	client := limits.ClientOf(ctx)
	err := e.limiter.Check(client)
	if err != nil {
		e.delay(ctx, client)
	}
	return err //nolint:wrapcheck // for the client
}

// Knows reports whether the document of a request needs neither parsing nor validation, because it was sent in exactly this form before. It does not read
// the store.
func (e *Executor) Knows(params *graphql.RawParams) bool {
	_, known := e.documents.Find(cmp.Or(params.Query, e.persisted.Cached(params)))
	return known
}

// Afford reports whether a client has a budget of reads left, beyond some points.
func (e *Executor) Afford(ctx context.Context) bool { return e.limiter.Affords(limits.ClientOf(ctx)) }

// delay delays the refusal of a client without budget. Refusals cost the client nothing, so without a delay one that never
// stops asking would keep the process busy with them. A client that disconnects and connects again does not shorten the delay: its earlier
// connections count until then.
func (e *Executor) delay(ctx context.Context, client ratelimit.Client) {
	cost.EndTurn(ctx)
	time.Sleep(e.limiter.Delay(client))
}

// Spend charges a client for what a transport did without executing an operation.
func (e *Executor) Spend(ctx context.Context, points int) {
	e.limiter.Spend(limits.ClientOf(ctx), points)
}

// Check fails with RATE_LIMITED if a client has no budget left.
func (e *Executor) Check(client ratelimit.Client) error { return e.limiter.Check(client) }

// Charge charges a client for what it was sent without executing an operation.
func (e *Executor) Charge(client ratelimit.Client, points int) error {
	return e.limiter.Charge(client, points, points)
}

// charge is what a client was charged for a request.
type charge struct {
	document  int              // cost of a new document
	persisted int              // cost of keeping the document, or of finding it by its hash
	budget    ratelimit.Budget // that remains; zero if nothing was charged
}

func (e *Executor) createOperation(
	ctx context.Context, client ratelimit.Client, params *graphql.RawParams, queriesOnly bool,
) (*graphql.OperationContext, charge, gqlerror.List) {
	sent := params.Query != "" // not only the hash
	document, charged, refused := e.findDocument(ctx, client, params)
	if refused != nil {
		return &graphql.OperationContext{}, charged, gqlerror.List{refused}
	}
	params.Query = document.Text
	doc, errs := e.parse(ctx, client, document, charged.document > 0)
	if len(errs) > 0 {
		return &graphql.OperationContext{}, charged, errs
	}
	release, err := e.retained.document(client, document.Text, doc)
	if err != nil {
		return &graphql.OperationContext{}, charged, gqlerror.List{gqlerror.Wrap(err)}
	}
	defer release()
	if operation := doc.Operations.ForName(params.OperationName); operation != nil {
		if err := limits.CheckScalars(e.schema, operation, params.Variables); err != nil {
			return &graphql.OperationContext{}, charged, gqlerror.List{err}
		}
	}
	op, errs := e.Executor.CreateOperationContext(context.WithValue(ctx, parsedKey{}, doc), params)
	if len(errs) == 0 {
		limits.CountUndeclared(op, params.Variables)
		errs = e.takePrice(ctx, client, op, queriesOnly, &charged)
	}
	if len(errs) > 0 {
		locate(errs, document)
		return op, charged, errs
	}
	op.Stats.SetExtension(documentKey, document)
	e.documents.Know(document.Text, document.Source)
	if sent {
		e.persisted.Keep(ctx, params, document.Source, func(points int) error {
			budget, err := e.limiter.Take(ctx, client, ratelimit.Cost{Reads: points})
			if err == nil {
				charged.budget, charged.persisted = budget, points
			}
			return err //nolint:wrapcheck // the caller looks whether it failed
		})
	}
	op.Stats.SetExtension(documentCostKey, charged.document+charged.persisted)
	return op, charged, nil
}

// findDocument returns the document of a request, which may be known, new, or named by its hash.
func (e *Executor) findDocument(
	ctx context.Context, client ratelimit.Client, params *graphql.RawParams,
) (document *limits.Document, charged charge, refused *gqlerror.Error) {
	found, refused := e.persisted.Find(ctx, params)
	if refused != nil {
		return nil, charge{}, refused
	}
	if found > 0 {
		if _, err := e.limiter.Take(ctx, client, ratelimit.Cost{Reads: found}); err != nil {
			return nil, charge{}, gqlerror.Wrap(err)
		}
	}
	if err := limits.CheckVariables(params.Variables); err != nil {
		return nil, charge{}, err
	}
	if text, known := e.documents.Find(params.Query); known {
		document = &limits.Document{Source: params.Query, Text: text}
	} else {
		document, charged, refused = e.readDocument(ctx, client, params.Query)
	}
	charged.persisted = found
	return document, charged, refused
}

// smallDocument is the price of a document up to which its validation takes less than a millisecond.
const smallDocument = 100

// parse parses and validates a document, unless that was done before. A client that pays for that waits for its turn, unless the document
// is small: it would wait for large ones.
func (e *Executor) parse(ctx context.Context, client ratelimit.Client, document *limits.Document, pays bool) (*ast.QueryDocument, gqlerror.List) {
	if doc, known := e.documents.Get(ctx, document.Text); known {
		return doc, nil
	}
	if pays && document.ReadCost()+document.ParseCost() > smallDocument {
		done, err := e.shares.Validate(ctx, client)
		if err != nil {
			return nil, gqlerror.List{gqlerror.Wrap(err)}
		}
		defer done()
		if doc, known := e.documents.Get(ctx, document.Text); known {
			return doc, nil // another request has validated it meanwhile
		}
	}
	doc, refused := document.Parse()
	if refused != nil {
		return nil, gqlerror.List{refused}
	}
	if errs := e.validator.Validate(doc); len(errs) > 0 {
		locate(errs, document)
		return nil, errs
	}
	e.documents.Add(ctx, document.Text, doc)
	return doc, nil
}

// parsedKey is the key of the document that [Executor.parse] returned for a request, in its context.
type parsedKey struct{}

// parsedDocuments is the query cache of gqlgen. It has the document of each request, so that gqlgen neither parses nor
// validates.
type parsedDocuments struct{}

// Get implements [graphql.Cache].
func (parsedDocuments) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	doc, ok := ctx.Value(parsedKey{}).(*ast.QueryDocument)
	return doc, ok
}

// Add implements [graphql.Cache].
func (parsedDocuments) Add(context.Context, string, *ast.QueryDocument) {}

// takePrice charges the client for an operation, unless the transport refuses it.
func (e *Executor) takePrice(
	ctx context.Context, client ratelimit.Client, op *graphql.OperationContext, queriesOnly bool, charged *charge,
) gqlerror.List {
	if queriesOnly && op.Operation.Operation == ast.Mutation {
		return nil
	}
	var err error
	if charged.budget, err = e.limiter.Take(ctx, client, limits.CountedCost(op)); err != nil {
		return gqlerror.List{gqlerror.Wrap(err)}
	}
	return nil
}

// locate moves the locations of errors to the document as the client sent it.
func locate(errs gqlerror.List, document *limits.Document) {
	for _, err := range errs {
		for i, at := range err.Locations {
			err.Locations[i].Line, err.Locations[i].Column = document.Locate(at.Line, at.Column)
		}
	}
}

// Names of the document, and of what it has cost, among the statistics of an operation.
const (
	documentKey     = "document"
	documentCostKey = "documentCost"
)

// readDocument measures a document that was not sent in this form before. It takes the cost of a new document before it
// parses it.
func (e *Executor) readDocument(
	ctx context.Context, client ratelimit.Client, source string,
) (document *limits.Document, charged charge, refused *gqlerror.Error) {
	document, refused = limits.ReadDocument(source)
	if refused != nil {
		return document, charge{}, refused
	}
	price := document.ReadCost()
	_, known := e.documents.Get(ctx, document.Text)
	if !known {
		price += document.ParseCost()
	}
	budget, err := e.limiter.Take(ctx, client, ratelimit.Cost{Reads: price})
	if err != nil {
		return document, charge{budget: budget}, gqlerror.Wrap(err)
	}
	return document, charge{document: price, budget: budget}, nil
}

// scope is a gqlgen extension that gives every response loaders of its own.
type scope struct{ sources *loaders.Sources }

// ExtensionName implements [graphql.HandlerExtension].
func (scope) ExtensionName() string { return "Scope" }

// Validate implements [graphql.HandlerExtension].
func (scope) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext implements [graphql.OperationContextMutator]. It refuses a subscription that does not select
// exactly one field. Validation accepts such operations if they use @skip or aliases.
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

// InterceptResponse implements [graphql.ResponseInterceptor].
func (s scope) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	return next(s.sources.With(ctx, loaders.ListWait))
}

// InterceptRootField implements [graphql.RootFieldInterceptor]. Each field of a mutation gets loaders of its own, because it
// must see the changes of the fields before it.
func (s scope) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	if graphql.GetOperationContext(ctx).Operation.Operation == ast.Mutation {
		ctx = s.sources.With(ctx, loaders.ListWait)
	}
	return next(ctx)
}

// viewerDependent is the directive of fields whose value may depend on the viewer.
const viewerDependent = "viewerDependent"

// RenderGroup returns a key that is equal for subscriptions that render every event to the same bytes for the same
// viewer, the size of what such a subscription keeps, and whether the bytes may differ between viewers. The key is empty for operations whose normal
// form is too long.
func (e *Executor) RenderGroup(op *graphql.OperationContext) (key string, size int, ofViewer bool) {
	key, size, ofViewer = exec.RenderGroup(e.schema, viewerDependent, op)
	return key, max(size, (retainedBy(op)+exec.DocumentSize(op.RawQuery))/bytesPerSize), ofViewer
}

// bytesPerSize is the memory of a subscription for each of its size: see [operation.Executor].
const bytesPerSize = 15
