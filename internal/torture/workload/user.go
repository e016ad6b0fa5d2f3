package workload

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"retwis/internal/torture/history"
	"retwis/internal/torture/validate"
)

// retryAfter is the pause before an operation with an unknown outcome is repeated.
const retryAfter = 500 * time.Millisecond

// User is an account that acts through the API. Its methods record their operations.
type User struct {
	Name string

	api      *API
	recorder *history.Recorder
	posts    *posts // of all users
	id       string
	token    string
	list     string // id of the user's list

	mu    sync.Mutex
	seq   int
	alive []post // own posts that were not deleted, oldest first

	mentions map[string]int // how often the user mentioned others
	liked    []post         // used by one goroutine
	reposted []post         // used by one goroutine
}

const (
	registerMutation = `mutation($name: String!) { session: register(input: {username: $name, password: "torture test"}) { token user { id } userErrors { code message } } }`
	loginMutation    = `mutation($name: String!) { session: login(input: {username: $name, password: "torture test"}) { token user { id } userErrors { code message } } }`
	postMutation     = `mutation($text: String!, $key: String!, $answered: ID) { createPost(input: {text: $text, idempotencyKey: $key, inReplyToId: $answered}) { edge { node { id } } userErrors { code message } } }`
	deleteMutation   = `mutation($id: ID!) { deletePost(input: {postId: $id}) { userErrors { code message } } }`
	followMutation   = `mutation($id: ID!, $reposts: Boolean) { followUser(input: {userId: $id, showReposts: $reposts}) { userErrors { code message } } }`
	unfollowMutation = `mutation($id: ID!) { unfollowUser(input: {userId: $id}) { userErrors { code message } } }`
	listMutation     = `mutation { createList(input: {name: "a list", idempotencyKey: "1"}) { list { id } userErrors { code message } } }`
	addMutation      = `mutation($id: ID!, $list: ID!) { addListMember(input: {userId: $id, listId: $list}) { userErrors { code message } } }`
	dropMutation     = `mutation($id: ID!, $list: ID!) { removeListMember(input: {userId: $id, listId: $list}) { userErrors { code message } } }`
	likeMutation     = `mutation($id: ID!) { likePost(input: {postId: $id}) { userErrors { code message } } }`
	unlikeMutation   = `mutation($id: ID!) { unlikePost(input: {postId: $id}) { userErrors { code message } } }`
	repostMutation   = `mutation($id: ID!) { repostPost(input: {postId: $id}) { userErrors { code message } } }`
	undoMutation     = `mutation($id: ID!) { undoRepost(input: {postId: $id}) { userErrors { code message } } }`
	leaveMutation    = `mutation { deleteAccount(input: {password: "torture test"}) { userErrors { code message } } }`
	followsQuery     = `query($id: ID!) { node(id: $id) { ... on User { viewerFollows } } }`
)

// register creates the account, or logs in if an attempt with an unknown outcome has created it. It is done before faults begin,
// but a busy machine may not answer in time.
func (u *User) register(ctx context.Context) error {
	tried := false
	err := settle(func() error {
		err := u.enter(ctx, registerMutation)
		if tried && errors.Is(err, errRefused) {
			err = u.enter(ctx, loginMutation)
		}
		tried = true
		return err
	})
	if err != nil {
		return fmt.Errorf("register %s: %w", u.Name, err)
	}
	return nil
}

// settle repeats a step of the set-up whose outcome is unknown, a few times.
func settle(step func() error) error {
	err := step()
	for try := 1; err != nil && !errors.Is(err, errRefused) && try < 5; try++ {
		err = step()
	}
	return err
}

// enter begins a session with a mutation whose field is named session.
func (u *User) enter(ctx context.Context, mutation string) error {
	var data struct {
		Session struct {
			Token string
			User  struct{ ID string }
		}
	}
	if err := u.api.call(ctx, 0, "", mutation, map[string]any{"name": u.Name}, &data); err != nil {
		return err
	}
	u.token, u.id = data.Session.Token, data.Session.User.ID
	return nil
}

// attempt invokes an operation until its outcome is known or ctx is done, and records every attempt.
func (u *User) attempt(ctx context.Context, o history.Operation, invoke func(*history.Operation) error) bool {
	for {
		try := o
		try.Client, try.Call = u.Name, u.recorder.Now()
		err := invoke(&try)
		try.Return = u.recorder.Now()
		switch {
		case err == nil:
			try.Outcome = history.OK
		case errors.Is(err, errRefused):
			try.Outcome = history.Refused
		default:
			try.Outcome = history.Unknown
		}
		u.recorder.Operation(try)
		if try.Outcome != history.Unknown {
			return try.Outcome == history.OK
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(retryAfter):
		}
	}
}

// createList creates the list of the user. It is done before faults begin.
func (u *User) createList(ctx context.Context) error {
	var data struct {
		CreateList struct{ List struct{ ID string } }
	}
	err := settle(func() error { return u.api.call(ctx, 0, u.token, listMutation, nil, &data) })
	if err != nil {
		return fmt.Errorf("create a list of %s: %w", u.Name, err)
	}
	u.list = data.CreateList.List.ID
	return nil
}

// enlist changes whether the user's list contains an author.
func (u *User) enlist(ctx context.Context, author *User, on bool) {
	kind, mutation := history.AddMember, addMutation
	if !on {
		kind, mutation = history.DropMember, dropMutation
	}
	u.attempt(ctx, history.Operation{Kind: kind, Target: author.Name}, func(*history.Operation) error {
		return u.api.call(ctx, rand.Uint64(), u.token, mutation, map[string]any{"id": author.id, "list": u.list}, nil)
	})
}

// leave deletes the account.
func (u *User) leave(ctx context.Context) {
	u.attempt(ctx, history.Operation{Kind: history.Leave}, func(*history.Operation) error {
		return u.api.call(ctx, rand.Uint64(), u.token, leaveMutation, nil, nil)
	})
}

// maxMentions bounds how often one user mentions another, because a timeline of mentions has a capacity.
const maxMentions = 10

// mention sometimes adds the mention of one of others to a text.
func (u *User) mention(text string, others []*User) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.mentions == nil {
		u.mentions = map[string]int{}
	}
	if rand.IntN(5) == 0 && len(others) > 0 {
		if other := others[rand.IntN(len(others))].Name; u.mentions[other] < maxMentions {
			u.mentions[other]++
			return validate.Mentioning(text, other)
		}
	}
	return text
}

// write creates one post, which may answer a recent post of anybody and mention one of others. Sometimes a second client sends it at the same time.
func (u *User) write(ctx context.Context, others []*User) {
	seq := u.nextSeq()
	text, answered := validate.Text(u.Name, seq), any(nil)
	if to, ok := u.posts.recent(); ok && rand.IntN(4) == 0 {
		text, answered = validate.Answering(text, to.text), to.id
	}
	text = u.mention(text, others)
	once := func() { u.create(ctx, seq, text, answered) }
	if rand.IntN(10) > 0 {
		once()
		return
	}
	var twins sync.WaitGroup
	twins.Go(once)
	twins.Go(once)
	twins.Wait()
}

// conclude creates a last post, which every follower's home shows, and returns its text.
func (u *User) conclude(ctx context.Context) string {
	seq := u.nextSeq()
	text := validate.Text(u.Name, seq)
	u.create(ctx, seq, text, nil)
	return text
}

func (u *User) nextSeq() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.seq++
	return u.seq
}

// create creates a post. A repeat after an unknown outcome has the same idempotency key.
func (u *User) create(ctx context.Context, seq int, text string, answered any) {
	key := strconv.Itoa(seq)
	u.attempt(ctx, history.Operation{Kind: history.Post, Text: text, Key: key}, func(o *history.Operation) error {
		var data struct {
			CreatePost struct {
				Edge struct{ Node struct{ ID string } }
			}
		}
		err := u.api.call(ctx, rand.Uint64(), u.token, postMutation, map[string]any{"text": text, "key": key, "answered": answered}, &data)
		if o.ID = data.CreatePost.Edge.Node.ID; err != nil {
			return err
		}
		if u.posts.add(post{o.ID, text}) {
			u.mu.Lock()
			u.alive = append(u.alive, post{o.ID, text})
			u.mu.Unlock()
		}
		return nil
	})
}

// remove deletes one of the newest own posts, if any.
func (u *User) remove(ctx context.Context) {
	u.mu.Lock()
	if len(u.alive) == 0 {
		u.mu.Unlock()
		return
	}
	i := len(u.alive) - 1 - rand.IntN(min(10, len(u.alive)))
	chosen := u.alive[i]
	u.alive = append(u.alive[:i], u.alive[i+1:]...)
	u.mu.Unlock()
	u.attempt(ctx, history.Operation{Kind: history.Delete, ID: chosen.id, Text: chosen.text}, func(*history.Operation) error {
		return u.api.call(ctx, rand.Uint64(), u.token, deleteMutation, map[string]any{"id": chosen.id}, nil)
	})
}

// follow creates the edge to an author, or changes whether it shows reposts.
func (u *User) follow(ctx context.Context, author *User, reposts history.Reposts) bool {
	variables := map[string]any{"id": author.id}
	if reposts != history.DefaultReposts {
		variables["reposts"] = reposts == history.ShowReposts
	}
	return u.attempt(ctx, history.Operation{Kind: history.Follow, Target: author.Name, Reposts: reposts}, func(*history.Operation) error {
		return u.api.call(ctx, rand.Uint64(), u.token, followMutation, variables, nil)
	})
}

// anyReposts returns one of the choices.
func anyReposts() history.Reposts {
	return []history.Reposts{history.DefaultReposts, history.ShowReposts, history.HideReposts}[rand.IntN(3)]
}

// unfollow removes the edge to an author.
func (u *User) unfollow(ctx context.Context, author *User) {
	u.attempt(ctx, history.Operation{Kind: history.Unfollow, Target: author.Name}, func(*history.Operation) error {
		return u.api.call(ctx, rand.Uint64(), u.token, unfollowMutation, map[string]any{"id": author.id}, nil)
	})
}

// like likes a recent post, or ends a like.
func (u *User) like(ctx context.Context) {
	if chosen, ok := oneOf(&u.liked); ok {
		u.change(ctx, history.Unlike, unlikeMutation, chosen)
	} else if chosen, ok := u.posts.recent(); ok && u.change(ctx, history.Like, likeMutation, chosen) {
		u.liked = append(u.liked, chosen)
	}
}

// repost reposts a recent post, or undoes a repost.
func (u *User) repost(ctx context.Context) {
	if chosen, ok := oneOf(&u.reposted); ok {
		u.change(ctx, history.UndoRepost, undoMutation, chosen)
	} else if chosen, ok := u.posts.recent(); ok && u.change(ctx, history.Repost, repostMutation, chosen) {
		u.reposted = append(u.reposted, chosen)
	}
}

// oneOf sometimes removes one of the last posts, and returns it.
func oneOf(posts *[]post) (post, bool) {
	n := len(*posts)
	if n == 0 || rand.IntN(3) > 0 {
		return post{}, false
	}
	i := n - 1 - rand.IntN(min(10, n))
	chosen := (*posts)[i]
	*posts = slices.Delete(*posts, i, i+1)
	return chosen, true
}

// change changes what connects the user with a post.
func (u *User) change(ctx context.Context, kind history.Kind, mutation string, of post) bool {
	return u.attempt(ctx, history.Operation{Kind: kind, Target: of.text}, func(*history.Operation) error {
		return u.api.call(ctx, rand.Uint64(), u.token, mutation, map[string]any{"id": of.id}, nil)
	})
}

// checkFollow reads the edge to an author, once.
func (u *User) checkFollow(ctx context.Context, author *User) {
	o := history.Operation{Client: u.Name, Kind: history.ReadFollow, Target: author.Name, Call: u.recorder.Now(), Outcome: history.OK}
	var data struct{ Node struct{ ViewerFollows bool } }
	if err := u.api.call(ctx, rand.Uint64(), u.token, followsQuery, map[string]any{"id": author.id}, &data); err != nil {
		return // a failed read gives no information
	}
	o.Follows, o.Return = data.Node.ViewerFollows, u.recorder.Now()
	u.recorder.Operation(o)
}
