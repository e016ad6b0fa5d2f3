package graph

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/vikstrous/dataloadgen"

	"retwis/internal/auth"
	"retwis/internal/retwis"
)

// loaders turn the many reads of one response into few. They remember what they read,
// so no set lives longer than one response, or one field of a mutation.
type loaders struct {
	users         *loader[retwis.UserID, *retwis.User]
	posts         *loader[retwis.PostID, *retwis.Post]
	lists         *loader[retwis.ListID, *retwis.List]
	sessions      *loader[retwis.SessionID, *retwis.Session] // of the viewer
	viewerFollows *loader[retwis.UserID, bool]               // does the viewer follow them?
	followsViewer *loader[retwis.UserID, bool]               // do they follow the viewer?
	memberships   *loader[retwis.Membership, bool]           // is the user on the list?
}

// How long a loader collects keys that nobody told it to expect. The elements of a list
// are resolved side by side, so theirs arrive within microseconds of each other; an
// event has one element.
const (
	listWait  = 200 * time.Microsecond
	eventWait = 0
)

type loadersKey struct{}

// withLoaders returns a context with loaders that have read nothing yet.
func (r *Resolver) withLoaders(ctx context.Context, wait time.Duration) context.Context {
	return context.WithValue(ctx, loadersKey{}, &loaders{
		users:         newLoader(wait, r.Users.Users),
		posts:         newLoader(wait, r.Posts.Posts),
		lists:         newLoader(wait, r.Lists.Lists),
		sessions:      newLoader(wait, r.sessionsByID),
		viewerFollows: newLoader(wait, ofViewer(r.Follows.Follows)),
		followsViewer: newLoader(wait, ofViewer(r.Follows.FollowedBy)),
		memberships:   newLoader(wait, r.Lists.Memberships),
	})
}

func loadersOf(ctx context.Context) *loaders {
	return ctx.Value(loadersKey{}).(*loaders)
}

// expectUsers says that a page names these users, who need not differ. Whatever is then
// asked about one of them is read for all of them, at once and without a wait.
func (l *loaders) expectUsers(ids []retwis.UserID) {
	if len(ids) == 0 {
		return
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	l.users.expect(ids)
	l.viewerFollows.expect(ids)
	l.followsViewer.expect(ids)
}

// loader reads many keys at once: those of a page together, others as they come.
type loader[K comparable, V any] struct {
	read   reader[K, V]
	others *dataloadgen.Loader[K, V]

	mu    sync.Mutex
	pages []*pageRead[K, V]
}

// reader reads values in the order of their keys.
type reader[K comparable, V any] func(context.Context, []K) ([]V, error)

func newLoader[K comparable, V any](wait time.Duration, read reader[K, V]) *loader[K, V] {
	return &loader[K, V]{read: read, others: dataloadgen.NewLoader(
		func(ctx context.Context, keys []K) ([]V, []error) {
			values, err := read(ctx, keys)
			if err != nil {
				return nil, []error{err} // one error stands for all keys
			}
			return values, nil
		},
		dataloadgen.WithWait(wait), dataloadgen.WithBatchCapacity(retwis.MaxPageSize),
	)}
}

func (l *loader[K, V]) expect(keys []K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pages = append(l.pages, &pageRead[K, V]{keys: keys})
}

// know says what was read by other means.
func (l *loader[K, V]) know(keys []K, values []V) {
	page := &pageRead[K, V]{keys: keys, values: values}
	page.once.Do(func() {}) // it needs no read
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pages = append(l.pages, page)
}

// load waits for the value of a key.
func (l *loader[K, V]) load(ctx context.Context, key K) (V, error) { return l.start(ctx, key)() }

// start begins to load; the function it returns waits for the value.
func (l *loader[K, V]) start(ctx context.Context, key K) func() (V, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, page := range l.pages {
		if i := slices.Index(page.keys, key); i >= 0 {
			return func() (V, error) { return page.value(ctx, i, l.read) }
		}
	}
	return l.others.LoadThunk(ctx, key)
}

// pageRead is the one read for all keys of a page, made when the first is asked for.
type pageRead[K comparable, V any] struct {
	keys   []K
	once   sync.Once
	values []V
	err    error
}

func (p *pageRead[K, V]) value(ctx context.Context, i int, read reader[K, V]) (V, error) {
	p.once.Do(func() {
		p.values, p.err = read(ctx, p.keys)
		if p.err == nil && len(p.values) != len(p.keys) {
			p.err = fmt.Errorf("%d values were read for %d keys", len(p.values), len(p.keys))
		}
	})
	if p.err != nil {
		var none V
		return none, p.err
	}
	return p.values[i], nil
}

// ofViewer asks a question about the viewer and others; an anonymous reader has no
// ties to anybody.
func ofViewer(
	ask func(context.Context, retwis.UserID, []retwis.UserID) ([]bool, error),
) reader[retwis.UserID, bool] {
	return func(ctx context.Context, others []retwis.UserID) ([]bool, error) {
		viewer := auth.IdentityOf(ctx).User
		if viewer == 0 {
			return make([]bool, len(others)), nil
		}
		return ask(ctx, viewer, others)
	}
}

// existingUser loads a user whom something in the answer refers to.
func existingUser(ctx context.Context, id retwis.UserID) (*retwis.User, error) {
	user, err := loadersOf(ctx).users.load(ctx, id)
	if err == nil && user == nil {
		err = fmt.Errorf("user %s is referred to, and does not exist", id)
	}
	return user, err
}
