package seed

import (
	"context"
	crand "crypto/rand"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/brianvoe/gofakeit/v7"

	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

// ActivityStore is what people need who go on living.
type ActivityStore interface {
	CreatePost(ctx context.Context, post retwis.NewPost) (retwis.PostEdge, error)
	Follow(ctx context.Context, reader, author retwis.UserID) error
	Page(ctx context.Context, id retwis.TimelineID, page retwis.Page) (retwis.PostPage, error)
	Users(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error)
	NewestUsers(ctx context.Context, page retwis.Page) (retwis.FollowPage, error)
}

// ActivityOptions are those of [Seeder.Activity]. Zero values take the defaults.
type ActivityOptions struct {
	Pause time.Duration // between two things that happen, on average, 2 s
	Log   *slog.Logger
}

// Activity lets the people of a population go on: now and then somebody posts, answers, follows
// somebody, or welcomes a newcomer.
type Activity struct {
	store   ActivityStore
	options ActivityOptions
	people  []retwis.UserID
	members map[retwis.UserID]bool
	since   time.Time // of newcomers

	random  *rand.Rand
	faker   *gofakeit.Faker
	greeted map[retwis.UserID]bool
}

// Activity returns the life of those members that there are, after [Seeder.Run].
func (s *Seeder) Activity(store ActivityStore, options ActivityOptions) *Activity {
	if options.Pause == 0 {
		options.Pause = 2 * time.Second
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	source := rand.NewPCG(rand.Uint64(), rand.Uint64())
	l := &Activity{
		store:   store,
		options: options,
		people:  s.existing(0, len(s.ids)),
		members: map[retwis.UserID]bool{},
		since:   time.Now(),
		random:  rand.New(source),
		faker:   gofakeit.NewFaker(source, false),
		greeted: map[retwis.UserID]bool{},
	}
	for _, id := range l.people {
		l.members[id] = true
	}
	return l
}

// Run lives until ctx is done. What fails is logged, and life goes on.
func (l *Activity) Run(ctx context.Context) error {
	if len(l.people) == 0 {
		return nil
	}
	for sleep.For(ctx, l.pause()) == nil {
		if err := l.act(ctx); err != nil && ctx.Err() == nil {
			l.options.Log.WarnContext(ctx, "somebody of the demonstration could not do something", "err", err)
		}
	}
	return nil
}

// pause is how long nothing happens: as things happen that have nothing to do with each
// other.
func (l *Activity) pause() time.Duration {
	return min(time.Duration(l.random.ExpFloat64()*float64(l.options.Pause)), 4*l.options.Pause)
}

// act lets one thing happen. Newcomers come first.
func (l *Activity) act(ctx context.Context) error {
	welcomed, err := l.welcome(ctx)
	if welcomed || err != nil {
		return err
	}
	switch n := l.random.IntN(10); {
	case n < 6:
		return l.post(ctx, someText(l.faker))
	case n < 9:
		return l.reply(ctx)
	default:
		return l.follow(ctx)
	}
}

// randomMember picks one of the people, the known ones more often.
func (l *Activity) randomMember() retwis.UserID {
	return l.people[popular(l.random, len(l.people))]
}

// follow makes somebody follow somebody. Some follow themselves, or too many already: they
// do not.
func (l *Activity) follow(ctx context.Context) error {
	err := l.store.Follow(ctx, l.randomMember(), l.randomMember())
	if _, ok := errors.AsType[*retwis.Error](err); ok {
		return nil
	}
	return err
}

func (l *Activity) post(ctx context.Context, text string) error {
	text, err := retwis.NormalizePostText(text)
	if err != nil {
		return err
	}
	_, err = l.store.CreatePost(ctx, retwis.NewPost{Author: l.randomMember(), Text: text, IdempotencyKey: crand.Text()})
	return err
}

// reply posts something to the author of one of the newest posts.
func (l *Activity) reply(ctx context.Context) error {
	page, err := l.store.Page(ctx, retwis.Public(), retwis.Page{First: 20})
	if err != nil || len(page.Edges) == 0 {
		return err
	}
	to := page.Edges[l.random.IntN(len(page.Edges))].Post.AuthorID
	users, err := l.store.Users(ctx, []retwis.UserID{to})
	if err != nil || users[0] == nil || users[0].Leaving {
		return err
	}
	return l.post(ctx, "@"+users[0].Username+" "+someText(l.faker))
}

// welcome greets somebody who has come since life began: one of the people follows the
// newcomer and says so. It reports whether there was anybody.
func (l *Activity) welcome(ctx context.Context) (bool, error) {
	const looked = 20
	newest, err := l.store.NewestUsers(ctx, retwis.Page{First: looked})
	if err != nil {
		return false, err
	}
	for _, entry := range newest.Follows {
		user := entry.User
		if user == nil || l.members[user.ID] || l.greeted[user.ID] || user.CreatedAt.Before(l.since) {
			continue
		}
		if len(l.greeted) >= 10*looked { // those who came long ago are not among the newest any more
			clear(l.greeted)
			l.since = user.CreatedAt
		}
		l.greeted[user.ID] = true
		if err := l.store.Follow(ctx, l.randomMember(), user.ID); err != nil {
			return true, err
		}
		return true, l.post(ctx, "Welcome, @"+user.Username+"! "+l.faker.Question())
	}
	return false, nil
}
