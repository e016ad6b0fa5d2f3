package graph

import (
	"context"
	"fmt"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

const homePageQuery = `query { viewer { homeTimeline { posts(first: 20) {
	edges { cursor node { id text createdAt author { id username displayName } } }
	pageInfo { hasNextPage endCursor } liveCursor } } } }`

// memory is a backend for home pages that costs no time.
type memory struct {
	*fakeBackend
	page  retwis.PostPage
	known map[retwis.UserID]*retwis.User
}

func newMemory() *memory {
	m := &memory{fakeBackend: newFakeBackend(), known: map[retwis.UserID]*retwis.User{}}
	reader := m.addUser("reader")
	home := retwis.Home(reader.ID)
	for i := range 20 {
		author := m.addUser(fmt.Sprint("author", i))
		m.known[author.ID] = author
		post := m.addPost(author, fmt.Sprint("a post of the usual length, about as long as this one, number ", i))
		m.page.Edges = append(m.page.Edges, edge(home, post))
	}
	m.page.HasNextPage, m.page.LiveCursor = true, m.page.Edges[0].Cursor
	return m
}

func (m *memory) Page(context.Context, retwis.TimelineID, retwis.Page) (retwis.PostPage, error) {
	return m.page, nil
}

func (m *memory) Users(_ context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	users := make([]*retwis.User, len(ids))
	for i, id := range ids {
		users[i] = m.known[id]
	}
	return users, nil
}

func (m *memory) Authors(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	return m.Users(ctx, ids)
}

// BenchmarkHomePage measures a page of 20 posts with their authors, from the parameters of the
// request to the JSON of the response, with data in memory.
func BenchmarkHomePage(b *testing.B) {
	for _, by := range []struct {
		name  string
		stock bool
	}{{"gqlgen", true}, {"plans", false}} {
		b.Run(by.name, func(b *testing.B) {
			m := newMemory()
			resolver := m.resolver()
			resolver.Timelines, resolver.Users = m, m
			e := NewExecutor(resolver, Options{Unplanned: by.stock})
			ctx := auth.WithIdentity(b.Context(), auth.Identity{User: m.users[0].ID})
			b.ReportAllocs()
			for b.Loop() {
				ctx := graphql.StartOperationTrace(ctx)
				op, errs := e.CreateOperationContext(ctx, &graphql.RawParams{Query: homePageQuery})
				if len(errs) > 0 {
					b.Fatal(errs)
				}
				responses, ctx := e.DispatchOperation(ctx, op)
				if response := responses(ctx); len(response.Errors) > 0 || len(response.Data) < 4000 {
					b.Fatal(response.Errors, string(response.Data))
				}
			}
		})
	}
}
