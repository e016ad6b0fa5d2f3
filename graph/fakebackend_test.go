package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// fakeBackend is a backend in memory. It implements the interfaces of this package and records
// the calls.
type fakeBackend struct {
	mu       sync.Mutex
	users    []*retwis.User
	secrets  map[retwis.UserID]string
	sessions []retwis.Session
	posts    []*retwis.Post // newest first
	keys     map[string]retwis.PostID
	follows  []follow      // newest first
	likes    []like        // newest first
	reposts  []repost      // newest first
	known    bool          // whether pages have the likes and reposts of the viewer
	viewer   retwis.UserID // whose likes and reposts the last page was asked for
	lists    []*kept       // newest first
	tags     []*retwis.Tag
	live     map[retwis.TimelineID]retwis.Sink // the last attached sink
	markers  map[retwis.TimelineID]retwis.PostID
	calls    []string
	names    map[string]bool  // of the calls
	reads    map[string]int   // of users, by their ids
	fail     map[string]error // errors to return from calls
}

type follow struct {
	reader, author retwis.UserID
	at             time.Time
	hidesReposts   bool
}

func newFakeBackend() *fakeBackend {
	return &fakeBackend{
		secrets: map[retwis.UserID]string{},
		keys:    map[string]retwis.PostID{},
		live:    map[retwis.TimelineID]retwis.Sink{},
		fail:    map[string]error{},
		markers: map[retwis.TimelineID]retwis.PostID{},
		names:   map[string]bool{},
		reads:   map[string]int{},
	}
}

func (w *fakeBackend) resolver() *Resolver {
	return &Resolver{Accounts: w, Users: w, Posts: w, Reposts: w, Likes: w, Follows: followsOf{w}, Lists: w, Tags: w, Timelines: w, Live: w, Limits: unlimited{}}
}

// begin records a call and returns the error with which it must fail.
func (w *fakeBackend) begin(call string, args ...any) error {
	w.mu.Lock()
	w.calls = append(w.calls, call+fmt.Sprint(args...))
	w.names[call] = true
	return w.fail[call]
}

// called returns the recorded calls with the given names, in order.
func (w *fakeBackend) called(names ...string) []string {
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

// newYear is the time that the fake backend counts from.
var newYear = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// addUser adds the users 1025, 2049, 3073 and so on.
func (w *fakeBackend) addUser(name string) *retwis.User {
	n := len(w.users) + 1
	u := &retwis.User{
		ID: retwis.UserID(n*retwis.Buckets + 1), Username: name, DisplayName: strings.ToUpper(name),
		CreatedAt: newYear.Add(time.Duration(n) * time.Hour),
	}
	w.users = append(w.users, u)
	w.secrets[u.ID] = name + "'s password"
	return u
}

func (w *fakeBackend) addPost(author *retwis.User, text string) *retwis.Post {
	n := len(w.posts) + 1
	p := &retwis.Post{
		ID: retwis.PostID(n * 1_000_000), AuthorID: author.ID, Text: text,
		CreatedAt: newYear.Add(time.Duration(n) * time.Millisecond),
	}
	w.posts = slices.Insert(w.posts, 0, p)
	author.PostCount++
	return p
}

// addSession adds a session of a user, and returns its identity.
func (w *fakeBackend) addSession(user *retwis.User, agent string) auth.Identity {
	n := len(w.sessions) + 1
	who := auth.Identity{User: user.ID, Session: retwis.SessionKey{Bucket: user.ID.Bucket(), Hash: fmt.Sprint("hash", n)}}
	at := newYear.Add(time.Duration(n) * time.Hour)
	session := retwis.Session{ID: who.SessionID(), CreatedAt: at, LastSeenAt: at.Add(time.Minute)}
	if agent != "" {
		session.UserAgent = &agent
	}
	w.sessions = slices.Insert(w.sessions, 0, session)
	return who
}

func (w *fakeBackend) addFollow(reader, author *retwis.User) {
	at := newYear.Add(time.Duration(len(w.follows)+1) * time.Minute)
	w.follows = slices.Insert(w.follows, 0, follow{reader: reader.ID, author: author.ID, at: at})
	reader.FollowingCount++
	author.FollowerCount++
}

func (w *fakeBackend) user(id retwis.UserID) *retwis.User {
	for _, u := range w.users {
		if u.ID == id {
			copied := *u
			return &copied
		}
	}
	return nil
}

func (w *fakeBackend) UserByName(_ context.Context, username string) (*retwis.User, error) {
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

func (w *fakeBackend) UsersByName(_ context.Context, names []string) ([]*retwis.User, error) {
	err := w.begin("UsersByName", len(names))
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	found := make([]*retwis.User, len(names))
	for i, name := range names {
		for _, u := range w.users {
			if retwis.FoldUsername(u.Username) == name {
				found[i] = w.user(u.ID)
			}
		}
	}
	return found, nil
}

func (w *fakeBackend) Users(_ context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	err := w.begin("Users", len(ids))
	defer w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	w.reads[fmt.Sprint(ids)]++
	found := make([]*retwis.User, len(ids))
	for i, id := range ids {
		found[i] = w.user(id)
	}
	return found, nil
}

func (w *fakeBackend) Authors(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error) {
	return w.Users(ctx, ids)
}
