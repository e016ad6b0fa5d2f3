package fanout_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"retwis/internal/check"
	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/outbox"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/storetest"
)

// reposting is a database in which a reader follows a reposter, but not the author of a post.
type reposting struct {
	*engine
	reader, reposter, author retwis.UserID
	post                     retwis.PostID
}

func newReposting(t *testing.T, url string) *reposting {
	m := &reposting{engine: newEngine(t, store.Options{URL: url, DeletedAccountTTL: enginetest.ShortAccountTTL})}
	m.Work(fanout.Options{})
	people := m.Register("reader", "reposter", "author")
	m.reader, m.reposter, m.author = people[0], people[1], people[2]
	m.Follow(m.reader, m.reposter)
	m.Read(retwis.Home(m.reader))
	m.post = m.Post(m.author, "a post")
	m.Drain()
	return m
}

// shows compares the pages of timelines that receive the reposts with posts.
func (m *reposting) shows(want ...retwis.PostID) {
	m.T.Helper()
	for _, id := range []retwis.TimelineID{retwis.Home(m.reader), retwis.Home(m.reposter), retwis.Profile(m.reposter)} {
		m.reads(id, want...)
	}
}

// reads compares the pages of a timeline with posts.
func (m *reposting) reads(id retwis.TimelineID, want ...retwis.PostID) {
	m.T.Helper()
	if got := m.Read(id); !slices.Equal(got, want) {
		m.T.Errorf("%s shows %v, want %v", id, got, want)
	}
}

// showReposts makes the reader follow the reposter, and show or hide the reposts.
func (m *reposting) showReposts(show bool) {
	m.T.Helper()
	if err := m.Follows.FollowShowing(m.T.Context(), m.reader, m.reposter, show); err != nil {
		m.T.Fatal(err)
	}
	m.Drain()
}

// replays compares the replay of the reader's home with one entry, which is hidden or not.
func (m *reposting) replays(from retwis.TimelinePosition, want retwis.Element, hidden bool) {
	m.T.Helper()
	replay, err := m.Live.EventsSince(m.T.Context(), from)
	if err != nil || len(replay.Arrived) != 1 || replay.Arrived[0].Element != want || replay.Arrived[0].Hidden != hidden {
		m.T.Errorf("replayed %v, want %s, hidden %t: %v", replay.Arrived, want, hidden, err)
	}
}

func (m *reposting) undo(post retwis.PostID) {
	m.T.Helper()
	if err := m.Posts.UndoRepost(m.T.Context(), m.reposter, post); err != nil {
		m.T.Fatal(err)
	}
	m.Drain()
}

func TestReposts_AreDeliveredOnceAndUndone(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newReposting(t, url)
		before, _, err := m.Live.CurrentPosition(t.Context(), retwis.Home(m.reader))
		if err != nil {
			t.Fatal(err)
		}
		first := storetest.Repost(t, m.Store, m.reposter, m.post)
		for _, again := range []retwis.PostID{m.post, first.ID} { // a repost of a repost is one of its original
			if e := storetest.Repost(t, m.Store, m.reposter, again); e != first {
				t.Errorf("a repeat of repost %s made %s", first, e)
			}
		}
		m.Drain()
		m.shows(m.post)
		if unread, err := m.Timelines.Unread(t.Context(), retwis.Home(m.reader), 9); err != nil || unread.Count != 1 {
			t.Errorf("%d unread posts, want the repost: %v", unread.Count, err)
		}
		if got := m.Read(retwis.Public()); !slices.Equal(got, []retwis.PostID{m.post}) {
			t.Errorf("the public timeline shows %v, want the post once", got)
		}
		users, err := m.Accounts.Users(t.Context(), []retwis.UserID{m.reposter})
		if err != nil || users[0].PostCount != 0 {
			t.Errorf("the reposter has %d posts, want none: %v", users[0].PostCount, err)
		}
		m.IsSound()

		m.replays(before, first, false)
		m.undo(m.post)
		m.undo(m.post) // no effect
		m.replays(before, first, true)
		m.shows()
		if unread, err := m.Timelines.Unread(t.Context(), retwis.Home(m.reader), 9); err != nil || unread.Count != 0 {
			t.Errorf("%d unread posts after the undo, want none: %v", unread.Count, err)
		}
		if got := m.Read(retwis.Profile(m.author)); !slices.Equal(got, []retwis.PostID{m.post}) {
			t.Errorf("the author's profile shows %v after the undo, want the post", got)
		}
		if second := storetest.Repost(t, m.Store, m.reposter, m.post); second == first {
			t.Error("a new repost after an undo has the id of the old one")
		}
		m.Drain()
		m.shows(m.post)
		m.IsSound()
	})
}

func TestReposts_AreHiddenFromTheHomeOfAReaderWhoAsks(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newReposting(t, url)
		home := retwis.Home(m.reader)
		list, err := m.Lists.CreateList(t.Context(), m.reader, "a list", "")
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Lists.AddListMember(t.Context(), m.reader, list.ID, m.reposter); err != nil {
			t.Fatal(err)
		}
		own := m.Post(m.reposter, "a post of the reposter")
		m.Drain()
		before, _, err := m.Live.CurrentPosition(t.Context(), home)
		if err != nil {
			t.Fatal(err)
		}
		repost := storetest.Repost(t, m.Store, m.reposter, m.post)
		m.Drain()
		hides := func(want bool) {
			t.Helper()
			hidden, err := m.Follows.HidesReposts(t.Context(), m.reader, []retwis.UserID{m.author, m.reposter})
			if err != nil || !slices.Equal(hidden, []bool{false, want}) {
				t.Errorf("hides reposts: %v, want %t for the reposter only: %v", hidden, want, err)
			}
			m.replays(before, repost, want)
			m.reads(retwis.ListPosts(list.ID), m.post, own)
			m.reads(retwis.Profile(m.reposter), m.post, own)
			m.IsSound()
		}
		m.reads(home, m.post, own)
		m.showReposts(false)
		m.showReposts(false) // no effect
		m.reads(home, own)
		hides(true)
		m.Follow(m.reader, m.reposter) // leaves it as it is
		m.reads(home, own)
		hides(true)
		if unread, err := m.Timelines.Unread(t.Context(), home, 9); err != nil || unread.Count != 1 {
			t.Errorf("%d unread posts, want the one that is shown: %v", unread.Count, err)
		}
		m.showReposts(true)
		m.reads(home, m.post, own)
		hides(false)
		if epochs, err := m.Live.FilterEpochs(t.Context(), []retwis.UserID{m.reader}); err != nil || epochs[0] != 2 {
			t.Errorf("filter epoch %v, want one for each change: %v", epochs, err)
		}

		m.showReposts(false)
		m.Unfollow(m.reader, m.reposter)
		m.Drain()
		m.reads(home)
		m.IsSound()
		m.Follow(m.reader, m.reposter)
		m.Drain()
		m.reads(home, m.post, own)

		m.showReposts(false)
		m.Unfollow(m.reader, m.reposter)
		m.Follow(m.reader, m.reposter) // before the purge
		m.Drain()
		m.reads(home, m.post, own)
		m.IsSound()
	})
}

// A home hides the reposts below the end of its list as well, and those that repeat a hidden one are shown.
func TestReposts_AreHiddenBelowTheList(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 4, Slack: 1})
		e.Work(fanout.Options{})
		people := e.Register("reader", "first", "second", "author")
		reader, first, second, author := people[0], people[1], people[2], people[3]
		e.Follow(reader, first)
		if err := e.Follows.FollowShowing(t.Context(), reader, second, false); err != nil {
			t.Fatal(err)
		}
		e.Read(retwis.Home(reader))
		post, other := e.Post(author, "a post"), e.Post(author, "another one")
		e.Drain()
		storetest.Repost(t, e.Store, second, post)
		storetest.Repost(t, e.Store, second, other)
		storetest.Repost(t, e.Store, first, post)
		e.Drain() // posts of several authors arrive in any order
		want := []retwis.PostID{post}
		for range 12 {
			want = slices.Insert(want, 0, e.Post(second, "a post of the second"))
		}
		e.Drain()
		if got := e.Read(retwis.Home(reader)); !slices.Equal(got, want) {
			t.Errorf("the home shows %v, want %v", got, want)
		}
		e.IsSound()
	})
}

func TestReposts_NeedAPost(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newReposting(t, url)
		repost := storetest.Repost(t, m.Store, m.reposter, m.post)
		own := storetest.Repost(t, m.Store, m.author, m.post)
		if err := m.Posts.DeletePost(t.Context(), m.reposter, repost.ID); !errors.Is(err, retwis.ErrPostNotFound) {
			t.Errorf("deleting a repost as a post: %v, want %v", err, retwis.ErrPostNotFound)
		}
		if posts, err := m.Posts.Posts(t.Context(), []retwis.PostID{repost.ID}); err != nil || posts[0] != nil {
			t.Errorf("a repost was read as the post %v: %v", posts[0], err)
		}
		if err := m.Posts.DeletePost(t.Context(), m.author, m.post); err != nil {
			t.Fatal(err)
		}
		m.Drain()
		m.shows() // the reposts of a deleted post
		for _, missing := range []retwis.PostID{m.post, repost.ID, own.ID, m.post + 1_000_000} {
			if _, err := m.Posts.Repost(t.Context(), m.reader, missing); !errors.Is(err, retwis.ErrPostNotFound) {
				t.Errorf("a repost of %s: %v, want %v", missing, err, retwis.ErrPostNotFound)
			}
		}
		if got := storetest.Entries(t, m.Store, retwis.Profile(m.reader)); len(got) > 0 {
			t.Errorf("the refused reposts left the entries %v", got)
		}
		m.undo(m.post) // also of a deleted post
		m.IsSound()
	})
}

func TestReposts_LeaveWithTheirAccount(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newReposting(t, url)
		storetest.Repost(t, m.Store, m.reposter, m.post)
		m.Drain()
		if err := m.Accounts.DeleteAccount(t.Context(), m.reposter, "x"); err != nil {
			t.Fatal(err)
		}
		m.Drain()
		if got := m.Read(retwis.Home(m.reader)); len(got) > 0 {
			t.Errorf("the home shows %v, reposted by a deleted account", got)
		}
		m.NothingIsLeftOf(m.reposter)
		m.IsSound()
	})
}

// stubborn is an outbox that at first fails to deliver reposts to those of their post. It counts the deliveries of reposts to
// timelines before that.
type stubborn struct {
	*store.Outbox
	failures, early atomic.Int64
}

func (o *stubborn) Deliver(ctx context.Context, deliveries []outbox.Delivery) []outbox.Result {
	results := o.Outbox.Deliver(ctx, deliveries[:0])
	for _, d := range deliveries {
		switch {
		case d.Entry.Reposted != 0 && d.To == outbox.TargetReposts && o.failures.Add(-1) >= 0:
			results = append(results, outbox.Result{Err: errors.New("injected")})
			continue
		case d.Entry.Reposted != 0 && d.To != outbox.TargetReposts && o.failures.Load() >= 0:
			o.early.Add(1)
		}
		results = append(results, o.Outbox.Deliver(ctx, []outbox.Delivery{d})...)
	}
	return results
}

// A deletion of the post that is processed between the deliveries would not reach the timelines served first.
func TestReposts_ReachTheirPostBeforeTimelines(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL()})
	people := e.Apart(3)
	e.Follow(people[0], people[1])
	post := e.Post(people[2], "a post")
	storetest.Repost(t, e.Store, people[1], post)
	o := &stubborn{Outbox: e.Outbox}
	o.failures.Store(2)
	e.WorkOn(o, e.Tasks, fanout.Options{})
	e.Drain()
	if early := o.early.Load(); early > 0 || o.failures.Load() >= 0 {
		t.Errorf("%d deliveries to timelines preceded the one to the reposts, which was tried %d times", early, 2-o.failures.Load())
	}
	if got := e.Read(retwis.Home(people[0])); !slices.Equal(got, []retwis.PostID{post}) {
		t.Errorf("the home shows %v, want %v", got, post)
	}
	e.IsSound()
}

func TestCheck_FindsAndRepairsReposts(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		client := enginetest.Client(t, url)
		people := e.Apart(3)
		author, reposter := people[0], people[1]
		e.Follow(people[2], reposter)
		post, other := e.Post(author, "a post"), e.Post(author, "another one")
		repost := storetest.Repost(t, e.Store, reposter, post)
		undone := storetest.Repost(t, e.Store, reposter, other)
		if err := e.Posts.UndoRepost(t.Context(), reposter, other); err != nil {
			t.Fatal(err)
		}
		e.Drain()
		e.IsSound()
		p, ok := e.DB().OfPost(post)
		if !ok {
			t.Fatalf("no partition has post %s", post)
		}
		hidden := e.DB().OfUser(reposter).User(reposter).HiddenReposters()
		key, own := p.References(retwis.RepostReference, post), e.DB().OfUser(reposter).User(reposter).Reposted()
		for name, plant := range map[string]struct {
			corrupt func(ctx context.Context) error
			want    check.Kind
		}{
			"a missing repost": {func(ctx context.Context) error { return client.ZRem(ctx, key, repost.ID.String()).Err() }, check.RepostMissing},
			"a repost that was undone": {func(ctx context.Context) error {
				return client.ZAdd(ctx, key, redis.Z{Score: float64(undone.ID.CreatedAt().UnixMilli()), Member: undone.ID.String()}).Err()
			}, check.RepostExtra},
			"a repost that its user lacks": {func(ctx context.Context) error { return client.HDel(ctx, own, post.String()).Err() }, check.RepostOfUser},
			"a repost that its user has undone": {func(ctx context.Context) error {
				return client.HSet(ctx, own, other.String(), undone.ID.String()).Err()
			}, check.RepostOfUser},
			"another repost than that of a user": {func(ctx context.Context) error { return client.HSet(ctx, own, post.String(), undone.ID.String()).Err() }, check.RepostOfUser},
			"a hidden reposter whom nobody follows": {func(ctx context.Context) error {
				return client.SAdd(ctx, hidden, author.String()).Err()
			}, check.HiddenReposter},
			"nonsense among the reposts of a user": {func(ctx context.Context) error {
				return client.HSet(ctx, own, "nonsense", "nonsense", other.String(), other.String()).Err()
			}, check.RepostOfUser},
		} {
			if err := plant.corrupt(t.Context()); err != nil {
				t.Fatal(err)
			}
			if report := e.Check(check.Options{Repair: true}); report.Counts[plant.want] == 0 {
				t.Errorf("%s: check found %v, want %s", name, report.Counts, plant.want)
			}
			if got, err := client.HGetAll(t.Context(), own).Result(); err != nil || len(got) != 1 || got[post.String()] != repost.ID.String() {
				t.Errorf("%s: the user has the reposts %v after the repair: %v", name, got, err)
			}
			e.IsSound()
		}
	})
}
