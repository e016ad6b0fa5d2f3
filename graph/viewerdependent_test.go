package graph

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// watcher is a context that reports when code reads the viewer from it, except from contexts below
// another watcher.
type watcher struct {
	context.Context
	outside context.Context // without watchers
	asked   func()
}

type outsideKey struct{}

func (w watcher) Value(key any) any {
	if key == (outsideKey{}) {
		return w.outside
	}
	if strings.HasSuffix(reflect.TypeOf(key).PkgPath(), "/internal/auth") {
		w.asked()
		return w.outside.Value(key)
	}
	return w.Context.Value(key)
}

// census runs every reachable field, and records the resolved fields and those that read the
// viewer.
type census struct {
	*api
	schema *ast.Schema

	mu       sync.Mutex
	resolved map[string]bool
	asked    map[string]bool
}

func newCensus() *census {
	c := &census{api: newAPI(Options{Unplanned: true}), resolved: map[string]bool{}, asked: map[string]bool{}}
	c.schema = c.executor.schema
	c.executor.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
		fc := graphql.GetFieldContext(ctx)
		name := fc.Object + "." + fc.Field.Name
		c.note(c.resolved, name)
		outside, ok := ctx.Value(outsideKey{}).(context.Context)
		if !ok {
			outside = ctx
		}
		return next(watcher{ctx, outside, func() { c.note(c.asked, name) }})
	})
	return c
}

func (c *census) note(set map[string]bool, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	set[name] = true
}

// arguments returns the required arguments of fields. Other arguments are omitted.
var arguments = map[string]string{
	"Query.user":           `(username: "carol")`,
	"Query.tag":            `(name: "go")`,
	"Query.searchUsers":    `(prefix: "c")`,
	"Query.findUsers":      `(query: "c")`,
	"Query.thread":         `(postId: "` + globalPostID(2_000_000) + `")`,
	"User.commonFollowers": `(with: "` + globalUserID(1025) + `")`,
}

// spot is a query that returns objects of a type.
type spot struct {
	before, after string // the query around its selection
	ofViewer      bool   // a field on the path is marked
}

// places finds a path to every type, starting at the roots.
func (c *census) places(t *testing.T) map[string]spot {
	t.Helper()
	found := map[string]spot{
		"Query":            {before: "{", after: "}"},
		"TextLink":         {before: `{ user(username: "carol") { bioEntities { ... on TextLink {`, after: "} } } }"},
		"TextMention":      {before: `{ user(username: "carol") { bioEntities { ... on TextMention {`, after: "} } } }"},
		"TextHashtag":      {before: "{ thread" + arguments["Query.thread"] + " { post { entities { ... on TextHashtag {", after: "} } } } }"},
		"PostAdded":        {before: "subscription { timelineEvents { ... on PostAdded {", after: "} } }"},
		"PostRemoved":      {before: "subscription { timelineEvents { ... on PostRemoved {", after: "} } }"},
		"TimelineCaughtUp": {before: "subscription { timelineEvents { ... on TimelineCaughtUp {", after: "} } }"},
		"TimelineAdvanced": {before: "subscription { timelineEvents { ... on TimelineAdvanced {", after: "} } }"},
		"TimelineReset":    {before: "subscription { timelineEvents { ... on TimelineReset {", after: "} } }"},
	}
	found["PostChanged"] = spot{before: "subscription { timelineEvents { ... on PostChanged {", after: "} } }"}
	found["TimelineMarkerMoved"] = spot{before: "subscription { timelineEvents { ... on TimelineMarkerMoved {", after: "} } }"}
	queue := []string{"Query", "PostAdded"}
	// Paths that do not depend on the viewer come first.
	for _, marked := range []bool{false, true} {
		for i := 0; i < len(queue); i++ {
			from := found[queue[i]]
			for _, field := range c.schema.Types[queue[i]].Fields {
				to := c.schema.Types[field.Type.Name()]
				_, known := found[to.Name]
				ofViewer := field.Directives.ForName(viewerDependent) != nil
				if known || to.Kind != ast.Object || to.BuiltIn || ofViewer != marked {
					continue
				}
				name := queue[i] + "." + field.Name
				found[to.Name] = spot{
					from.before + " " + field.Name + c.argumentsOf(t, name, field) + " {", "}" + from.after, from.ofViewer || ofViewer,
				}
				queue = append(queue, to.Name)
			}
		}
	}
	return found
}

func (c *census) argumentsOf(t *testing.T, name string, field *ast.FieldDefinition) string {
	t.Helper()
	for _, argument := range field.Arguments {
		if argument.Type.NonNull && argument.DefaultValue == nil && arguments[name] == "" {
			t.Fatalf("%s needs arguments: add them to this test", name)
		}
	}
	return arguments[name]
}

// ask runs an operation as a viewer. Subscriptions receive an event of each kind.
func (c *census) ask(t *testing.T, viewer *retwis.User, query string) string {
	t.Helper()
	ctx := graphql.StartOperationTrace(as(t, viewer))
	var all strings.Builder
	note := func(response *graphql.Response) {
		if len(response.Errors) > 0 {
			t.Fatalf("%s: %v", query, response.Errors)
		}
		all.Write(response.Data)
	}
	if !strings.HasPrefix(query, "subscription") {
		note(c.run(ctx, query, ""))
		return all.String()
	}
	op, errs := c.executor.CreateOperationContext(ctx, &graphql.RawParams{Query: query})
	if len(errs) > 0 {
		t.Fatalf("%s: %v", query, errs)
	}
	at := retwis.TimelinePosition{Timeline: retwis.Home(viewer.ID), Element: retwis.Plain(7)}.Cursor()
	for _, e := range []retwis.Event{
		&retwis.PostAdded{Edge: retwis.PostEdge{Cursor: "place", Post: c.posts[0]}},
		&retwis.PostAdded{Edge: retwis.PostEdge{Cursor: "place", Post: c.posts[0], Repost: &retwis.Repost{ID: 7, UserID: c.posts[0].AuthorID}}},
		&retwis.PostRemoved{Cursor: at, PostID: 1},
		&retwis.PostChanged{Cursor: at, Post: c.posts[0]},
		&retwis.CaughtUp{Cursor: at},
		&retwis.MarkerMoved{Cursor: at, Marker: &at, Timeline: retwis.Timeline{ID: retwis.Home(1025)}},
		&retwis.Advanced{Cursor: at},
		&retwis.Reset{Cursor: at, Reason: retwis.CursorTooOld},
	} {
		note(c.executor.Render(ctx, op, e))
	}
	return strings.ReplaceAll(all.String(), string(at), "place")
}

// No viewer may see a response that was rendered for another one, so the schema must mark each
// field that depends on the viewer.
func TestViewerDependentFields_AreMarked(t *testing.T) {
	t.Parallel()
	c := newCensus()
	alice, bob, carol := c.addUser("alice"), c.addUser("bob"), c.addUser("carol")
	c.addFollow(alice, carol)
	c.addFollow(carol, bob)
	root := c.addPost(carol, "a post")
	reply := c.tagPost(carol, "a reply and a quote #go")
	reply.Thread, reply.Quoted = []retwis.PostID{root.ID}, root.ID
	c.addLike(alice, c.posts[0])
	c.addLike(bob, c.posts[0])
	carol.Bio = "https://example.com @bob"
	c.addList(alice, "a list", carol)
	c.addSession(alice, "Phone/1.0")

	for name, at := range c.places(t) {
		for _, field := range c.schema.Types[name].Fields {
			if strings.HasPrefix(field.Name, "__") || (name == "Query" && strings.HasPrefix(field.Name, "node")) {
				continue // node and nodes have their own tests
			}
			selection := field.Name + c.argumentsOf(t, name+"."+field.Name, field)
			if c.schema.Types[field.Type.Name()].IsCompositeType() {
				selection += " { __typename }"
			}
			query := at.before + " " + selection + at.after
			marked := field.Directives.ForName(viewerDependent) != nil
			one, other := c.ask(t, alice, query), c.ask(t, bob, query)
			if one != other && !marked && !at.ofViewer {
				t.Errorf("%s.%s differs between viewers and is not marked @%s:\n%s\n%s", name, field.Name, viewerDependent, one, other)
			}
		}
	}

	for name, at := range c.places(t) {
		for _, field := range c.schema.Types[name].Fields {
			full := name + "." + field.Name
			if c.asked[full] && field.Directives.ForName(viewerDependent) == nil {
				t.Errorf("%s reads the viewer and is not marked @%s", full, viewerDependent)
			}
			if !c.resolved[full] && !strings.HasPrefix(field.Name, "__") && !strings.HasPrefix(full, "Query.node") {
				t.Errorf("%s was not resolved: add an object to this test (%s)", full, at.before)
			}
		}
	}
	for _, name := range []string{"User.viewerFollows", "User.followsViewer", "Post.viewerHasLiked", "Query.viewer", "Timeline.posts"} {
		if !c.asked[name] {
			t.Errorf("%s did not read the viewer, so this test detects nothing", name)
		}
	}
}

// Without a viewer in its context, no render group can render for a viewer.
func TestRender_WithoutViewerIsAnonymous(t *testing.T) {
	t.Parallel()
	c := newCensus()
	carol := c.addUser("carol")
	c.addPost(carol, "a post")
	c.addFollow(carol, carol)
	ctx := graphql.StartOperationTrace(auth.WithIdentity(t.Context(), auth.Identity{}))
	op, errs := c.executor.CreateOperationContext(ctx, &graphql.RawParams{
		Query: `subscription { timelineEvents { ... on PostAdded { edge { node { author { viewerFollows followsViewer } } } } } }`,
	})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	response := c.executor.Render(ctx, op, &retwis.PostAdded{Edge: retwis.PostEdge{Cursor: "place", Post: c.posts[0]}})
	wantData(t, response, `{"timelineEvents": {"edge": {"node": {"author": {"viewerFollows": false, "followsViewer": false}}}}}`)
}
