package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
)

// operation is one kind of thing that clients do.
type operation struct {
	name   string
	weight int // of 100
	do     func(ctx context.Context, u *users, as account, random *rand.Rand) error
}

const postFields = `edges { cursor node { id text createdAt author { id username displayName } } } pageInfo { hasNextPage endCursor }`

// mixture returns the operations of the scenario mixed. Users read far more than they write: of 100
// operations four create posts, and one changes a follow.
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

// pick chooses an operation at random, by weight.
func pick(operations []operation, random *rand.Rand) operation {
	n := random.IntN(100)
	for _, op := range operations {
		if n -= op.weight; n < 0 {
			return op
		}
	}
	return operations[0]
}

// users holds what operations need.
type users struct {
	client   *Client
	accounts []account
	posts    atomic.Int64

	home, public Request
}

func newUsers(c *Client, accounts []account) *users {
	return &users{
		client:   c,
		accounts: accounts,
		home:     NewRequest(`{ viewer { homeTimeline { posts(first: 20) { `+postFields+` liveCursor } } } }`, nil),
		public:   NewRequest(`{ publicTimeline { posts(first: 20) { `+postFields+` } } }`, nil),
	}
}

func readHome(ctx context.Context, u *users, as account, _ *rand.Rand) error {
	return u.client.Do(ctx, as.token, u.home, nil)
}

// readOlder reads the first page and the one after it, as one operation.
func readOlder(ctx context.Context, u *users, as account, _ *rand.Rand) error {
	var answer struct {
		Viewer struct {
			HomeTimeline struct {
				Posts struct{ PageInfo struct{ EndCursor string } }
			}
		}
	}
	if err := u.client.Do(ctx, as.token, u.home, &answer); err != nil {
		return err
	}
	return u.client.Do(ctx, as.token, NewRequest(`query ($after: Cursor) {
		viewer { homeTimeline { posts(first: 20, after: $after) { `+postFields+` } } } }`,
		map[string]any{"after": answer.Viewer.HomeTimeline.Posts.PageInfo.EndCursor}), nil)
}

func readProfile(ctx context.Context, u *users, as account, random *rand.Rand) error {
	return u.client.Do(ctx, as.token, NewRequest(`query ($name: String!) {
		user(username: $name) { displayName bio followerCount followingCount postCount viewerFollows
			timeline { posts(first: 20) { `+postFields+` } } } }`,
		map[string]any{"name": u.randomAccount(random).name}), nil)
}

func readPublic(ctx context.Context, u *users, as account, _ *rand.Rand) error {
	return u.client.Do(ctx, as.token, u.public, nil)
}

func writePost(ctx context.Context, u *users, as account, _ *rand.Rand) error {
	return u.client.Do(ctx, as.token,
		postRequest(fmt.Sprintf("Post %d of a load test, of about the usual length.", u.posts.Add(1))), nil)
}

// toggleFollow unfollows an author and follows them again, as one operation.
func toggleFollow(ctx context.Context, u *users, as account, random *rand.Rand) error {
	author := u.randomAccount(random)
	if author.id == as.id {
		author = u.accounts[0]
		if author.id == as.id {
			author = u.accounts[1]
		}
	}
	err := u.client.Do(ctx, as.token, NewRequest(`mutation ($id: ID!) {
		unfollowUser(input: { userId: $id }) { userErrors { code message } } }`, map[string]any{"id": author.id}), nil)
	if err != nil {
		return err
	}
	return u.client.follow(ctx, as, author.id)
}

func (u *users) randomAccount(random *rand.Rand) account {
	return u.accounts[random.IntN(len(u.accounts))]
}

func postRequest(text string) Request { return keyedPostRequest(text, nil) }

// keyedPostRequest creates a post with an idempotency key, unless the key is nil.
func keyedPostRequest(text string, key any) Request {
	return NewRequest(`mutation ($text: String!, $key: String) {
		createPost(input: { text: $text, idempotencyKey: $key }) { edge { node { id } } userErrors { code message } } }`,
		map[string]any{"text": text, "key": key})
}
