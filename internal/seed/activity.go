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

// ActivityStore is the database that an [Activity] acts on.
type ActivityStore interface {
	CreatePost(ctx context.Context, post retwis.NewPost) (retwis.PostEdge, error)
	Follow(ctx context.Context, reader, author retwis.UserID) error
	Page(ctx context.Context, id retwis.TimelineID, page retwis.Page) (retwis.PostPage, error)
	Users(ctx context.Context, ids []retwis.UserID) ([]*retwis.User, error)
	NewestUsers(ctx context.Context, page retwis.Page) (retwis.FollowPage, error)
}

// ActivityOptions are the options of [Seeder.Activity]. Zero values select the defaults.
type ActivityOptions struct {
	Pause time.Duration // mean time between two actions; 2 s by default
	Log   *slog.Logger
}

// Activity simulates active users on seeded data: from time to time a member posts, replies,
// follows a member, or welcomes a new user.
type Activity struct {
	store   ActivityStore
	options ActivityOptions
	people  []retwis.UserID
	members map[retwis.UserID]bool
	since   time.Time // users created since are new

	random  *rand.Rand
	faker   *gofakeit.Faker
	greeted map[retwis.UserID]bool
}

// Activity returns the activity of the members that have an account. It requires a completed
// [Seeder.Run].
func (s *Seeder) Activity(store ActivityStore, options ActivityOptions) *Activity {
	if options.Pause == 0 {
		options.Pause = 2 * time.Second
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	source := rand.NewPCG(rand.Uint64(), rand.Uint64())
	a := &Activity{
		store:   store,
		options: options,
		people:  s.existing(0, len(s.ids)),
		members: map[retwis.UserID]bool{},
		since:   time.Now(),
		random:  rand.New(source),
		faker:   gofakeit.NewFaker(source, false),
		greeted: map[retwis.UserID]bool{},
	}
	for _, id := range a.people {
		a.members[id] = true
	}
	return a
}

// Run performs actions until ctx is done. It logs failed actions and continues.
func (a *Activity) Run(ctx context.Context) error {
	if len(a.people) == 0 {
		return nil
	}
	for sleep.For(ctx, a.pause()) == nil {
		if err := a.act(ctx); err != nil && ctx.Err() == nil {
			a.options.Log.WarnContext(ctx, "demo: action failed", "err", err)
		}
	}
	return nil
}

// pause returns the time until the next action. Intervals are exponentially distributed, as
// in a Poisson process of independent actions.
func (a *Activity) pause() time.Duration {
	return min(time.Duration(a.random.ExpFloat64()*float64(a.options.Pause)), 4*a.options.Pause)
}

// act performs one action. Welcoming a new user takes precedence.
func (a *Activity) act(ctx context.Context) error {
	welcomed, err := a.welcome(ctx)
	if welcomed || err != nil {
		return err
	}
	switch n := a.random.IntN(10); {
	case n < 3:
		return a.post(ctx, randomText(a.faker)+" #"+a.hashtag())
	case n < 6:
		return a.post(ctx, randomText(a.faker))
	case n < 9:
		return a.reply(ctx)
	default:
		return a.follow(ctx)
	}
}

// hashtag picks one of a few hashtags, and prefers the first ones.
func (a *Activity) hashtag() string {
	names := []string{"Coffee", "photography", "books", "Music", "cycling", "gardening", "日本語", "Été"}
	return names[popular(a.random, len(names))]
}

// randomMember picks one of the members and prefers popular members.
func (a *Activity) randomMember() retwis.UserID {
	return a.people[popular(a.random, len(a.people))]
}

// follow makes a random member follow another one. It ignores refusals, such as a follow of
// oneself or too many follows.
func (a *Activity) follow(ctx context.Context) error {
	err := a.store.Follow(ctx, a.randomMember(), a.randomMember())
	if _, ok := errors.AsType[*retwis.Error](err); ok {
		return nil
	}
	return err
}

func (a *Activity) post(ctx context.Context, text string) error {
	text, err := retwis.NormalizePostText(text)
	if err != nil {
		return err
	}
	_, err = a.store.CreatePost(ctx, retwis.NewPost{Author: a.randomMember(), Text: text, IdempotencyKey: crand.Text()})
	return err
}

// reply posts a mention of the author of one of the newest posts.
func (a *Activity) reply(ctx context.Context) error {
	page, err := a.store.Page(ctx, retwis.Public(), retwis.Page{First: 20})
	if err != nil || len(page.Edges) == 0 {
		return err
	}
	to := page.Edges[a.random.IntN(len(page.Edges))].Post.AuthorID
	users, err := a.store.Users(ctx, []retwis.UserID{to})
	if err != nil || users[0] == nil || users[0].BeingDeleted {
		return err
	}
	return a.post(ctx, "@"+users[0].Username+" "+randomText(a.faker))
}

// welcome lets a member follow and mention one user who registered since the activity began.
// It reports whether there was such a user.
func (a *Activity) welcome(ctx context.Context) (bool, error) {
	const newestUsers = 20
	newest, err := a.store.NewestUsers(ctx, retwis.Page{First: newestUsers})
	if err != nil {
		return false, err
	}
	for _, entry := range newest.Follows {
		user := entry.User
		if user == nil || a.members[user.ID] || a.greeted[user.ID] || user.CreatedAt.Before(a.since) {
			continue
		}
		if len(a.greeted) >= 10*newestUsers { // users greeted long ago are no longer among the newest
			clear(a.greeted)
			a.since = user.CreatedAt
		}
		a.greeted[user.ID] = true
		if err := a.store.Follow(ctx, a.randomMember(), user.ID); err != nil {
			return true, err
		}
		return true, a.post(ctx, "Welcome, @"+user.Username+"! "+a.faker.Question())
	}
	return false, nil
}
