package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// cookies records the session cookies that a transport sets.
func cookies(ctx context.Context) (context.Context, *[]string) {
	var set []string
	return auth.WithRequest(ctx, auth.Request{SetCookie: func(token string) { set = append(set, token) }}), &set
}

func wantCookies(t *testing.T, got *[]string, want ...string) {
	t.Helper()
	if !slices.Equal(*got, want) {
		t.Errorf("the cookie was set to %q, want %q", *got, want)
	}
}

const userErrorFields = `userErrors { code field message }`

func TestRegister_ReturnsPayload(t *testing.T) {
	t.Parallel()
	const query = `mutation($input: RegisterInput!) { register(input: $input) { token user { username displayName } ` + userErrorFields + ` } }`
	a := newAPI(Options{})

	ctx, set := cookies(as(t, nil))
	wantData(t, a.run(ctx, query, `{"input": {"username": "alice", "password": "long enough"}}`),
		`{"register": {"token": "token of alice", "user": {"username": "alice", "displayName": "ALICE"}, "userErrors": []}}`)
	wantCookies(t, set, "token of alice")

	wantData(t, a.run(as(t, nil), query, `{"input": {"username": "bob", "password": "long enough", "displayName": "Bobby"}}`),
		`{"register": {"token": "token of bob", "user": {"username": "bob", "displayName": "Bobby"}, "userErrors": []}}`)

	t.Run("everything that is wrong is said at once", func(t *testing.T) {
		ctx, set := cookies(as(t, nil))
		wantData(t, a.run(ctx, query, `{"input": {"username": "alice", "password": "short"}}`),
			`{"register": {"token": null, "user": null, "userErrors": [
				{"code": "TAKEN", "field": ["input", "username"], "message": "that username is taken"},
				{"code": "TOO_SHORT", "field": ["input", "password"], "message": "too short"}
			]}}`)
		wantCookies(t, set)
	})
}

func TestLogin_ReturnsPayload(t *testing.T) {
	t.Parallel()
	const query = `mutation($input: LoginInput!) { login(input: $input) { token user { username viewerFollows } ` + userErrorFields + ` } }`
	a := newAPI(Options{})
	a.addUser("alice")

	ctx, set := cookies(as(t, nil))
	wantData(t, a.run(ctx, query, `{"input": {"username": "alice", "password": "alice's password"}}`),
		`{"login": {"token": "token of alice", "user": {"username": "alice", "viewerFollows": false}, "userErrors": []}}`)
	wantCookies(t, set, "token of alice")

	for _, name := range []string{"alice", "nobody"} {
		ctx, set := cookies(as(t, nil))
		wantData(t, a.run(ctx, query, `{"input": {"username": "`+name+`", "password": "wrong"}}`),
			`{"login": {"token": null, "user": null, "userErrors": [
				{"code": "WRONG_CREDENTIALS", "field": null, "message": "wrong username or password"}
			]}}`)
		wantCookies(t, set)
	}
}

func TestLogout_EndsTheSession(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	for field, call := range map[string]string{"logout": "Logout", "logoutEverywhere": "EndAll"} {
		ctx, set := cookies(as(t, alice))
		wantData(t, a.run(ctx, `mutation { `+field+` { userErrors { code } } }`, ""), `{"`+field+`": {"userErrors": []}}`)
		wantCookies(t, set, "")
		if got := a.called(call); len(got) != 1 || got[0] != call+alice.ID.String() {
			t.Errorf("%s made the calls %q", field, got)
		}
	}
}

func TestChangePassword_ReturnsPayload(t *testing.T) {
	t.Parallel()
	const query = `mutation($input: ChangePasswordInput!) { changePassword(input: $input) { token user { username } ` + userErrorFields + ` } }`
	a := newAPI(Options{})
	alice := a.addUser("alice")

	ctx, set := cookies(as(t, alice))
	wantData(t, a.run(ctx, query, `{"input": {"currentPassword": "guess", "newPassword": "new password"}}`),
		`{"changePassword": {"token": null, "user": null, "userErrors": [
			{"code": "WRONG_CREDENTIALS", "field": ["input", "currentPassword"], "message": "wrong"}
		]}}`)
	wantCookies(t, set)
	wantData(t, a.run(ctx, query, `{"input": {"currentPassword": "alice's password", "newPassword": "new password"}}`),
		`{"changePassword": {"token": "token of alice", "user": {"username": "alice"}, "userErrors": []}}`)
	wantCookies(t, set, "token of alice")
}

func TestDeleteAccount_ReturnsPayload(t *testing.T) {
	t.Parallel()
	const query = `mutation($password: String!) { deleteAccount(input: {password: $password}) { deletedUserId ` + userErrorFields + ` } }`
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	a.addPost(alice, "still there")
	id := globalUserID(alice.ID)

	ctx, set := cookies(as(t, alice))
	wantData(t, a.run(ctx, query, `{"password": "guess"}`),
		`{"deleteAccount": {"deletedUserId": null, "userErrors": [
			{"code": "WRONG_CREDENTIALS", "field": ["input", "password"], "message": "wrong"}
		]}}`)
	wantCookies(t, set)
	wantData(t, a.run(ctx, query, `{"password": "alice's password"}`),
		`{"deleteAccount": {"deletedUserId": "`+id+`", "userErrors": []}}`)
	wantCookies(t, set, "")

	// Remaining posts of a deleted account still have an author.
	wantData(t, a.run(as(t, bob), `query($ids: [ID!]!) {
			nodes(ids: $ids) { id } publicTimeline { posts(first: 1) { edges { node { author { username } } } } }
		}`, `{"ids": ["`+id+`", "`+globalTimelineID(retwis.Profile(alice.ID))+`"]}`),
		`{"nodes": [null, null], "publicTimeline": {"posts": {"edges": [{"node": {"author": {"username": "alice"}}}]}}}`)
}

func TestUpdateProfile_ReturnsPayload(t *testing.T) {
	t.Parallel()
	const query = `mutation($input: UpdateProfileInput!) { updateProfile(input: $input) { user { displayName bio } ` + userErrorFields + ` } }`
	a := newAPI(Options{})
	alice := a.addUser("alice")
	tests := []struct{ name, input, displayName, bio string }{
		{"nothing", `{}`, "ALICE", ""},
		{"one field", `{"bio": "Hi"}`, "ALICE", "Hi"},
		{"the other", `{"displayName": "Alice"}`, "Alice", "Hi"},
		{"null changes nothing", `{"displayName": null, "bio": null}`, "Alice", "Hi"},
		{"both", `{"displayName": "A", "bio": ""}`, "A", ""},
	}
	for _, tt := range tests {
		wantData(t, a.run(as(t, alice), query, `{"input": `+tt.input+`}`),
			fmt.Sprintf(`{"updateProfile": {"user": {"displayName": %q, "bio": %q}, "userErrors": []}}`, tt.displayName, tt.bio))
	}
	wantData(t, a.run(as(t, alice), query, `{"input": {"displayName": ""}}`),
		`{"updateProfile": {"user": null, "userErrors": [{"code": "BLANK", "field": ["input", "displayName"], "message": "blank"}]}}`)
}

func TestCreatePost_ReturnsPayload(t *testing.T) {
	t.Parallel()
	const query = `mutation($input: CreatePostInput!) { createPost(input: $input) {
		edge { cursor node { id text author { username postCount } } } userErrors { code field }
	} }`
	a := newAPI(Options{})
	alice := a.addUser("alice")
	want := func(id retwis.PostID, text string, postCount int) string {
		return fmt.Sprintf(`{"createPost": {"edge": {"cursor": %q, "node": {
				"id": %q, "text": %q, "author": {"username": "alice", "postCount": %d}}}, "userErrors": []}}`,
			retwis.TimelinePosition{Timeline: retwis.Home(alice.ID), Element: retwis.Plain(id)}.Cursor(), globalPostID(id), text, postCount)
	}

	wantData(t, a.run(as(t, alice), query, `{"input": {"text": "  one\n"}}`), want(1_000_000, "one", 1))
	wantData(t, a.run(as(t, alice), query, `{"input": {"text": "one"}}`), want(2_000_000, "one", 2))
	if calls := a.called("CreatePost"); len(calls) != 2 || calls[0] == calls[1] || len(calls[0]) < len("CreatePost")+20 {
		t.Errorf("without a key, made the calls %q, want two with different keys", calls)
	}

	const repeated = `{"input": {"text": "two", "idempotencyKey": "k"}}`
	wantData(t, a.run(as(t, alice), query, repeated), want(3_000_000, "two", 3))
	wantData(t, a.run(as(t, alice), query, repeated), want(3_000_000, "two", 3))

	tests := []struct{ name, input, want string }{
		{"blank", `{"text": " \n "}`, `[{"code": "BLANK", "field": ["input", "text"]}]`},
		{"too long", `{"text": "` + strings.Repeat("x", 281) + `"}`, `[{"code": "TOO_LONG", "field": ["input", "text"]}]`},
		{"a key used for another text", `{"text": "three", "idempotencyKey": "k"}`, `[{"code": "INVALID", "field": ["input", "idempotencyKey"]}]`},
		{"a bad key", `{"text": "three", "idempotencyKey": "\n"}`, `[{"code": "INVALID", "field": ["input", "idempotencyKey"]}]`},
		{"everything", `{"text": "", "idempotencyKey": "ü"}`,
			`[{"code": "BLANK", "field": ["input", "text"]}, {"code": "INVALID", "field": ["input", "idempotencyKey"]}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantData(t, a.run(as(t, alice), query, `{"input": `+tt.input+`}`),
				`{"createPost": {"edge": null, "userErrors": `+tt.want+`}}`)
		})
	}
}

func TestDeletePost_ReturnsPayload(t *testing.T) {
	t.Parallel()
	const query = `mutation($id: ID!) { deletePost(input: {postId: $id}) { deletedPostId userErrors { code field } } }`
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	post := globalPostID(a.addPost(alice, "one").ID)

	wantData(t, a.run(as(t, alice), query, `{"id": "`+post+`"}`), `{"deletePost": {"deletedPostId": "`+post+`", "userErrors": []}}`)
	wantData(t, a.run(as(t, bob), query, `{"id": "`+post+`"}`),
		`{"deletePost": {"deletedPostId": null, "userErrors": [{"code": "NOT_OWNER", "field": ["input", "postId"]}]}}`)
	for _, id := range []string{globalPostID(99), globalUserID(alice.ID), "1", ""} {
		wantData(t, a.run(as(t, alice), query, `{"id": "`+id+`"}`),
			`{"deletePost": {"deletedPostId": null, "userErrors": [{"code": "NOT_FOUND", "field": ["input", "postId"]}]}}`)
	}
}

func TestFollowUser_ReturnsPayload(t *testing.T) {
	t.Parallel()
	const query = `mutation($id: ID!, $follow: Boolean!) {
		followUser(input: {userId: $id}) @include(if: $follow) { ...result }
		unfollowUser(input: {userId: $id}) @skip(if: $follow) { ...result }
	}
	fragment result on FollowPayload { user { username followerCount viewerFollows } viewer { user { username } } userErrors { code field } }`
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	variables := func(id string, follow bool) string { return fmt.Sprintf(`{"id": %q, "follow": %t}`, id, follow) }

	wantData(t, a.run(as(t, alice), query, variables(globalUserID(bob.ID), true)), `{"followUser": {
		"user": {"username": "bob", "followerCount": 1, "viewerFollows": true}, "viewer": {"user": {"username": "alice"}}, "userErrors": []}}`)
	wantData(t, a.run(as(t, alice), query, variables(globalUserID(bob.ID), false)), `{"unfollowUser": {
		"user": {"username": "bob", "followerCount": 0, "viewerFollows": false}, "viewer": {"user": {"username": "alice"}}, "userErrors": []}}`)

	wantData(t, a.run(as(t, alice), query, variables(globalUserID(alice.ID), true)),
		`{"followUser": {"user": null, "viewer": null, "userErrors": [{"code": "SELF_FOLLOW", "field": ["input", "userId"]}]}}`)
	for _, id := range []string{globalUserID(99), globalViewerID(bob.ID), globalPostID(5), "bob"} {
		for follow, field := range map[bool]string{true: "followUser", false: "unfollowUser"} {
			wantData(t, a.run(as(t, alice), query, variables(id, follow)),
				`{"`+field+`": {"user": null, "viewer": null, "userErrors": [{"code": "NOT_FOUND", "field": ["input", "userId"]}]}}`)
		}
	}
}

func TestFollowUser_ShowsOrHidesReposts(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	user := func(hidden bool) string {
		return fmt.Sprintf(`{"user": {"viewerFollows": true, "viewerHidesReposts": %t}}`, hidden)
	}
	wantData(t, a.run(as(t, alice), `mutation($id: ID!) {
			first: followUser(input: {userId: $id}) { ...result }
			hide: followUser(input: {userId: $id, showReposts: false}) { ...result }
			same: followUser(input: {userId: $id, showReposts: null}) { ...result }
			show: followUser(input: {userId: $id, showReposts: true}) { ...result }
		}
		fragment result on FollowPayload { user { viewerFollows viewerHidesReposts } }`, `{"id": "`+globalUserID(bob.ID)+`"}`),
		`{"first": `+user(false)+`, "hide": `+user(true)+`, "same": `+user(true)+`, "show": `+user(false)+`}`)
	wantData(t, a.run(context.Background(), `{ user(username: "bob") { viewerHidesReposts } }`, ""), `{"user": {"viewerHidesReposts": false}}`)
}

func TestMutation_FieldsSeeEarlierChanges(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice, bob := a.addUser("alice"), a.addUser("bob")
	id := globalUserID(bob.ID)
	wantData(t, a.run(as(t, alice), `mutation($id: ID!) {
			a: followUser(input: {userId: $id}) { user { followerCount viewerFollows } }
			b: unfollowUser(input: {userId: $id}) { user { followerCount viewerFollows } }
			c: followUser(input: {userId: $id}) { user { followerCount viewerFollows } }
		}`, `{"id": "`+id+`"}`), `{
			"a": {"user": {"followerCount": 1, "viewerFollows": true}},
			"b": {"user": {"followerCount": 0, "viewerFollows": false}},
			"c": {"user": {"followerCount": 1, "viewerFollows": true}}
		}`)
}

func TestMutations_RequireAViewer(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	for _, field := range []string{
		`logout { userErrors { code } }`,
		`logoutEverywhere { userErrors { code } }`,
		`changePassword(input: {currentPassword: "", newPassword: ""}) { token }`,
		`deleteAccount(input: {password: ""}) { deletedUserId }`,
		`updateProfile(input: {}) { user { id } }`,
		`createPost(input: {text: ""}) { edge { cursor } }`,
		`deletePost(input: {postId: ""}) { deletedPostId }`,
		`followUser(input: {userId: ""}) { user { id } }`,
		`unfollowUser(input: {userId: ""}) { user { id } }`,
	} {
		name, _, _ := strings.Cut(strings.ReplaceAll(field, "(", " "), " ")
		t.Run(name, func(t *testing.T) {
			ctx, set := cookies(as(t, nil))
			response := a.run(ctx, `mutation { `+field+` }`, "")
			wantError(t, response, "UNAUTHENTICATED")
			wantJSON(t, string(response.Data), `{"`+name+`": null}`)
			wantCookies(t, set)
		})
	}
	if len(a.calls) > 0 {
		t.Errorf("made the calls %q", a.calls)
	}
}

func TestMutations_ReturnInternalErrorsAtTheField(t *testing.T) {
	t.Parallel()
	a := newAPI(Options{})
	alice := a.addUser("alice")
	a.fail["CreatePost"] = fmt.Errorf("create post: %w", &retwis.Error{
		Code: retwis.CodeRateLimited, Message: "slow down", RetryAfterSeconds: 7,
	})
	response := a.run(as(t, alice), `mutation { createPost(input: {text: "x"}) { userErrors { code } } }`, "")
	err := wantError(t, response, "RATE_LIMITED")
	if err.Extensions["retryAfter"] != 7 || err.Message != "slow down" {
		t.Errorf("got %q with %v", err.Message, err.Extensions)
	}
	wantJSON(t, string(response.Data), `{"createPost": null}`)
}
