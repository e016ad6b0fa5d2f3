package graph

import (
	"context"
	"errors"
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
	remembered    *loader[retwis.UserID, *retwis.User] // authors, without their counts
	posts         *loader[retwis.PostID, *retwis.Post]
	lists         *loader[retwis.ListID, *retwis.List]
	sessions      *loader[retwis.SessionID, *retwis.Session] // of the viewer
	viewerFollows *loader[retwis.UserID, bool]               // does the viewer follow them?
	followsViewer *loader[retwis.UserID, bool]               // do they follow the viewer?
	memberships   *loader[retwis.Membership, bool]           // is the user on the list?

	selected selected
}

// selected is what loaders may know about an operation with a plan.
type selected struct {
	uncounted bool // nothing counts what users have
	mentions  bool // those whom posts mention
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
		remembered:    newLoader(wait, r.Users.Authors),
		posts:         newLoader(wait, r.Posts.Posts),
		lists:         newLoader(wait, r.Lists.Lists),
		sessions:      newLoader(wait, r.sessionsByID),
		viewerFollows: newLoader(wait, ofViewer(r.Follows.Follows)),
		followsViewer: newLoader(wait, ofViewer(r.Follows.FollowedBy)),
		memberships:   newLoader(wait, r.Lists.Memberships),
	})
}

// authors are those of posts, and whom posts mention. Their counts are only good where the
// operation selects some.
func (l *loaders) authors() *loader[retwis.UserID, *retwis.User] {
	if l.selected.uncounted {
		return l.remembered
	}
	return l.users
}

func loadersOf(ctx context.Context) *loaders {
	return ctx.Value(loadersKey{}).(*loaders)
}

// expectAuthors says that a page names the authors of posts, and whom these mention, who
// need not differ. Whatever is then asked about one of them is read for all of them, at
// once and without a wait: together where it is known that mentions are selected, and
// otherwise apart, since few readers ask about them.
func (l *loaders) expectAuthors(authors, mentioned []retwis.UserID) {
	if l.selected.mentions {
		l.expectOf(l.authors(), append(authors, mentioned...))
		return
	}
	l.expectOf(l.authors(), authors)
	l.expectOf(l.authors(), mentioned)
}

// expectUsers says the same of users in their own right.
func (l *loaders) expectUsers(ids []retwis.UserID) { l.expectOf(l.users, ids) }

func (l *loaders) expectOf(users *loader[retwis.UserID, *retwis.User], ids []retwis.UserID) {
	if len(ids) == 0 {
		return
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	users.expect(ids)
	l.viewerFollows.expect(ids)
	l.followsViewer.expect(ids)
}

// loader reads many keys at once: those of a page together, those announced together, and
// others as they come.
type loader[K comparable, V any] struct {
	read   reader[K, V]
	others *dataloadgen.Loader[K, V]

	mu        sync.Mutex
	pages     []*pageRead[K, V]
	announced *pageRead[K, V]  // of the pages the one that takes more keys, until it is read
	asked     *pageRead[K, V]  // stands for what others were asked for
	count     int              // of keys of all pages
	index     map[K]slot[K, V] // where they are, when they are many
}

// slot is where the value of a key is, or will be.
type slot[K comparable, V any] struct {
	page *pageRead[K, V]
	i    int
}

const (
	maxAnnounced = 500 // keys that are read at once
	searchedKeys = 64  // keys that are found without an index
)

// reader reads values in the order of their keys.
type reader[K comparable, V any] func(context.Context, []K) ([]V, error)

func newLoader[K comparable, V any](wait time.Duration, read reader[K, V]) *loader[K, V] {
	return &loader[K, V]{read: read, asked: &pageRead[K, V]{}, others: dataloadgen.NewLoader(
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
	l.addLocked(&pageRead[K, V]{keys: keys})
}

// announce says that a key is going to be asked for. It is read together with all others
// announced until then.
func (l *loader[K, V]) announce(key K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.findLocked(key); ok {
		return
	}
	if l.announced == nil || len(l.announced.keys) == maxAnnounced {
		l.announced = &pageRead[K, V]{}
		l.addLocked(l.announced)
	}
	l.extendLocked(l.announced, key)
}

func (l *loader[K, V]) extendLocked(page *pageRead[K, V], key K) {
	page.keys = append(page.keys, key)
	l.count++
	if l.index != nil {
		l.index[key] = slot[K, V]{page, len(page.keys) - 1}
	}
}

// know says what was read by other means.
func (l *loader[K, V]) know(keys []K, values []V) {
	page := &pageRead[K, V]{keys: keys, values: values, begun: true}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addLocked(page)
}

func (l *loader[K, V]) addLocked(page *pageRead[K, V]) {
	l.pages = append(l.pages, page)
	l.count += len(page.keys)
	if l.index != nil {
		l.indexLocked(page)
	}
}

func (l *loader[K, V]) indexLocked(page *pageRead[K, V]) {
	for i, key := range page.keys {
		if _, ok := l.index[key]; !ok {
			l.index[key] = slot[K, V]{page, i}
		}
	}
}

func (l *loader[K, V]) findLocked(key K) (slot[K, V], bool) {
	if l.index == nil && l.count > searchedKeys {
		l.index = make(map[K]slot[K, V], 2*l.count)
		for _, page := range l.pages {
			l.indexLocked(page)
		}
	}
	if l.index != nil {
		found, ok := l.index[key]
		return found, ok
	}
	for _, page := range l.pages {
		if i := slices.Index(page.keys, key); i >= 0 {
			return slot[K, V]{page, i}, true
		}
	}
	return slot[K, V]{}, false
}

// load waits for the value of a key.
func (l *loader[K, V]) load(ctx context.Context, key K) (V, error) {
	if found := l.find(key); found.page != l.asked {
		return l.value(ctx, found)
	}
	return l.others.Load(ctx, key)
}

// start begins to load; the function it returns waits for the value.
func (l *loader[K, V]) start(ctx context.Context, key K) func() (V, error) {
	if found := l.find(key); found.page != l.asked {
		return func() (V, error) { return l.value(ctx, found) }
	}
	return l.others.LoadThunk(ctx, key)
}

// find returns where a key is. One that is nowhere else is noted as asked for.
func (l *loader[K, V]) find(key K) slot[K, V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.findLocked(key)
	if !ok {
		if len(l.asked.keys) == 0 {
			l.addLocked(l.asked)
		}
		l.extendLocked(l.asked, key)
		found.page = l.asked
	}
	return found
}

// pageRead is the one read for all keys of a page, made when the first is asked for.
type pageRead[K comparable, V any] struct {
	keys  []K
	begun bool          // guarded by the loader's mutex
	done  chan struct{} // closed after the read; nil where it needs none

	values []V
	err    error
}

func (l *loader[K, V]) value(ctx context.Context, at slot[K, V]) (V, error) {
	p := at.page
	l.mu.Lock()
	begin := !p.begun
	if begin {
		p.begun, p.done = true, make(chan struct{})
		if l.announced == p {
			l.announced = nil // it takes no more keys
		}
	}
	l.mu.Unlock()
	if begin {
		l.readPage(ctx, p)
	} else if p.done != nil {
		<-p.done
	}
	if p.err != nil {
		var none V
		return none, p.err
	}
	return p.values[at.i], nil
}

func (l *loader[K, V]) readPage(ctx context.Context, p *pageRead[K, V]) {
	defer close(p.done)
	p.err = errNotRead
	values, err := l.read(ctx, p.keys)
	if err == nil && len(values) != len(p.keys) {
		err = fmt.Errorf("%d values were read for %d keys", len(values), len(p.keys))
	}
	p.values, p.err = values, err
}

// errNotRead is what those find who waited for a read that has panicked.
var errNotRead = errors.New("the read of a page was cut short")

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
	return existing(ctx, loadersOf(ctx).users, id)
}

// existingAuthor loads the author of a post.
func existingAuthor(ctx context.Context, id retwis.UserID) (*retwis.User, error) {
	return existing(ctx, loadersOf(ctx).authors(), id)
}

func existing(ctx context.Context, users *loader[retwis.UserID, *retwis.User], id retwis.UserID) (*retwis.User, error) {
	user, err := users.load(ctx, id)
	if err == nil && user == nil {
		err = fmt.Errorf("user %s is referred to, and does not exist", id)
	}
	return user, err
}
