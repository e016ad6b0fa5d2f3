package limits_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/graph"
	"retwis/internal/auth"
	"retwis/internal/ratelimit"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// api is the executor of the API over a backend with one user and one post, and the log.
type api struct {
	executor *graph.Executor
	backend  *backend
	limiter  *limiter
	log      *bytes.Buffer
}

func newAPI(options graph.Options) *api {
	a := &api{backend: &backend{}, limiter: &limiter{}, log: &bytes.Buffer{}}
	options.Log = slog.New(slog.NewTextHandler(a.log, nil))
	a.executor = graph.NewExecutor(&graph.Resolver{
		Accounts: a.backend, Users: a.backend, Posts: a.backend, Reposts: reposts{}, Likes: likes{}, Follows: follows{backend: a.backend}, Lists: a.backend, Tags: tags{},
		Timelines: a.backend, Limits: a.limiter,
	}, options)
	return a
}

// alice is the one user.
func alice() *retwis.User {
	return &retwis.User{ID: retwis.Buckets + 1, Username: "alice", DisplayName: "Alice", CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

// backend counts the calls. It panics in those that no test expects.
type backend struct {
	accounts
	users
	posts
	lists

	mu    sync.Mutex
	calls int
}

type (
	accounts struct{ graph.Accounts }
	users    struct{ graph.Users }
	posts    struct{ graph.Posts }
	lists    struct{ graph.Lists }
)

func (b *backend) called() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
}

func (b *backend) UserByName(_ context.Context, username string) (*retwis.User, error) {
	b.called()
	if username != "alice" {
		return nil, retwis.ErrNotFound
	}
	return alice(), nil
}

func (b *backend) Users(_ context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	b.called()
	found := make([]*retwis.User, len(ids))
	for i := range ids {
		found[i] = alice()
	}
	return found, nil
}

func (b *backend) Authors(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	return b.Users(ctx, ids)
}

func (b *backend) Posts(_ context.Context, ids []retwis.PostID) ([]*retwis.Post, error) {
	b.called()
	return make([]*retwis.Post, len(ids)), nil
}

func (b *backend) Lists(_ context.Context, ids []retwis.ListID) ([]*retwis.List, error) {
	b.called()
	return make([]*retwis.List, len(ids)), nil
}

func (b *backend) Unread(context.Context, retwis.TimelineID, int) (retwis.Unread, error) {
	b.called()
	return retwis.Unread{}, nil
}

func (b *backend) MarkRead(context.Context, retwis.TimelineID, retwis.Cursor) error {
	b.called()
	return nil
}

func (b *backend) Page(_ context.Context, timeline retwis.TimelineID, page retwis.Page) (retwis.PostPage, error) {
	b.called()
	if page.After != "" {
		if _, err := page.After.TimelinePosition(timeline); err != nil {
			return retwis.PostPage{}, err
		}
	}
	post := &retwis.Post{ID: 1_000_000, AuthorID: alice().ID, Text: "one", CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	return retwis.PostPage{Edges: []retwis.PostEdge{{Cursor: "c", Post: post}}}, nil
}

func (b *backend) CreatePost(context.Context, retwis.NewPost) (retwis.PostEdge, error) {
	b.called()
	return retwis.PostEdge{}, retwis.ErrNameTaken
}

func (b *backend) Login(context.Context, string, string, string) (auth.Session, error) {
	b.called()
	return auth.Session{}, retwis.ErrWrongCredentials
}

func (b *backend) Logout(context.Context, auth.Identity) error {
	b.called()
	return nil
}

func (b *backend) Register(context.Context, string, string, *string, string) (auth.Session, error) {
	b.called()
	return auth.Session{}, retwis.ErrNameTaken
}

func (b *backend) ChangePassword(context.Context, auth.Identity, string, string, string) (auth.Session, error) {
	b.called()
	return auth.Session{}, retwis.ErrWrongCredentials
}

// likes has no methods that the tests call.
type reposts struct{ graph.Reposts }

func (reposts) RepostCounts(_ context.Context, posts []retwis.PostID) ([]int, error) {
	return make([]int, len(posts)), nil
}

type likes struct{ graph.Likes }

type anyTags = graph.Tags // another name, because a field and a method of the same name exclude each other

type tags struct{ anyTags }

func (likes) LikeCounts(_ context.Context, posts []retwis.PostID) ([]int, error) {
	return make([]int, len(posts)), nil
}

type (
	anyFollows struct{ graph.Follows }
	follows    struct {
		anyFollows
		backend *backend
	}
)

func (f follows) Follows(_ context.Context, _ retwis.UserID, authors []retwis.UserID) ([]bool, error) {
	f.backend.called()
	return make([]bool, len(authors)), nil
}

func (f follows) FollowPage(context.Context, retwis.FollowConnection, retwis.Page) (retwis.FollowPage, error) {
	f.backend.called()
	return retwis.FollowPage{}, nil
}

// limiter records what it counts, and refuses with its refusal.
type limiter struct {
	refusal error

	mu      sync.Mutex
	clients []ratelimit.Client
	costs   []ratelimit.Cost
	spent   int
	charged int
}

func (l *limiter) Check(ratelimit.Client) error     { return nil }
func (l *limiter) Affords(ratelimit.Client) bool    { return true }
func (l *limiter) CheckDebt(ratelimit.Client) error { return nil }
func (l *limiter) CheckHalf(ratelimit.Client) error { return nil }

func (l *limiter) Delay(ratelimit.Client) time.Duration { return 250 * time.Millisecond }

func (l *limiter) Take(_ context.Context, client ratelimit.Client, cost ratelimit.Cost) (ratelimit.Budget, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clients, l.costs = append(l.clients, client), append(l.costs, cost)
	return ratelimit.Budget{}, l.refusal
}

func (l *limiter) Charge(_ ratelimit.Client, cost, _ int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.charged += cost
	return l.refusal
}

func (l *limiter) Refund(_ ratelimit.Client, cost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.charged -= cost
}

func (l *limiter) Spend(_ ratelimit.Client, cost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spent += cost
}

func (l *limiter) NotRegistered(context.Context, ratelimit.Client)    {}
func (l *limiter) LoggedIn(context.Context, ratelimit.Client, string) {}
func (l *limiter) Budget(context.Context, ratelimit.Client) (ratelimit.Budget, bool) {
	return ratelimit.Budget{Rate: ratelimit.Rate{Limit: 1000, Period: time.Minute}}, true
}

// send runs a request as a transport does.
func (a *api) send(ctx context.Context, params *graphql.RawParams) *graphql.Response {
	ctx = graphql.StartOperationTrace(ctx)
	op, errs := a.executor.CreateOperationContext(ctx, params)
	if len(errs) > 0 {
		return a.executor.DispatchError(graphql.WithOperationContext(ctx, op), errs)
	}
	responses, ctx := a.executor.DispatchOperation(ctx, op)
	return responses(ctx)
}

// run runs an operation. The variables are a JSON object, or empty.
func (a *api) run(t testing.TB, query, variables string) *graphql.Response {
	t.Helper()
	params := &graphql.RawParams{Query: query}
	if variables != "" {
		params.Variables = decode(t, variables)
	}
	return a.send(t.Context(), params)
}

// decode reads a JSON object as a transport does.
func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
	return object
}

// wantData compares the data of a response that must have no errors.
func wantData(t testing.TB, response *graphql.Response, want string) {
	t.Helper()
	if len(response.Errors) > 0 {
		t.Fatalf("unexpected errors: %v", response.Errors)
	}
	if diff := cmp.Diff(decode(t, want), decode(t, string(response.Data))); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
}

// wantError returns the only error of a response, which must have the code.
func wantError(t testing.TB, response *graphql.Response, code string) *gqlerror.Error {
	t.Helper()
	if len(response.Errors) != 1 {
		t.Fatalf("got the errors %v, want one with the code %s", response.Errors, code)
	}
	err := response.Errors[0]
	if err.Extensions["code"] != code {
		t.Fatalf("got the code %v of error %q, want %s", err.Extensions["code"], err.Message, code)
	}
	return err
}

func introspectionQuery(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../testdata/introspection.graphql")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// errExhausted returns the refusal of a client whose budget of reads is used up.
func errExhausted() error { return ratelimit.Exceeded(ratelimit.Reads, time.Second) }
