package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"retwis/graph/limits"
	"retwis/internal/retwis"
)

// These tests run each operation twice, by gqlgen's generated code and by plans, on two equal
// fake backends, and compare the responses byte by byte.

// twin is one of the two executors.
type twin struct {
	*api
	log *recordedLog
}

// recordedLog records log lines about failures, without the attributes that vary.
type recordedLog struct {
	slog.Handler
	lines chan string
}

func (l *recordedLog) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != "id" && a.Key != "stack" {
			line += " " + a.String()
		}
		return true
	})
	l.lines <- line
	return nil
}

// twins returns two executors over equal backends. The first one runs gqlgen's code.
func twins(schema *ast.Schema, hash maphash.Seed, seed uint64, rate int) [2]*twin {
	var pair [2]*twin
	for i := range pair {
		t := &twin{api: &api{fakeBackend: newPopulatedBackend()}, log: &recordedLog{
			Handler: slog.DiscardHandler, lines: make(chan string, 4096),
		}}
		resolver := t.resolver()
		t.executor = NewExecutor(resolver, Options{
			Log: slog.New(enabled{t.log}), Introspection: true, Unplanned: i == 0,
			schema: schema, resolvers: faultyResolvers{resolver, &faults{hash, seed, uint64(rate)}},
		})
		t.executor.eventSources["timelineEvents"] = func(context.Context, map[string]any) (retwis.EventSource, error) {
			return nil, nil // the test supplies the events
		}
		pair[i] = t
	}
	return pair
}

type enabled struct{ *recordedLog }

func (enabled) Enabled(context.Context, slog.Level) bool { return true }

// newPopulatedBackend returns a backend with objects of every type.
func newPopulatedBackend() *fakeBackend {
	w := newFakeBackend()
	var users []*retwis.User
	for _, name := range []string{"alice", "bob", "carol", "dave"} {
		users = append(users, w.addUser(name))
	}
	users[0].Bio = "all of \x00\x01\x0b\x1e\x1f\x7f\t\r\n\"\\/\u2028\xff\U0001F600"
	users[1].Bio = "quotes \" and\nlines"
	for i := range 7 {
		post := w.addPost(users[i%3], fmt.Sprint("post ", i))
		if i%2 == 0 {
			post.Mentions = []retwis.UserID{users[3].ID, users[i%4].ID}
		}
	}
	for i := range 3 {
		w.addFollow(users[0], users[i+1])
		w.addFollow(users[i+1], users[0])
	}
	w.addList(users[0], "Friends", users[1], users[2])
	w.addList(users[0], "Empty")
	return w
}

// literals returns the arguments of random operations, valid and invalid ones.
func literals(w *fakeBackend) map[string][]string {
	quoted := func(values ...string) []string {
		for i, v := range values {
			values[i] = fmt.Sprintf("%q", v)
		}
		return values
	}
	alice := w.users[0].ID
	home := retwis.Home(alice)
	return map[string][]string{
		"Int":     {"2", "1", "3", "20", "0", "-1", "101", "2147483647"},
		"Float":   {"0.5", "1", "0", "-2.5"},
		"Boolean": {"true", "false"},
		"String":  quoted("alice", "bob", "nobody", "", "bob's password", "alice's password", "two words", "x\ty"),
		"ID": quoted(
			globalUserID(alice), globalUserID(w.users[1].ID), globalPostID(w.posts[0].ID), globalPostID(w.posts[1].ID),
			globalTimelineID(home), globalTimelineID(retwis.Public()), globalTimelineID(retwis.Profile(w.users[2].ID)),
			globalListID(w.lists[0].ID), globalTimelineID(retwis.ListPosts(w.lists[0].ID)), globalViewerID(alice),
			globalUserID(99), "junk", "",
		),
		"Cursor": quoted(string(edge(home, w.posts[3]).Cursor), string(edge(retwis.Public(), w.posts[2]).Cursor), "junk", ""),
	}
}

// randomEvents returns the events of a subscription. The last two are invalid.
func randomEvents(c *choices, w *fakeBackend) []retwis.Event {
	all := []retwis.Event{
		&retwis.PostAdded{Edge: edge(retwis.Public(), w.posts[0])},
		&retwis.PostAdded{Edge: edge(retwis.Public(), w.posts[1])},
		&retwis.PostRemoved{Cursor: "c1", PostID: 5},
		&retwis.PostChanged{Cursor: "c1", Post: w.posts[0]},
		&retwis.CaughtUp{Cursor: "c2", Replayed: 3},
		&retwis.Advanced{Cursor: "c3"},
		&retwis.MarkerMoved{Cursor: "c4", Marker: new(retwis.Cursor), Timeline: retwis.Timeline{ID: retwis.Home(1025)}},
		&retwis.Reset{Cursor: "c4", Reason: retwis.HistoryChanged},
		&retwis.Reset{Cursor: "c5", Reason: "NO_SUCH_REASON"},
		&retwis.PostAdded{Edge: retwis.PostEdge{Cursor: "c6"}},
		(*retwis.CaughtUp)(nil),
		nil,
	}
	var events []retwis.Event
	for range 4 {
		events = append(events, pick(c, all))
	}
	return events
}

// comparison runs operations on both executors.
type comparison struct {
	schema         *ast.Schema
	hash           maphash.Seed
	valid, planned int // operations
}

func newComparison() *comparison { return &comparison{schema: Schema(), hash: maphash.MakeSeed()} }

// run generates an operation from the choices and runs it on both executors.
func (both *comparison) run(t *testing.T, data []byte) {
	t.Helper()
	c := &choices{data}
	kind := pick(c, []ast.Operation{ast.Query, ast.Query, ast.Query, ast.Mutation, ast.Subscription})
	rate := pick(c, []int{0, 5, 25, 60})
	pair := twins(both.schema, both.hash, uint64(c.of(1<<16)), rate)
	reader := pick(c, []*retwis.User{pair[0].users[0], pair[0].users[3], nil})
	if c.outOf100(10) {
		for _, w := range pair {
			w.fail[[]string{"Users", "Follows", "Page", "Posts"}[len(data)%4]] = errInjected
		}
	}
	events := randomEvents(c, pair[0].fakeBackend)
	o := newRandomOperation(c, both.schema, kind, literals(pair[0].fakeBackend))
	valid, planned := false, false
	for _, variables := range o.variables {
		var got [2][]string
		for i, w := range pair {
			var op *graphql.OperationContext
			got[i], op = w.answers(as(t, reader), o, variables, events)
			valid = valid || op != nil
			planned = planned || op != nil && w.executor.exec.Plan(t.Context(), op) != nil
		}
		if slices.ContainsFunc(got[1], func(answer string) bool { return strings.Contains(answer, limits.ErrTooLarge.Message) }) {
			continue
		}
		if diff := cmp.Diff(got[0], got[1]); diff != "" {
			t.Fatalf("%s\nvariables %v, spoiled %d%%, reader %v\n(-gqlgen +plans):\n%s", o.text, variables, rate, reader, diff)
		}
	}
	both.valid += count(valid)
	both.planned += count(planned)
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// answers returns the responses to an operation, and the log.
func (w *twin) answers(ctx context.Context, o *randomOperation, variables map[string]string, events []retwis.Event) (answers []string, op *graphql.OperationContext) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	params := &graphql.RawParams{Query: o.text, OperationName: o.name, Variables: map[string]any{}}
	for name, value := range variables {
		decoder := json.NewDecoder(strings.NewReader(value))
		decoder.UseNumber()
		var v any
		if err := decoder.Decode(&v); err != nil {
			panic(err)
		}
		params.Variables[name] = v
	}
	ctx = graphql.StartOperationTrace(ctx)
	op, errs := w.executor.CreateOperationContext(ctx, params)
	if len(errs) > 0 {
		return []string{errs.Error()}, nil // nothing was executed
	}
	if op.Operation.Operation == ast.Subscription {
		if _, errs := w.executor.Subscribe(ctx, op); len(errs) > 0 && !w.executor.unplanned {
			answer, _ := answerOf(ctx, graphql.OneShot(&graphql.Response{Errors: errs, Extensions: map[string]any{}}))
			return []string{answer}, op
		} else if len(errs) > 0 {
			events = events[:1] // gqlgen checks the arguments again for each event
			w.logged()
		}
		for _, e := range events {
			answer, _ := answerOf(ctx, func(ctx context.Context) *graphql.Response { return w.executor.Render(ctx, op, e) })
			answers = append(answers, answer)
		}
		return append(answers, w.logged()...), op
	}
	responses, ctx := w.executor.DispatchOperation(ctx, op)
	for more := true; more; {
		var answer string
		answer, more = answerOf(ctx, responses)
		answers = append(answers, answer)
	}
	return append(answers, w.logged()...), op
}

// answerOf returns the next response with sorted errors, because gqlgen reports the errors of
// concurrently resolved fields in any order.
func answerOf(ctx context.Context, responses graphql.ResponseHandler) (answer string, more bool) {
	defer func() {
		if r := recover(); r != nil {
			answer, more = fmt.Sprint("panic: ", r), false
		}
	}()
	response := responses(ctx)
	if response == nil {
		return "end", false
	}
	var errs []string
	for _, err := range response.Errors {
		if _, ok := err.Extensions["id"]; ok {
			err.Extensions["id"] = "random"
		}
		text, _ := json.Marshal(err)
		errs = append(errs, string(text))
	}
	slices.Sort(errs)
	extensions, _ := json.Marshal(response.Extensions)
	return fmt.Sprintf("%s\n%s\n%s", response.Data, strings.Join(errs, "\n"), extensions), true
}

func (w *twin) logged() []string {
	var lines []string
	for {
		select {
		case line := <-w.log.lines:
			lines = append(lines, line)
		default:
			slices.Sort(lines)
			return lines
		}
	}
}

// TestPlans_MatchGqlgen runs random operations with a fixed seed.
func TestPlans_MatchGqlgen(t *testing.T) {
	t.Parallel()
	const operations = 1200
	random := rand.NewChaCha8([32]byte{8})
	both := newComparison()
	for range operations {
		data := make([]byte, 400)
		_, _ = random.Read(data)
		both.run(t, data)
	}
	if both.valid < operations*8/10 || both.planned < both.valid*9/10 {
		t.Errorf("of %d operations %d were valid and %d had plans", operations, both.valid, both.planned)
	}
}

// FuzzPlans_MatchGqlgen lets the fuzzer choose the operations. Because of goroutines, the
// coverage of an operation varies between runs, so use -fuzzminimizetime=1x.
func FuzzPlans_MatchGqlgen(f *testing.F) {
	random := rand.NewChaCha8([32]byte{9})
	for range 20 {
		data := make([]byte, 300)
		_, _ = random.Read(data)
		f.Add(data)
	}
	both := newComparison()
	f.Fuzz(func(t *testing.T, data []byte) { both.run(t, data) })
}
