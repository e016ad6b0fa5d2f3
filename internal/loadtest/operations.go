package loadtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
)

// operation is something that clients do.
type operation struct {
	name   string
	weight int // of 100
	do     func(ctx context.Context, w *world, as account, random *rand.Rand) error
}

const postFields = `edges { cursor node { id text createdAt author { id username displayName } } } pageInfo { hasNextPage endCursor }`

// mixture is the scenario mixed. People read far more than they write: of 100 operations
// four are posts, and one changes whom somebody follows.
func mixture() []operation {
	return []operation{
		{"home pages", 70, readHome},
		{"second pages", 10, readOlder},
		{"profiles", 10, readProfile},
		{"public pages", 5, readPublic},
		{"posts", 4, writePost},
		{"follows", 1, toggleFollow},
	}
}

func operationsOf(scenario string) []operation {
	switch scenario {
	case Read:
		return []operation{{"home pages", 100, readHome}}
	case Mixed:
		return mixture()
	default:
		return []operation{{"posts", 100, writePost}}
	}
}

// pick chooses an operation by weight.
func pick(operations []operation, random *rand.Rand) operation {
	n := random.IntN(100)
	for _, op := range operations {
		if n -= op.weight; n < 0 {
			return op
		}
	}
	return operations[0]
}

// world is what operations need.
type world struct {
	client   *client
	accounts []account
	posts    atomic.Int64

	home, public request
}

func newWorld(c *client, accounts []account) *world {
	return &world{
		client:   c,
		accounts: accounts,
		home:     newRequest(`{ viewer { homeTimeline { posts(first: 20) { `+postFields+` liveCursor } } } }`, nil),
		public:   newRequest(`{ publicTimeline { posts(first: 20) { `+postFields+` } } }`, nil),
	}
}

func readHome(ctx context.Context, w *world, as account, _ *rand.Rand) error {
	return w.client.do(ctx, as.token, w.home, nil)
}

// readOlder reads the page below the first one: both are one operation.
func readOlder(ctx context.Context, w *world, as account, _ *rand.Rand) error {
	var answer struct {
		Viewer struct {
			HomeTimeline struct {
				Posts struct{ PageInfo struct{ EndCursor string } }
			}
		}
	}
	if err := w.client.do(ctx, as.token, w.home, &answer); err != nil {
		return err
	}
	return w.client.do(ctx, as.token, newRequest(`query ($after: Cursor) {
		viewer { homeTimeline { posts(first: 20, after: $after) { `+postFields+` } } } }`,
		map[string]any{"after": answer.Viewer.HomeTimeline.Posts.PageInfo.EndCursor}), nil)
}

func readProfile(ctx context.Context, w *world, as account, random *rand.Rand) error {
	return w.client.do(ctx, as.token, newRequest(`query ($name: String!) {
		user(username: $name) { displayName bio followerCount followingCount postCount viewerFollows
			timeline { posts(first: 20) { `+postFields+` } } } }`,
		map[string]any{"name": w.somebody(random).name}), nil)
}

func readPublic(ctx context.Context, w *world, as account, _ *rand.Rand) error {
	return w.client.do(ctx, as.token, w.public, nil)
}

func writePost(ctx context.Context, w *world, as account, _ *rand.Rand) error {
	return w.client.do(ctx, as.token,
		postRequest(fmt.Sprintf("Post %d of a load test, about as long as posts are on the whole.", w.posts.Add(1))), nil)
}

// toggleFollow ends a follow and makes it again: both are one operation.
func toggleFollow(ctx context.Context, w *world, as account, random *rand.Rand) error {
	author := w.somebody(random)
	if author.id == as.id {
		author = w.accounts[0]
		if author.id == as.id {
			author = w.accounts[1]
		}
	}
	err := w.client.do(ctx, as.token, newRequest(`mutation ($id: ID!) {
		unfollowUser(input: { userId: $id }) { userErrors { code message } } }`, map[string]any{"id": author.id}), nil)
	if err != nil {
		return err
	}
	return w.client.follow(ctx, as, author.id)
}

func (w *world) somebody(random *rand.Rand) account { return w.accounts[random.IntN(len(w.accounts))] }

func postRequest(text string) request { return keyedPostRequest(text, nil) }

// keyedPostRequest makes a post once for a key, within a day.
func keyedPostRequest(text string, key any) request {
	return newRequest(`mutation ($text: String!, $key: String) {
		createPost(input: { text: $text, idempotencyKey: $key }) { edge { node { id } } userErrors { code message } } }`,
		map[string]any{"text": text, "key": key})
}
