package page

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"retwis/graph"
	"retwis/internal/auth"
	"retwis/internal/bench/measure"
	"retwis/internal/bench/process"
	"retwis/internal/bench/world"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// InMemory measures the execution of the home page from its text to its bytes, with the data in
// memory. The baseline is the execution by gqlgen.
func InMemory(ctx context.Context, r *measure.Run) error {
	ours, err := executionCost(ctx, r.Size(20_000, 100), false)
	if err != nil {
		return err
	}
	gqlgen, err := executionCost(ctx, r.Size(20_000, 100), true)
	if err != nil {
		return err
	}
	r.Add(measure.Figure{
		Name: "home page, data in memory, CPU", Unit: "µs", Value: micros(ours.cpu), Goal: measure.AtMost(40),
		Beside: []measure.Baseline{{Name: "gqlgen", Value: micros(gqlgen.cpu)}},
	})
	r.Add(measure.Figure{
		Name: "home page, data in memory, allocations", Value: float64(ours.allocations), Goal: measure.AtMost(150),
		Beside: []measure.Baseline{{Name: "gqlgen", Value: float64(gqlgen.allocations)}},
	})
	return nil
}

type execution struct {
	cpu         time.Duration
	allocations uint64
}

func executionCost(ctx context.Context, pages int, gqlgen bool) (execution, error) {
	log := slog.New(slog.DiscardHandler)
	data := newPageData()
	var unused store.Store // the page needs nothing else
	executor := graph.NewExecutor(&graph.Resolver{
		Users: data, Timelines: data, Posts: unused.Posts, Reposts: unused.Posts, Likes: unused.Likes, Follows: unused.Follows, Lists: unused.Lists, Tags: unused.Tags, Limits: ratelimit.New(nil, ratelimit.Policies{}, log),
	}, graph.Options{Log: log, Unplanned: gqlgen})
	ctx = auth.WithIdentity(ctx, auth.Identity{User: data.reader})
	execute := func() error {
		ctx := graphql.StartOperationTrace(ctx)
		op, errs := executor.CreateOperationContext(ctx, &graphql.RawParams{Query: homePage})
		if len(errs) > 0 {
			return errs
		}
		responses, ctx := executor.DispatchOperation(ctx, op)
		if response := responses(ctx); len(response.Errors) > 0 || len(response.Data) < 4000 {
			return fmt.Errorf("%w: %s", response.Errors, response.Data)
		}
		return nil
	}
	for range pages / 10 { // to warm up
		if err := execute(); err != nil {
			return execution{}, err
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, err := process.OwnUsage()
	if err != nil {
		return execution{}, err
	}
	for range pages {
		if err := execute(); err != nil {
			return execution{}, err
		}
	}
	end, err := process.OwnUsage()
	runtime.ReadMemStats(&after)
	return execution{(end.CPU - start.CPU) / time.Duration(pages), (after.Mallocs - before.Mallocs) / uint64(pages)}, err
}

// pageData serves the page from memory.
type pageData struct {
	otherUsers
	otherTimelines
	reader retwis.UserID
	page   retwis.PostPage
	users  map[retwis.UserID]*retwis.User
}

// otherUsers are the methods that the page does not call.
type (
	otherUsers     struct{ graph.Users }
	otherTimelines struct{ graph.Timelines }
)

func newPageData() *pageData {
	d := &pageData{reader: retwis.Buckets + 1, users: map[retwis.UserID]*retwis.User{}}
	for i := range 20 {
		author := retwis.UserID((i+2)*retwis.Buckets + 1)
		d.users[author] = &retwis.User{ID: author, Username: fmt.Sprint("author", i), DisplayName: fmt.Sprint("Author ", i)}
		id := retwis.PostID((i + 1) * 1_000_000)
		d.page.Edges = append(d.page.Edges, retwis.PostEdge{
			Cursor: retwis.TimelinePosition{Timeline: retwis.Home(d.reader), Element: retwis.Plain(id)}.Cursor(),
			Post:   &retwis.Post{ID: id, AuthorID: author, Text: world.PostText, CreatedAt: id.CreatedAt()},
		})
	}
	d.page.LiveCursor, d.page.HasNextPage = d.page.Edges[0].Cursor, true
	return d
}

func (d *pageData) Page(context.Context, retwis.TimelineID, retwis.Page) (retwis.PostPage, error) {
	return d.page, nil
}

func (d *pageData) Users(_ context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	users := make([]*retwis.User, len(ids))
	for i, id := range ids {
		users[i] = d.users[id]
	}
	return users, nil
}

func (d *pageData) Authors(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	return d.Users(ctx, ids)
}
