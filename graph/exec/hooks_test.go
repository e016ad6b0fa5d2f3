package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// authorsOf is a query whose authors are resolved in one wave.
const authorsOf = `{ shelf { books { author { name } } } }`

func TestHooks_AnnounceAllKeysBeforeTheFirstResolver(t *testing.T) {
	t.Parallel()
	var l *library
	l = newLibrary(Hooks{Announce: map[string]func(context.Context, any){
		"Book.author": func(_ context.Context, object any) { l.called("announce " + object.(*book).title) },
	}})
	l.shelf = oneShelf()
	l.author = func(_ context.Context, b *book) (*author, error) {
		l.called("resolve " + b.title)
		return b.author, nil
	}
	data, errs := l.run(t, authorsOf, nil)
	wantData(t, data, `{"shelf": {"books": [{"author": {"name": "Ann"}}, null, {"author": {"name": "Ann"}}]}}`)
	wantErrors(t, errs)
	if diff := cmp.Diff([]string{"shelf<nil>", "announce One", "announce Two", "resolve One", "resolve Two"}, l.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// Attack: an operation that had to stop went on to call tens of thousands of resolvers, which failed, free of charge.
func TestHooks_StoppedEndsTheWave(t *testing.T) {
	t.Parallel()
	var l *library
	var called atomic.Int64
	l = newLibrary(Hooks{Stopped: func(context.Context) error {
		if called.Load() >= maxParallel {
			return errors.New("stopped")
		}
		return nil
	}})
	ann := &author{name: "Ann"}
	l.shelf = &shelf{books: make([]*book, 3*maxParallel)}
	for i := range l.shelf.books {
		l.shelf.books[i] = &book{author: ann}
	}
	l.author = func(_ context.Context, b *book) (*author, error) {
		called.Add(1)
		return b.author, nil
	}
	data, errs := l.run(t, authorsOf, nil)
	wantData(t, data, `null`)
	wantErrors(t, errs, ": stopped")
	if n := called.Load(); n != maxParallel {
		t.Errorf("called %d resolvers, want %d", n, maxParallel)
	}
}

// Attack: what an operation announces to loaders took milliseconds for each field, also after it had to stop.
func TestHooks_StoppedEndsTheAnnouncements(t *testing.T) {
	t.Parallel()
	announced := 0
	l := newLibrary(Hooks{
		Stopped: func(context.Context) error {
			if announced > 0 {
				return errors.New("stopped")
			}
			return nil
		},
		Announce: map[string]func(context.Context, any){"Book.author": func(context.Context, any) { announced++ }},
	})
	l.shelf = &shelf{books: make([]*book, 3*maxParallel)}
	for i := range l.shelf.books {
		l.shelf.books[i] = &book{author: &author{name: "Ann"}}
	}
	data, errs := l.run(t, authorsOf, nil)
	wantData(t, data, `null`)
	wantErrors(t, errs, ": stopped")
	if announced != maxParallel {
		t.Errorf("%d fields were announced, want %d", announced, maxParallel)
	}
}

// Attack: mentions of users who mention users made a million fields to look up, of which nothing was charged before the response was written.
func TestHooks_AddedBoundsTheFieldsOfAResponse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		books, allowed int // allowed by the hook
		want           string
	}{
		"few":          {addedBefore - 10, 0, ""},
		"many":         {3 * addedBefore, maxInstances, ""},
		"without hook": {maxInstances, 2 * maxInstances, ": too many"},
		"stopped":      {3 * addedBefore, addedAtOnce, ": stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			added, called := 0, 0
			l := newLibrary(Hooks{
				Added: func(_ context.Context, fields int) error {
					if added += fields; added > tt.allowed {
						return errors.New("stopped")
					}
					return nil
				},
				Announce: map[string]func(context.Context, any){"Book.author": func(context.Context, any) {}},
			})
			l.shelf = &shelf{books: make([]*book, tt.books)}
			for i := range l.shelf.books {
				l.shelf.books[i] = &book{author: &author{name: "Ann"}}
			}
			l.author = func(_ context.Context, b *book) (*author, error) {
				called++
				return b.author, nil
			}
			data, errs := l.run(t, authorsOf, nil)
			if tt.want == "" {
				wantErrors(t, errs)
				if called != tt.books || added != max(0, (tt.books+1-addedBefore)/addedAtOnce*addedAtOnce) {
					t.Errorf("%d resolvers of %d were called, %d fields reported", called, tt.books, added)
				}
				return
			}
			wantData(t, data, `null`)
			wantErrors(t, errs, tt.want)
			if called > 0 {
				t.Errorf("%d resolvers were called", called)
			}
		})
	}
}

// Attack: what was written before an object became null, because of an error in it, was free.
func TestHooks_WrittenCountsWhatIsDiscarded(t *testing.T) {
	t.Parallel()
	length := 0
	l := newLibrary(Hooks{Written: func(_ context.Context, n int) error {
		length = n
		return nil
	}})
	name := strings.Repeat("x", 1000)
	l.shelf = &shelf{books: slices.Repeat([]*book{{author: &author{name: name}}}, 20)}
	l.born = func(context.Context, *author) (int, error) { return 0, errors.New("unknown") }
	data, errs := l.run(t, `{ shelf { books { author { name born } } } }`, nil)
	if len(errs) != 20 || strings.Contains(data, name) {
		t.Fatalf("got %d errors and the data %.200s", len(errs), data)
	}
	if length < 20*len(name) {
		t.Errorf("%d bytes were counted, want %d at least", length, 20*len(name))
	}
}

func TestHooks_AnnouncePanicsAreLeftToTheResolver(t *testing.T) {
	t.Parallel()
	l := newLibrary(Hooks{Announce: map[string]func(context.Context, any){"Book.author": func(context.Context, any) { panic(1) }}})
	l.shelf = oneShelf()
	data, errs := l.run(t, authorsOf, nil)
	wantData(t, data, `{"shelf": {"books": [{"author": {"name": "Ann"}}, null, {"author": {"name": "Ann"}}]}}`)
	wantErrors(t, errs)
}

func TestHooks_PrefetchRunsBesideTheResolver(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, query string
		want        time.Duration
	}{
		{"the inner field is selected", `{ shelf { first { author { born } } } }`, time.Second},
		{"the inner field is not selected", `{ shelf { first { author { name } } } }`, time.Second},
		{"the inner field is below another one", `{ shelf { first { author { books { author { born } } } } } }`, 2 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fetched := map[*author]bool{}
				var l *library
				fetch := func(a *author) {
					l.mu.Lock()
					known := fetched[a]
					l.mu.Unlock()
					if known {
						return
					}
					time.Sleep(time.Second)
					l.mu.Lock()
					defer l.mu.Unlock()
					fetched[a] = true
				}
				l = newLibrary(Hooks{Prefetch: map[string]map[string]func(context.Context, any){
					"Book.author": {"born": func(_ context.Context, object any) { fetch(object.(*book).author) }},
				}})
				l.shelf = oneShelf()
				l.author = func(_ context.Context, b *book) (*author, error) {
					time.Sleep(time.Second)
					return b.author, nil
				}
				l.born = func(_ context.Context, a *author) (int, error) {
					fetch(a)
					return a.born, nil
				}
				start := time.Now()
				if _, errs := l.run(t, tt.query, nil); len(errs) > 0 {
					t.Error(errs)
				}
				if took := time.Since(start); took != tt.want {
					t.Errorf("took %v, want %v", took, tt.want)
				}
			})
		})
	}
}

func TestHooks_BeginGetsTheFlagsOfAllFields(t *testing.T) {
	t.Parallel()
	tests := []struct {
		query string
		want  Flags
	}{
		{`{ shelf { name } }`, 0},
		{`{ shelf { first { author { born } } } }`, 1},
		{`{ shelf { first { note } } }`, 2},
		{`{ shelf { first { ...F } } } fragment F on Book { note author { born } }`, 3},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.want), func(t *testing.T) {
			t.Parallel()
			var got []Flags
			l := newLibrary(Hooks{
				Flags: map[string]Flags{"Author.born": 1, "Book.note": 2},
				Begin: func(_ context.Context, flags Flags) { got = append(got, flags) },
			})
			l.shelf = oneShelf()
			if _, errs := l.run(t, tt.query, nil); len(errs) > 0 {
				t.Error(errs)
			}
			if diff := cmp.Diff([]Flags{tt.want}, got); diff != "" {
				t.Errorf("flags (-want +got):\n%s", diff)
			}
		})
	}
}
