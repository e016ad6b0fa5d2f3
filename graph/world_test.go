package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// world is everything behind the API, in memory. It keeps the promises that the
// interfaces of this package make, and counts the calls.
type world struct {
	mu       sync.Mutex
	users    []*retwis.User
	secrets  map[retwis.UserID]string
	sessions []retwis.Session
	posts    []*retwis.Post // newest first
	keys     map[string]retwis.PostID
	follows  []follow                          // newest first
	lists    []*kept                           // newest first
	live     map[retwis.TimelineID]retwis.Sink // attached last
	calls    []string
	names    map[string]bool  // of the calls
	fail     map[string]error // what a call answers instead
}

type follow struct {
	reader, author retwis.UserID
	at             time.Time
}

func newWorld() *world {
	return &world{
		secrets: map[retwis.UserID]string{},
		keys:    map[string]retwis.PostID{},
		live:    map[retwis.TimelineID]retwis.Sink{},
		fail:    map[string]error{},
		names:   map[string]bool{},
	}
}

func (w *world) resolver() *Resolver {
	return &Resolver{Accounts: w, Users: w, Posts: w, Follows: followsOf{w}, Lists: w, Timelines: w, Live: w, Limits: unlimited{}}
}

// begin counts a call and answers how it is to fail.
func (w *world) begin(call string, args ...any) error {
	w.mu.Lock()
	w.calls = append(w.calls, call+fmt.Sprint(args...))
	w.names[call] = true
	return w.fail[call]
}

// called returns the calls whose names are given, in order.
func (w *world) called(names ...string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []string
	for _, call := range w.calls {
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(call, name) }) {
			found = append(found, call)
		}
	}
	return found
}

// addUser makes the users 1025, 2049, 3073 and so on.
func (w *world) addUser(name string) *retwis.User {
	n := len(w.users) + 1
	u := &retwis.User{
		ID: retwis.UserID(n*retwis.Buckets + 1), Username: name, DisplayName: strings.ToUpper(name),
		CreatedAt: retwis.TimeOrigin.Add(time.Duration(n) * time.Hour),
	}
	w.users = append(w.users, u)
	w.secrets[u.ID] = name + "'s password"
	return u
}

func (w *world) addPost(author *retwis.User, text string) *retwis.Post {
	id := retwis.PostID((len(w.posts) + 1) * 1_000_000)
	p := &retwis.Post{ID: id, AuthorID: author.ID, Text: text, CreatedAt: id.CreatedAt()}
	w.posts = slices.Insert(w.posts, 0, p)
	author.PostCount++
	return p
}

// addSession logs a user in, and returns who that is.
func (w *world) addSession(user *retwis.User, agent string) auth.Identity {
	n := len(w.sessions) + 1
	who := auth.Identity{User: user.ID, Session: retwis.SessionKey{Bucket: user.ID.Bucket(), Hash: fmt.Sprint("hash", n)}}
	at := retwis.TimeOrigin.Add(time.Duration(n) * time.Hour)
	session := retwis.Session{ID: who.SessionID(), CreatedAt: at, LastSeenAt: at.Add(time.Minute)}
	if agent != "" {
		session.UserAgent = &agent
	}
	w.sessions = slices.Insert(w.sessions, 0, session)
	return who
}

func (w *world) addFollow(reader, author *retwis.User) {
	at := retwis.TimeOrigin.Add(time.Duration(len(w.follows)+1) * time.Minute)
	w.follows = slices.Insert(w.follows, 0, follow{reader.ID, author.ID, at})
	reader.FollowingCount++
	author.FollowerCount++
}

func (w *world) user(id retwis.UserID) *retwis.User {
	for _, u := range w.users {
		if u.ID == id {
			copied := *u
			return &copied
		}
	}
	return nil
}

// Accounts.

func (w *world) session(u *retwis.User) auth.Session {
	return auth.Session{Token: "token of " + u.Username, User: u}
}

func (w *world) Register(_ context.Context, username, password string, displayName *string) (auth.Session, error) {
	err := w.begin("Register", username)
	defer w.mu.Unlock()
	if err != nil {
		return auth.Session{}, err
	}
	if len(password) < 8 {
		err = retwis.FieldError(retwis.CodeTooShort, "password", "too short")
	}
	for _, u := range w.users {
		if u.Username == username {
			err = errors.Join(retwis.ErrNameTaken, err)
		}
	}
	if err != nil {
		return auth.Session{}, fmt.Errorf("register: %w", err)
	}
	u := w.addUser(username)
	if displayName != nil {
		u.DisplayName = *displayName
	}
	return w.session(u), nil
}

func (w *world) Login(_ context.Context, username, password string) (auth.Session, error) {
	err := w.begin("Login", username)
	defer w.mu.Unlock()
	if err != nil {
		return auth.Session{}, err
	}
	for _, u := range w.users {
		if u.Username == username && w.secrets[u.ID] == password {
			return w.session(u), nil
		}
	}
	return auth.Session{}, retwis.ErrWrongCredentials
}

func (w *world) Logout(_ context.Context, who auth.Identity) error {
	defer w.mu.Unlock()
	return w.begin("Logout", who.User)
}

func (w *world) LogoutEverywhere(_ context.Context, who auth.Identity) error {
	defer w.mu.Unlock()
	return w.begin("EndAll", who.User)
}

func (w *world) Sessions(_ context.Context, who auth.Identity) ([]retwis.Session, error) {
	err := w.begin("Sessions", who.User)
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var found []retwis.Session
	for _, session := range w.sessions {
		if session.ID.User == who.User {
			session.Current = session.ID == who.SessionID()
			found = append(found, session)
		}
	}
	return found, nil
}

func (w *world) RevokeSession(_ context.Context, who auth.Identity, id retwis.SessionID) error {
	err := w.begin("RevokeSession", id)
	defer w.mu.Unlock()
	if err == nil && id.User != who.User {
		err = retwis.ErrSessionNotFound
	}
	if err != nil {
		return err
	}
	w.sessions = slices.DeleteFunc(w.sessions, func(s retwis.Session) bool { return s.ID == id })
	return nil
}

func (w *world) ChangePassword(_ context.Context, who auth.Identity, current, changed string) (auth.Session, error) {
	err := w.begin("ChangePassword", who.User)
	defer w.mu.Unlock()
	if err != nil {
		return auth.Session{}, err
	}
	if w.secrets[who.User] != current {
		return auth.Session{}, retwis.FieldError(retwis.CodeWrongCredentials, "currentPassword", "wrong")
	}
	w.secrets[who.User] = changed
	return w.session(w.user(who.User)), nil
}

func (w *world) DeleteAccount(_ context.Context, who auth.Identity, password string) error {
	err := w.begin("DeleteAccount", who.User)
	defer w.mu.Unlock()
	if err != nil {
		return err
	}
	if w.secrets[who.User] != password {
		return retwis.FieldError(retwis.CodeWrongCredentials, "password", "wrong")
	}
	for _, u := range w.users {
		if u.ID == who.User {
			u.BeingDeleted = true
		}
	}
	return nil
}

func (w *world) UpdateProfile(_ context.Context, who auth.Identity, change retwis.ProfileChange) (*retwis.User, error) {
	err := w.begin("UpdateProfile", who.User)
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	for _, u := range w.users {
		if u.ID == who.User {
			if change.DisplayName != nil {
				if *change.DisplayName == "" {
					return nil, retwis.FieldError(retwis.CodeBlank, "displayName", "blank")
				}
				u.DisplayName = *change.DisplayName
			}
			if change.Bio != nil {
				u.Bio = *change.Bio
			}
		}
	}
	return w.user(who.User), nil
}

// Users.

func (w *world) UserByName(_ context.Context, username string) (*retwis.User, error) {
	err := w.begin("UserByName", username)
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	for _, u := range w.users {
		if strings.EqualFold(u.Username, username) {
			return u, nil
		}
	}
	return nil, fmt.Errorf("user %q: %w", username, retwis.ErrNotFound)
}

func (w *world) Users(_ context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	err := w.begin("Users", len(ids))
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	found := make([]*retwis.User, len(ids))
	for i, id := range ids {
		found[i] = w.user(id)
	}
	return found, nil
}

func (w *world) Authors(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	return w.Users(ctx, ids)
}

// Posts.

func (w *world) CreatePost(_ context.Context, post retwis.NewPost) (retwis.PostEdge, error) {
	err := w.begin("CreatePost", post.IdempotencyKey)
	defer w.mu.Unlock()
	if err != nil {
		return retwis.PostEdge{}, err
	}
	key := post.Author.String() + post.IdempotencyKey
	if _, ok := w.keys[key]; !ok {
		for _, u := range w.users {
			if u.ID == post.Author {
				w.keys[key] = w.addPost(u, post.Text).ID
			}
		}
	}
	made := w.post(w.keys[key])
	if made.Text != post.Text {
		return retwis.PostEdge{}, retwis.FieldError(retwis.CodeInvalid, "idempotencyKey", "used with another text")
	}
	return edge(retwis.Home(post.Author), made), nil
}

func (w *world) post(id retwis.PostID) *retwis.Post {
	for _, p := range w.posts {
		if p.ID == id {
			return p
		}
	}
	return nil
}

func (w *world) DeletePost(_ context.Context, viewer retwis.UserID, post retwis.PostID) error {
	err := w.begin("DeletePost", post)
	defer w.mu.Unlock()
	if err != nil {
		return err
	}
	switch p := w.post(post); {
	case p == nil:
		return retwis.ErrPostNotFound
	case p.AuthorID != viewer:
		return retwis.ErrNotOwner
	}
	return nil
}

func (w *world) Posts(_ context.Context, ids []retwis.PostID) ([]*retwis.Post, error) {
	err := w.begin("Posts", len(ids))
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	found := make([]*retwis.Post, len(ids))
	for i, id := range ids {
		found[i] = w.post(id)
	}
	return found, nil
}

// Follows.

// followsOf keeps the methods Follows and Posts of the interfaces apart from each other.
type followsOf struct{ w *world }

func (f followsOf) Follow(_ context.Context, reader, author retwis.UserID) error {
	err := f.w.begin("Follow", reader, " ", author)
	defer f.w.mu.Unlock()
	switch {
	case err != nil:
		return err
	case reader == author:
		return retwis.ErrSelfFollow
	case f.w.user(author) == nil:
		return retwis.ErrUserNotFound
	}
	for _, u := range f.w.users {
		if u.ID == author {
			u.FollowerCount++
		}
	}
	f.w.follows = append(f.w.follows, follow{reader, author, retwis.TimeOrigin})
	return nil
}

func (f followsOf) Unfollow(_ context.Context, reader, author retwis.UserID) error {
	err := f.w.begin("Unfollow", reader, " ", author)
	defer f.w.mu.Unlock()
	before := len(f.w.follows)
	f.w.follows = slices.DeleteFunc(f.w.follows, func(e follow) bool { return e.reader == reader && e.author == author })
	for _, u := range f.w.users {
		if u.ID == author {
			u.FollowerCount -= before - len(f.w.follows)
		}
	}
	return err
}

func (f followsOf) FollowPage(_ context.Context, of retwis.FollowConnection, page retwis.Page) (retwis.FollowPage, error) {
	err := f.w.begin("FollowPage", page.First, " ", page.Last)
	defer f.w.mu.Unlock()
	if err != nil {
		return retwis.FollowPage{}, err
	}
	all := f.w.membersOf(of)
	for _, e := range f.w.follows {
		from, to := e.author, e.reader
		if of.Kind == retwis.Following {
			from, to = to, from
		}
		if from == of.User && of.Kind != retwis.Members {
			position := retwis.FollowPosition{Connection: of, Score: e.at.Sub(retwis.TimeOrigin).Microseconds(), User: to}
			all = append(all, retwis.Follow{Cursor: position.Cursor(), User: f.w.user(to), FollowedAt: e.at})
		}
	}
	found, more, err := cut(all, page, func(e retwis.Follow) retwis.Cursor { return e.Cursor })
	return retwis.FollowPage{Follows: found, HasNextPage: more.next, HasPreviousPage: more.previous, TotalCount: len(all)}, err
}

func (f followsOf) Follows(_ context.Context, reader retwis.UserID, authors []retwis.UserID) ([]bool, error) {
	err := f.w.begin("Follows", len(authors))
	defer f.w.mu.Unlock()
	answers := make([]bool, len(authors))
	for i, author := range authors {
		answers[i] = slices.ContainsFunc(f.w.follows, func(e follow) bool { return e.reader == reader && e.author == author })
	}
	return answers, err
}

func (f followsOf) FollowedBy(_ context.Context, reader retwis.UserID, others []retwis.UserID) ([]bool, error) {
	err := f.w.begin("FollowedBy", len(others))
	defer f.w.mu.Unlock()
	answers := make([]bool, len(others))
	for i, other := range others {
		answers[i] = slices.ContainsFunc(f.w.follows, func(e follow) bool { return e.reader == other && e.author == reader })
	}
	return answers, err
}

// Timelines.

func edge(timeline retwis.TimelineID, p *retwis.Post) retwis.PostEdge {
	return retwis.PostEdge{Cursor: retwis.TimelinePosition{Timeline: timeline, Post: p.ID}.Cursor(), Post: p}
}

func (w *world) belongs(p *retwis.Post, timeline retwis.TimelineID) bool {
	switch timeline.Kind {
	case retwis.ProfileTimeline:
		return p.AuthorID == timeline.Owner
	case retwis.MentionsTimeline:
		return slices.Contains(p.Mentions, timeline.Owner)
	case retwis.ListTimeline:
		return w.list(timeline.List()).has(p.AuthorID)
	default:
		return true
	}
}

func (w *world) Page(_ context.Context, timeline retwis.TimelineID, page retwis.Page) (retwis.PostPage, error) {
	err := w.begin("Page", timeline, " ", page.First, " ", page.Last)
	defer w.mu.Unlock()
	if err != nil {
		return retwis.PostPage{}, err
	}
	var all []retwis.PostEdge
	for _, p := range w.posts {
		if w.belongs(p, timeline) {
			all = append(all, edge(timeline, p))
		}
	}
	live := retwis.TimelinePosition{Timeline: timeline}
	if len(all) > 0 {
		live.Post = all[0].Post.ID
	}
	found, more, err := cut(all, page, func(e retwis.PostEdge) retwis.Cursor { return e.Cursor })
	return retwis.PostPage{Edges: found, HasNextPage: more.next, HasPreviousPage: more.previous, LiveCursor: live.Cursor()}, err
}

type more struct{ next, previous bool }

// cut returns a page of a whole connection.
func cut[T any](all []T, page retwis.Page, cursorOf func(T) retwis.Cursor) ([]T, more, error) {
	at := cmp.Or(page.After, page.Before)
	from, to := 0, len(all)
	if at != "" {
		i := slices.IndexFunc(all, func(e T) bool { return cursorOf(e) == at })
		switch {
		case i < 0:
			return nil, more{}, retwis.ErrBadCursor
		case page.First > 0:
			from = i + 1
		default:
			to = i
		}
	}
	if page.First > 0 {
		to = min(to, from+page.First)
	} else {
		from = max(from, to-page.Last)
	}
	return all[from:to], more{next: to < len(all), previous: from > 0}, nil
}

// Live.

func (w *world) Attach(_ context.Context, timeline retwis.TimelineID, after retwis.Cursor, sink retwis.Sink) error {
	err := w.begin("Attach", timeline, " ", after)
	defer w.mu.Unlock()
	if err == nil {
		w.live[timeline] = sink
	}
	return err
}
