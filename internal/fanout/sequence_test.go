package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/inspect"
)

// sequence is a database and a sequence of actions on it. Workers run only during some of the actions, so that the same
// actions have the same effect when rapid repeats them to find a shorter sequence that fails.
type sequence struct {
	*engine
	m        *enginetest.Model
	client   redis.UniversalClient
	promptly bool
	seen     map[retwis.UserID]view

	roomForAll bool // homes are never trimmed
	marked     map[retwis.UserID]readEntries
}

// view is a home that a subscriber has seen.
type view struct {
	position retwis.TimelinePosition
	posts    []retwis.PostID
}

// partitions is the number of partitions of a sequence.
const partitions = 4

// variant is a set of bounds.
type variant struct {
	name     string
	promptly bool // whether entries are delivered before fan-out lags
	options  store.Options
}

func variants() []variant {
	return []variant{
		{"room for all", false, store.Options{HomeCap: 20_000, Chunk: 2}},
		{"small homes", true, store.Options{HomeCap: 12, Slack: 4, Chunk: 2}},
		{"small homes that lag", false, store.Options{HomeCap: 8, Slack: 2, Chunk: 2}},
		{"large authors", false, store.Options{HomeCap: 20_000, PullAbove: 2, Chunk: 2}},
		{"large authors, small homes", true, store.Options{HomeCap: 12, Slack: 4, PullAbove: 2, Chunk: 2}},
	}
}

// Each sequence ends with the comparison of all timelines, lists, connections and counts with the model, and with a
// consistency check. When a subscriber resumes, the posts that it has and those that it receives are the home. To repeat
// or extend the test, see the flags -rapid.seed, -rapid.checks and -rapid.steps.
func TestHomes_EqualTheirDefinitionAfterASequenceOfActions(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	client := enginetest.Client(t, server.URL())
	rapid.Check(t, func(t *rapid.T) {
		if err := client.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		v := variants()[rapid.IntRange(0, len(variants())-1).Draw(t, "variant")]
		options := v.options
		options.URL, options.Partitions, options.DeletedAccountTTL = server.URL(), partitions, enginetest.ShortAccountTTL
		e := &engine{enginetest.New(enginetest.Shrinkable(t), options)}
		s := &sequence{
			engine: e, client: client, promptly: v.promptly, seen: map[retwis.UserID]view{},
			roomForAll: v.options.Slack == 0, marked: map[retwis.UserID]readEntries{},
		}
		s.m = enginetest.NewModel(s.place(2))
		s.deliver()
		t.Repeat(s.actions())
		s.deliver()
		s.resume()
		s.verifyMarkers()
		slack := max(options.Slack, 1)
		if !s.promptly && options.Slack > 0 {
			slack = options.HomeCap // a home that lags may trim newer posts than it keeps
		}
		s.m.Verify(e.Engine, options.HomeCap, slack)
	})
}

func (s *sequence) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"post": func(t *rapid.T) {
			user := s.user(t, "user")
			most := 5
			if s.promptly {
				most = 2
			}
			for range rapid.IntRange(1, most).Draw(t, "posts") {
				s.expect(s.m.Post(s.Engine, user, rapid.SampledFrom([]string{"x", "#Go", "#GO and #redis"}).Draw(t, "text")))
			}
		},
		"mention": func(t *rapid.T) {
			user, other := s.pair(t)
			s.expect(s.m.Mention(s.Engine, user, other))
		},
		"reply or quote": func(t *rapid.T) {
			user := s.user(t, "user")
			other := s.m.People[rapid.IntRange(0, len(s.m.People)-1).Draw(t, "other")]
			kind := rapid.SampledFrom([]retwis.ReferenceKind{retwis.ReplyReference, retwis.QuoteReference}).Draw(t, "kind")
			s.expect(s.m.Refer(s.Engine, user, other, kind, draw(t)))
		},
		"like": func(t *rapid.T) {
			user := s.user(t, "user")
			other := s.m.People[rapid.IntRange(0, len(s.m.People)-1).Draw(t, "other")]
			s.expect(s.m.Like(s.Engine, user, other, draw(t)))
		},
		"repost": func(t *rapid.T) {
			user := s.user(t, "user")
			other := s.m.People[rapid.IntRange(0, len(s.m.People)-1).Draw(t, "other")]
			s.expect(s.m.Repost(s.Engine, user, other, draw(t)))
		},
		"delete": func(t *rapid.T) { s.expect(s.m.Delete(s.Engine, s.user(t, "user"), draw(t))) },
		"follow": func(t *rapid.T) {
			user, other := s.pair(t)
			s.expect(s.m.Follow(s.Engine, user, other), retwis.ErrNotFound)
		},
		"show or hide reposts": func(t *rapid.T) {
			user, other := s.pair(t)
			s.expect(s.m.FollowShowing(s.Engine, user, other, rapid.Bool().Draw(t, "show")), retwis.ErrNotFound)
		},
		"unfollow": func(t *rapid.T) {
			user, other := s.pair(t)
			s.expect(s.m.Unfollow(s.Engine, user, other), retwis.ErrNotFound)
		},
		"change lists": func(t *rapid.T) {
			user, other := s.pair(t)
			s.expect(s.m.ChangeLists(s.Engine, user, other, draw(t)), retwis.ErrNotFound)
		},
		"leave": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "likely") == 9 {
				s.expect(s.m.Leave(s.Engine, s.user(t, "user")))
			}
		},
		"read":  func(t *rapid.T) { s.expect(s.m.Page(s.Engine, s.user(t, "user"), 5)) },
		"mark":  func(t *rapid.T) { s.mark(t, s.user(t, "user")) },
		"evict": func(*rapid.T) { s.evict() },
		"recreate": func(t *rapid.T) {
			user := s.user(t, "user")
			delete(s.marked, user)
			s.expect(s.Timelines.Recreate(t.Context(), retwis.Home(user)))
		},
		"subscribe": func(t *rapid.T) { s.subscribe(s.user(t, "user")) },
		"deliver":   func(*rapid.T) { s.deliver(); s.resume(); s.verifyMarkers() },
		"deliver one outbox": func(t *rapid.T) {
			if s.promptly {
				t.Skip("the others would lag")
			}
			s.deliverOutbox(rapid.IntRange(0, partitions-1).Draw(t, "outbox"))
		},
		"": func(t *rapid.T) {
			if waiting, err := s.Outbox.OutboxLength(t.Context()); err != nil || s.promptly && waiting > 2 {
				s.expect(err)
				s.deliver()
			}
		},
	}
}

// user chooses a user who has an account.
func (s *sequence) user(t *rapid.T, label string) retwis.UserID {
	user := s.m.People[rapid.IntRange(0, len(s.m.People)-1).Draw(t, label)]
	if s.m.HasLeft(user) {
		t.Skip("the user has no account")
	}
	return user
}

// pair chooses a user, and another one who may have no account.
func (s *sequence) pair(t *rapid.T) (user, other retwis.UserID) {
	user = s.user(t, "user")
	others := slices.DeleteFunc(slices.Clone(s.m.People), func(id retwis.UserID) bool { return id == user })
	return user, others[rapid.IntRange(0, len(others)-1).Draw(t, "other")]
}

func draw(t *rapid.T) func(int) int {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }
}

// expect fails the sequence if err is an error that is not allowed.
func (s *sequence) expect(err error, allowed ...error) {
	s.T.Helper()
	if err != nil && !slices.ContainsFunc(allowed, func(a error) bool { return errors.Is(err, a) }) {
		s.T.Fatal(err)
	}
}

// deliver delivers all entries, of one outbox after the other.
func (s *sequence) deliver() {
	for waiting := true; waiting; {
		waiting = false
		for id, first := range s.outboxStarts() {
			if first != "" {
				waiting = true
				s.deliverOutbox(id)
			}
		}
	}
	s.Drain() // counts the likes
}

// deliverOutbox runs a worker until an outbox is empty.
func (s *sequence) deliverOutbox(id int) {
	_, stop := s.WorkOn(oneOutbox{s.Outbox, id}, s.Tasks, fanout.Options{})
	defer stop()
	for deadline := time.Now().Add(time.Minute); s.outboxStarts()[id] != ""; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.T.Fatal("entries of an outbox remain after a minute")
		}
	}
}

func (s *sequence) outboxStarts() []string {
	starts, err := inspect.NewInspector(s.Store).OutboxStarts(s.T.Context())
	s.expect(err)
	return starts
}

// oneOutbox has a single outbox with a free lease.
type oneOutbox struct {
	*store.Outbox
	id int
}

func (o oneOutbox) FreeLeases(context.Context, []int) ([]int, error) { return []int{o.id}, nil }

// place registers people, the same number in each partition, in the order of the partitions. Their places are random
// otherwise, and a sequence would not have the same effect when it is repeated.
func (s *sequence) place(perPartition int) []retwis.UserID {
	places := make([][]retwis.UserID, partitions)
	for n := 0; slices.ContainsFunc(places, func(users []retwis.UserID) bool { return len(users) < perPartition }); n++ {
		user := s.Register(fmt.Sprint("user", n))[0]
		at := s.Outbox.PartitionOfUser(user)
		places[at] = append(places[at], user)
	}
	var people []retwis.UserID
	for _, users := range places {
		people = append(people, users[:perPartition]...)
	}
	return people
}

// evict deletes the lists of all homes, as if nobody had read them for long.
func (s *sequence) evict() {
	clear(s.marked)
	for _, user := range s.m.People {
		if !s.m.HasLeft(user) {
			s.readOn(s.client, retwis.Home(user), 1)
		}
	}
	s.sweep()
}

// subscribe remembers what the owner of a home sees now.
func (s *sequence) subscribe(user retwis.UserID) {
	at, _, err := s.Live.CurrentPosition(s.T.Context(), retwis.Home(user))
	s.expect(err)
	at.Filter = s.filterEpoch(user)
	s.seen[user] = view{at, s.Read(retwis.Home(user))}
}

func (s *sequence) filterEpoch(user retwis.UserID) int64 {
	epochs, err := s.Live.FilterEpochs(s.T.Context(), []retwis.UserID{user})
	s.expect(err)
	return epochs[0]
}

// resume compares what subscribers have and receive with their homes.
func (s *sequence) resume() {
	for user, v := range s.seen {
		if s.m.HasLeft(user) {
			continue
		}
		news, err := s.Live.EventsSince(s.T.Context(), v.position)
		s.expect(err)
		news.Position.Filter = s.filterEpoch(user)
		if !news.Found || news.Position.Epoch != v.position.Epoch || news.Position.Filter != v.position.Filter { // the subscriber is reset
			continue
		}
		var arrived, again []retwis.PostID
		posts := map[retwis.PostID]bool{} // arrived as posts, not as reposts
		for _, e := range news.Arrived {
			if e.Hidden {
				continue
			}
			// Nothing hides a post that was delivered after its repost.
			if posts[e.ID] || e.Reposted != 0 && slices.Contains(arrived, e.Shown()) {
				again = append(again, e.Shown())
			}
			posts[e.ID] = e.Reposted == 0
			arrived = append(arrived, e.Shown())
		}
		has := slices.Concat(v.posts, arrived)
		now := s.Read(retwis.Home(user))
		// A repost is shown once the list no longer holds the entry of the same post below it, so a page may show a post twice.
		if missed := enginetest.Surplus(slices.Compact(slices.Sorted(slices.Values(now))), has); len(missed) > 0 {
			s.T.Errorf("home of %s: a subscriber that resumed lacks %v", user, missed)
		}
		if len(again) > 0 {
			s.T.Errorf("home of %s: a subscriber that resumed received %v again", user, again)
		}
		for _, removal := range news.Removed {
			if !s.m.Deleted[removal.Post] && !s.m.HasLeft(removal.Author) {
				s.T.Errorf("home of %s: a subscriber that resumed lost %v", user, removal.Post)
			}
		}
		s.seen[user] = view{news.Position, now}
	}
}
