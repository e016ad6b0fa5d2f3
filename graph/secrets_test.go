package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// everything selects every root field, and causes every call of the backend.
func everything(alice, bob *retwis.User, post retwis.PostID, list retwis.ListID, session retwis.SessionID) []string {
	id := map[string]string{
		"ALICE": globalUserID(alice.ID), "BOB": globalUserID(bob.ID), "POST": globalPostID(post), "LIST": globalListID(list),
		"SESSION": globalSessionID(session), "HOME": globalTimelineID(retwis.Home(alice.ID)),
		"CURSOR": string(*retwis.MarkerCursor(retwis.Home(alice.ID), retwis.Plain(post))),
	}
	operations := []string{
		`{ rateLimit { cost } publicTimeline { posts { edges { node { author { username } mentions { username } entities { start } } } } } }`,
		`{ user(username: "bob") { bioEntities { start } viewerFollows followsViewer followers { totalCount } following { totalCount }
			commonFollowers(with: "ALICE") { totalCount } followersYouKnow { totalCount } timeline { posts { liveCursor } owner { id } } } }`,
		`{ node(id: "POST") { ... on Post { text } } nodes(ids: ["ALICE", "LIST", "SESSION", "HOME"]) { __typename } }`,
		`{ viewer { user { username } sessions { userAgent } lists { edges { node { name members { totalCount } timeline { posts { liveCursor } } LISTHAS } } }
			homeTimeline { posts { liveCursor } } mentionsTimeline { unreadCount marker } } }`,
		`{ tag(name: "go") { name timeline { posts { edges { node { entities { ... on TextHashtag { tag { id } } } } } } } } }`,
		`{ viewer { mentionsTimeline { posts { liveCursor } } } }`,
		`{ thread(postId: "POST") { replyCount ancestors { post { text } } replies { edges { node { text quotedPost { post { text } } } } } } }`,
		`{ publicTimeline { posts { edges { node { likeCount quoteCount viewerHasLiked likers { totalCount edges { node { username } } } } } } } }`,
		`{ viewer { likedPosts { edges { likedAt node { text } } } } }`,
		`mutation { likePost(input: {postId: "POST"}) { post { likeCount } userErrors { message } } }`,
		`mutation { unlikePost(input: {postId: "POST"}) { post { likeCount } userErrors { message } } }`,
		`mutation { repostPost(input: {postId: "POST"}) { post { repostCount viewerHasReposted } userErrors { message } } }`,
		`mutation { undoRepost(input: {postId: "POST"}) { post { repostCount } userErrors { message } } }`,
		`{ newestUsers { totalCount } searchUsers(prefix: "b") { totalCount } findUsers(query: "b") { username } }`,
		`subscription { timelineEvents { __typename } }`,
		`subscription { timelineEvents(timelineId: "HOME") { __typename ... on PostAdded { edge { node { author { username } } } } } }`,
	}
	for _, mutation := range []string{
		`register(input: {username: "carol", password: "long enough"}) { token userErrors { message } }`,
		`login(input: {username: "alice", password: "alice's password"}) { token userErrors { message } }`,
		`logout { userErrors { message } }`,
		`logoutEverywhere { userErrors { message } }`,
		`changePassword(input: {currentPassword: "alice's password", newPassword: "alice's password"}) { token userErrors { message } }`,
		`revokeSession(input: {sessionId: "SESSION"}) { userErrors { message } }`,
		`updateProfile(input: {bio: "x"}) { user { bio } userErrors { message } }`,
		`createPost(input: {text: "x"}) { edge { cursor } userErrors { message } }`,
		`followUser(input: {userId: "BOB"}) { user { id } userErrors { message } }`,
		`followUser(input: {userId: "BOB", showReposts: false}) { user { viewerHidesReposts } userErrors { message } }`,
		`unfollowUser(input: {userId: "BOB"}) { user { id } userErrors { message } }`,
		`createList(input: {name: "x"}) { list { name } userErrors { message } }`,
		`renameList(input: {listId: "LIST", name: "x"}) { list { name } userErrors { message } }`,
		`addListMember(input: {listId: "LIST", userId: "BOB"}) { list { name } userErrors { message } }`,
		`removeListMember(input: {listId: "LIST", userId: "BOB"}) { list { name } userErrors { message } }`,
		`deleteList(input: {listId: "LIST"}) { userErrors { message } }`,
		`deletePost(input: {postId: "POST"}) { userErrors { message } }`,
		`markTimelineRead(input: {timelineId: "HOME", cursor: "CURSOR"}) { timeline { unreadCount } userErrors { message } }`,
		`deleteAccount(input: {password: "alice's password"}) { userErrors { message } }`,
	} {
		operations = append(operations, "mutation { "+mutation+" }")
	}
	for i := range operations {
		for name, value := range id {
			operations[i] = strings.ReplaceAll(operations[i], `"`+name+`"`, `"`+value+`"`)
		}
		operations[i] = strings.ReplaceAll(operations[i], "LISTHAS", `hasMember(userId: "`+id["BOB"]+`")`)
	}
	return operations
}

// exposed returns an API whose backend has an object for every field.
func exposed() (*api, context.Context, []string) {
	a := newAPI(Options{Introspection: true})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	bob.Bio = "@alice"
	post := a.tagPost(alice, "hello @bob #go")
	a.addFollow(alice, bob)
	list := a.addList(alice, "friends", bob)
	who := a.addSession(alice, "Phone/1.0")
	return a, auth.WithIdentity(context.Background(), who), everything(alice, bob, post.ID, list.ID, who.SessionID())
}

// TestErrors_HideInternals makes each call of the backend fail in turn, with an error that
// contains internal details.
func TestErrors_HideInternals(t *testing.T) {
	t.Parallel()
	a, ctx, operations := exposed()
	for _, operation := range operations {
		a.answers(ctx, t, operation)
	}
	for _, root := range []string{"Query", "Mutation", "Subscription"} {
		for _, field := range a.executor.schema.Types[root].Fields {
			asked := func(operation string) bool { return strings.Contains(operation, field.Name) }
			if !strings.HasPrefix(field.Name, "__") && !slices.ContainsFunc(operations, asked) {
				t.Errorf("no operation selects %s.%s: add one to this test", root, field.Name)
			}
		}
	}
	names := slices.Sorted(maps.Keys(a.names))
	// Calls with another name in the fakeBackend, and calls that no operation makes.
	others := map[string]string{"LogoutEverywhere": "EndAll", "Authors": "Users", "Attach": ""}
	for _, part := range []any{(*Accounts)(nil), (*Users)(nil), (*Posts)(nil), (*Follows)(nil), (*Lists)(nil), (*Tags)(nil), (*Timelines)(nil), (*Live)(nil)} {
		part := reflect.TypeOf(part).Elem()
		for method := range part.Methods() {
			name := method.Name
			if other, ok := others[name]; ok {
				name = other
			}
			if name != "" && !slices.Contains(names, name) {
				t.Errorf("no operation calls %s.%s: add one to this test", part.Name(), name)
			}
		}
	}

	const secret = "inside"
	failures := map[string]error{
		"of Redis":         errors.New("ERR Error running script (call to f_inside): @user_script:7: WRONGTYPE inside"),
		"of the network":   &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 6379}, Err: os.NewSyscallError("inside", os.ErrPermission)},
		"of time":          fmt.Errorf("inside {p3}:user:7: %w", context.DeadlineExceeded),
		"of a file":        &os.PathError{Op: "open", Path: "/var/lib/inside", Err: os.ErrNotExist},
		"around a refusal": fmt.Errorf("find inside: %w", fmt.Errorf("read inside: %w", retwis.ErrNotFound)),
	}
	leaks := regexp.MustCompile(`(?i)inside|redis|wrongtype|script|dial|tcp|10\.0\.0|6379|/var|\.go|deadline|goroutine|permission`)
	ids := regexp.MustCompile(`"id":"[A-Z2-7]{26}"`)
	for kind, failure := range failures {
		for _, name := range names {
			t.Run(name+" fails because "+kind, func(t *testing.T) {
				t.Parallel()
				a, ctx, operations := exposed()
				a.fail[name] = failure
				failed := 0
				for _, operation := range operations {
					for _, answer := range a.answers(ctx, t, operation) {
						if strings.Contains(answer, `"errors"`) || strings.Contains(answer, `"code"`) {
							failed++
						}
						// The random id of an error may contain any word.
						for _, word := range leaks.FindAllString(ids.ReplaceAllString(answer, ""), -1) {
							t.Errorf("the response contains %q: %s", word, answer)
						}
					}
				}
				if kind != "around a refusal" && (failed == 0 || !strings.Contains(a.log.String(), secret)) {
					t.Errorf("%d operations failed, and the log is\n%s", failed, a.log)
				}
			})
		}
	}
}

// answers runs an operation to its end, and returns its responses. Subscriptions receive one
// event.
func (a *api) answers(ctx context.Context, t *testing.T, operation string) []string {
	t.Helper()
	responses, ctx := a.start(ctx, operation, "")
	for timeline, sink := range a.live {
		sink.Take(&retwis.PostAdded{Edge: edge(timeline, a.posts[0])})
		sink.End(nil)
	}
	clear(a.live)
	var answers []string
	for response := responses(ctx); response != nil; response = responses(ctx) {
		b, err := json.Marshal(response)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, string(b))
		if !strings.HasPrefix(operation, "subscription") || len(response.Errors) > 0 {
			break
		}
	}
	return answers
}
