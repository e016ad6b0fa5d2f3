package graph

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retwis/internal/retwis"
)

// slowBackend is a fakeBackend with latency: each round trip takes a second, and a page takes two
// round trips, for the list and for its posts.
type slowBackend struct{ *fakeBackend }

const exchange = time.Second

func (w slowBackend) Page(ctx context.Context, id retwis.TimelineID, page retwis.Page) (retwis.PostPage, error) {
	time.Sleep(2 * exchange)
	return w.fakeBackend.Page(ctx, id, page)
}

func (w slowBackend) Users(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	time.Sleep(exchange)
	return w.fakeBackend.Users(ctx, ids)
}

func (w slowBackend) Authors(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	time.Sleep(exchange)
	return w.fakeBackend.Authors(ctx, ids)
}

func (w slowBackend) LikeCounts(ctx context.Context, posts []retwis.PostID) ([]int, error) {
	time.Sleep(exchange)
	return w.fakeBackend.LikeCounts(ctx, posts)
}

func (w slowBackend) Liked(ctx context.Context, user retwis.UserID, posts []retwis.PostID) ([]bool, error) {
	time.Sleep(exchange)
	return w.fakeBackend.Liked(ctx, user, posts)
}

func (w slowBackend) ReplyCounts(ctx context.Context, posts []retwis.PostID) ([]int, error) {
	time.Sleep(exchange)
	return w.fakeBackend.ReplyCounts(ctx, posts)
}

type anyFollows struct{ Follows }

type slowFollows struct{ anyFollows }

func (f slowFollows) Follows(ctx context.Context, reader retwis.UserID, authors []retwis.UserID) ([]bool, error) {
	time.Sleep(exchange)
	return f.anyFollows.Follows.Follows(ctx, reader, authors)
}

func (f slowFollows) FollowedBy(ctx context.Context, reader retwis.UserID, others []retwis.UserID) ([]bool, error) {
	time.Sleep(exchange)
	return f.anyFollows.Follows.FollowedBy(ctx, reader, others)
}

func TestHomePage_TakesThreeRoundTrips(t *testing.T) {
	t.Parallel()
	selections := map[string]string{
		"posts alone":                "id text createdAt",
		"authors":                    "id text author { id username displayName bio }",
		"authors with their counts":  "author { username postCount followerCount followingCount }",
		"authors and their ties":     "author { username viewerFollows followsViewer }",
		"mentions":                   "mentions { id username }",
		"likes":                      "author { username } likeCount viewerHasLiked replyCount",
		"entities":                   "author { username } entities { start ... on TextMention { user { username } } }",
		"authors, ties and mentions": "author { username viewerFollows followsViewer postCount } mentions { username followerCount }",
		"the same under two names":   "a: author { username viewerFollows } b: author { bio followsViewer } mentions { bio }",
		"fields without a read":      "author { timeline { id kind } }",
	}
	for name, selection := range selections {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := newAPI(Options{})
				reader := a.addUser("reader")
				for i := range 20 {
					author := a.addUser(fmt.Sprint("author", i))
					a.addPost(author, "text").Mentions = []retwis.UserID{reader.ID, author.ID}
				}
				far := a.resolver()
				far.Timelines, far.Users, far.Posts = slowBackend{a.fakeBackend}, slowBackend{a.fakeBackend}, slowBackend{a.fakeBackend}
				far.Likes = slowBackend{a.fakeBackend}
				far.Follows = slowFollows{anyFollows{far.Follows}}
				a.serve(far, Options{})

				start := time.Now()
				response := a.run(as(t, reader), `{ viewer { id user { username } homeTimeline { id kind owner { username }
					posts(first: 20) { edges { cursor node { `+selection+` } } pageInfo { endCursor } liveCursor } } } }`, "")
				if len(response.Errors) > 0 || strings.Count(string(response.Data), `"cursor"`) != 20 {
					t.Fatalf("got %s %v", response.Data, response.Errors)
				}
				if took := time.Since(start); took > 3*exchange {
					t.Errorf("took %d sequential round trips, want at most 3", took/exchange)
				}
			})
		})
	}
}

func TestAuthors_BypassTheCacheForCounts(t *testing.T) {
	t.Parallel()
	for selection, want := range map[string]string{
		"author { username }":                           "remembered",
		"author { username } mentions { bio }":          "remembered",
		"author { followerCount }":                      "read anew",
		"author { username } mentions { postCount }":    "read anew",
		"entities { start }":                            "remembered",
		"author { ...F }":                               "read anew",
		"author { timeline { owner { followerCount }}}": "read anew",
	} {
		a := newAPI(Options{})
		author := a.addUser("alice")
		a.addPost(author, "text").Mentions = []retwis.UserID{author.ID}
		asked := &askedAuthors{anyUsers: anyUsers{a.fakeBackend}, how: map[string]bool{}}
		resolver := a.resolver()
		resolver.Users = asked
		a.serve(resolver, Options{})
		fragment := ""
		if strings.Contains(selection, "...F") {
			fragment = "fragment F on User { n: followingCount }"
		}
		response := a.run(t.Context(), "{ publicTimeline { posts { edges { node { "+selection+" } } } } }"+fragment, "")
		if len(response.Errors) > 0 {
			t.Fatal(response.Errors)
		}
		if !asked.how[want] || len(asked.how) != 1 {
			t.Errorf("%s: authors are %v, want %s", selection, asked.how, want)
		}
	}
}

// askedAuthors records how authors were read.
type askedAuthors struct {
	anyUsers
	how map[string]bool
}

type anyUsers struct{ Users }

func (a *askedAuthors) Users(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	a.how["read anew"] = true
	return a.anyUsers.Users.Users(ctx, ids)
}

func (a *askedAuthors) Authors(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	a.how["remembered"] = true
	return a.anyUsers.Users.Authors(ctx, ids)
}
