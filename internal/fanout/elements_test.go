package fanout_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/check"
	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/storetest"
)

// mixed is a database in which an author and another user wrote plain posts, replies and reposts.
type mixed struct {
	*engine
	t                     *testing.T
	reader, author, other retwis.UserID
	elements              []retwis.Element // of both users, newest first
	by                    map[retwis.Element]retwis.UserID
}

func newMixed(t *testing.T, options store.Options, audience func(*mixed)) *mixed {
	m := &mixed{engine: newEngine(t, options), t: t}
	m.Work(fanout.Options{})
	people := m.Register("reader", "author", "other")
	m.reader, m.author, m.other = people[0], people[1], people[2]
	audience(m)
	m.Drain()
	m.by = map[retwis.Element]retwis.UserID{}
	add := func(by retwis.UserID, e retwis.Element) retwis.PostID {
		m.Drain() // so that entries arrive in the order of their ids
		m.by[e] = by
		m.elements = slices.Insert(m.elements, 0, e)
		return e.ID
	}
	first := add(m.author, retwis.Plain(m.Post(m.author, "first")))
	second := add(m.other, retwis.Plain(m.Post(m.other, "second")))
	add(m.author, storetest.Reply(t, m.Store, m.author, second))
	add(m.author, storetest.Repost(t, m.Store, m.author, second))
	add(m.other, storetest.Repost(t, m.Store, m.other, first))
	add(m.other, storetest.Reply(t, m.Store, m.other, first))
	add(m.author, retwis.Plain(m.Post(m.author, "last")))
	m.Drain()
	return m
}

// of returns the elements of a user.
func (m *mixed) of(user retwis.UserID) []retwis.Element {
	return slices.DeleteFunc(slices.Clone(m.elements), func(e retwis.Element) bool { return m.by[e] != user })
}

// followBoth makes the reader follow both authors, and builds the reader's home.
func (m *mixed) followBoth() {
	m.Follow(m.reader, m.author)
	m.Follow(m.reader, m.other)
	m.Read(retwis.Home(m.reader))
}

// shows returns the elements that a timeline shows.
func (m *mixed) shows(id retwis.TimelineID, elements []retwis.Element) []retwis.Element {
	m.T.Helper()
	return enginetest.Shown(elements, func(e retwis.Element) bool {
		if e.Answered == 0 || id.Kind == retwis.RepliesTimeline {
			return true
		}
		var source bool
		switch id.Kind {
		case retwis.HomeTimeline:
			source = m.follows(id.Owner, e.Answered)
		case retwis.ListTimeline:
			memberships, err := m.Lists.Memberships(m.T.Context(), []retwis.Membership{{List: id.List(), User: e.Answered}})
			if err != nil {
				m.T.Fatal(err)
			}
			source = memberships[0]
		default:
			return false
		}
		return e.Author == m.reader || e.Answered == m.reader || source
	})
}

func (m *mixed) follows(reader, author retwis.UserID) bool {
	m.T.Helper()
	follows, err := m.Follows.Follows(m.T.Context(), reader, []retwis.UserID{author})
	if err != nil {
		m.T.Fatal(err)
	}
	return follows[0]
}

// public returns the elements that the public timeline receives.
func (m *mixed) public() []retwis.Element {
	return slices.DeleteFunc(slices.Clone(m.elements), func(e retwis.Element) bool { return e.Answered != 0 || e.Reposted != 0 })
}

// holds compares the stored list of a timeline with elements, newest first, and the pages with those that it shows.
func (m *mixed) holds(id retwis.TimelineID, want []retwis.Element) {
	m.T.Helper()
	all := m.Read(id) // builds a missing list
	var stored []string
	for _, e := range storetest.Entries(m.t, m.Store, id) {
		if e != "0" {
			stored = append(stored, e)
		}
	}
	var texts []string
	for _, e := range want {
		texts = append(texts, e.String())
	}
	if diff := cmp.Diff(texts, stored); diff != "" {
		m.T.Errorf("%s (-want +got):\n%s", id, diff)
	}
	if want := enginetest.PostsOf(m.shows(id, want)); !slices.Equal(all, want) {
		m.T.Errorf("the pages of %s show %v, want %v", id, all, want)
	}
}

func TestElements_AreDeliveredAndPaged(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newMixed(t, store.Options{URL: url}, (*mixed).followBoth)
		home := retwis.Home(m.reader)
		m.holds(home, m.elements)
		m.holds(retwis.Public(), m.public())
		m.holds(retwis.Profile(m.author), m.of(m.author))
		m.holds(retwis.ProfileWithReplies(m.author), m.of(m.author))
		for _, id := range []retwis.TimelineID{home, retwis.Profile(m.author), retwis.ProfileWithReplies(m.author), retwis.Public()} {
			all := m.Read(id)
			for _, older := range []bool{true, false} {
				r := redistest.Rand(t)
				posts, cursors := m.Walk(r, id, older, "")
				if !older {
					slices.Reverse(posts)
				}
				if !slices.Equal(posts, all) {
					t.Errorf("%s, towards older entries %t: %v, want %v", id, older, posts, all)
				}
				for i, cursor := range cursors { // every element is found again
					rest, _ := m.Walk(r, id, older, cursor)
					if len(rest) != len(all)-1-i {
						t.Errorf("%s, towards older entries %t: %d posts follow %s, want %d", id, older, len(rest), posts[i], len(all)-1-i)
					}
				}
			}
		}
		m.IsSound()
	})
}

func TestElements_AreMergedAndRebuilt(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		var list retwis.TimelineID
		m := newMixed(t, store.Options{URL: url}, func(m *mixed) {
			created, err := m.Lists.CreateList(t.Context(), m.reader, "a list", m.Key())
			if err != nil {
				t.Fatal(err)
			}
			list = retwis.ListPosts(created.ID)
			m.Follow(m.reader, m.other)
			m.Read(retwis.Home(m.reader))
			m.Read(list)
		})
		home := retwis.Home(m.reader)
		m.holds(home, m.of(m.other))
		m.Follow(m.reader, m.author)
		for _, member := range []retwis.UserID{m.author, m.other} {
			if err := m.Lists.AddListMember(t.Context(), m.reader, list.List(), member); err != nil {
				t.Fatal(err)
			}
		}
		m.Drain()
		for _, id := range []retwis.TimelineID{home, list} {
			m.holds(id, m.elements)
			if err := m.Timelines.Recreate(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			m.holds(id, m.elements)
		}
		// A purge keeps the other user's repost of the author's post and reply to the author.
		m.Unfollow(m.reader, m.author)
		if err := m.Lists.RemoveListMember(t.Context(), m.reader, list.List(), m.other); err != nil {
			t.Fatal(err)
		}
		m.Drain()
		m.holds(home, m.of(m.other))
		m.holds(list, m.of(m.author))
		m.IsSound()
	})
}

func TestElements_AreReadBelowTheList(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newMixed(t, store.Options{URL: url, HomeCap: 3, Slack: 1}, (*mixed).followBoth)
		home := retwis.Home(m.reader)
		r := redistest.Rand(t)
		for _, older := range []bool{true, false} {
			posts, cursors := m.Walk(r, home, true, "")
			if !slices.Equal(posts, enginetest.PostsOf(m.elements)) {
				t.Errorf("home: %v, want %v", posts, enginetest.PostsOf(m.elements))
			}
			for i, cursor := range cursors {
				want := enginetest.PostsOf(m.elements)[i+1:]
				if !older {
					want = enginetest.PostsOf(m.elements)[:i]
				}
				rest, _ := m.Walk(r, home, older, cursor)
				if !older {
					slices.Reverse(rest)
				}
				if !slices.Equal(rest, want) {
					t.Errorf("home after entry %d, towards older entries %t: %v, want %v", i, older, rest, want)
				}
			}
		}
		m.IsSound()
	})
}

// Removals concern timelines that hold an element of another user which shows the post.
func TestElements_AreReplayedAndRemoved(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newMixed(t, store.Options{URL: url, Partitions: 1}, (*mixed).followBoth)
		home, ctx := retwis.Home(m.reader), t.Context()
		now, _, err := m.Live.CurrentPosition(ctx, home)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range m.elements {
			from := now
			from.Element = e
			replay, err := m.Live.EventsSince(ctx, from)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(m.elements[:i])
			slices.Reverse(want)
			var arrived []retwis.Element
			for _, a := range replay.Arrived {
				arrived = append(arrived, a.Element)
				if visible := slices.Contains(m.shows(home, m.elements), a.Element); visible == a.Hidden {
					t.Errorf("%s is hidden: %t", a.Element, a.Hidden)
				}
			}
			if !replay.Found || !slices.Equal(arrived, want) {
				t.Errorf("after %s: found %t, arrived %v, want %v", e, replay.Found, replay.Arrived, want)
			}
		}
		m.Unfollow(m.reader, m.author)
		m.Drain()
		first := m.elements[len(m.elements)-1]
		if now, _, err = m.Live.CurrentPosition(ctx, home); err != nil {
			t.Fatal(err)
		}
		if err := m.Posts.DeletePost(ctx, m.author, first.ID); err != nil {
			t.Fatal(err)
		}
		m.Drain()
		left := slices.DeleteFunc(m.of(m.other), func(e retwis.Element) bool { return e.Shown() == first.ID })
		if got, want := m.Read(home), enginetest.PostsOf(m.shows(home, left)); !slices.Equal(got, want) {
			t.Errorf("home: %v, want %v", got, want)
		}
		replay, err := m.Live.EventsSince(ctx, now)
		if err != nil {
			t.Fatal(err)
		}
		if len(replay.Removed) != 1 || replay.Removed[0].Post != first.ID {
			t.Errorf("the replay of the home has the removals %v, want that of %s", replay.Removed, first)
		}
		if got := m.Read(retwis.Profile(m.author)); slices.Contains(got, first.ID) {
			t.Error("the profile shows a deleted post")
		}
		// A reply is on the profile of its author as an element with its context.
		reply := m.of(m.author)[2]
		if reply.Answered == 0 {
			t.Fatalf("%s is not a reply", reply)
		}
		if err := m.Posts.DeletePost(ctx, m.author, reply.ID); err != nil {
			t.Fatal(err)
		}
		if got := storetest.Entries(t, m.Store, retwis.Profile(m.author)); slices.Contains(got, reply.String()) {
			t.Errorf("the profile holds the deleted reply %s", reply)
		}
		m.Drain()
		m.IsSound()
	})
}

func TestElements_ArePulledFromLargeAuthors(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newMixed(t, store.Options{URL: url, PullAbove: 1}, func(m *mixed) {
			followers := m.Crowd("follower", 2)
			for _, reader := range append(followers, m.reader) {
				m.Follow(reader, m.author)
				m.Follow(reader, m.other)
			}
			m.Drain()
			m.Read(retwis.Home(m.reader))
		})
		m.holds(retwis.Home(m.reader), m.elements)
		m.IsSound()
	})
}

func TestElements_AreCheckedAgainstTheirRecords(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		m := newMixed(t, store.Options{URL: url}, (*mixed).followBoth)
		client := enginetest.Client(t, url)
		for key, index := range map[string]int64{"*:home:" + m.reader.String(): 4, "*:profile:" + m.author.String(): 2} {
			list := enginetest.Keys(t, client, key)[0]
			e, err := client.LIndex(t.Context(), list, index).Result()
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := retwis.ParseElement(e)
			if err != nil || parsed.Author == 0 {
				t.Fatalf("entry %d of %s is %q: %v", index, list, e, err)
			}
			if err := client.LSet(t.Context(), list, index, parsed.ID.String()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		repost := m.of(m.author)[1]
		if err := client.LSet(t.Context(), enginetest.Keys(t, client, "{*:public")[0], 1, repost.String()).Err(); err != nil || repost.Reposted == 0 {
			t.Fatalf("plant the repost %s on the public timeline: %v", repost, err)
		}
		report := m.Check(check.Options{Repair: true})
		want := map[check.Kind]int{check.Extra: 2, check.Missing: 1, check.ProfileExtra: 1}
		for kind, n := range want {
			if report.Counts[kind] < n {
				t.Errorf("check found %v, want at least %v", report.Counts, want)
				break
			}
		}
		report = m.Check(check.Options{})
		if report.Findings() > 0 {
			t.Errorf("check found %v after the repair", report.Examples)
		}
		m.holds(retwis.Home(m.reader), m.elements)
		m.holds(retwis.Profile(m.author), m.of(m.author))
	})
}
