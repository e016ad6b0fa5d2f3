package fanout_test

import (
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/storetest"
)

// sees is what a reader reads and receives of a timeline.
func (e *engine) sees(id retwis.TimelineID, since retwis.TimelinePosition) (page, replayed []retwis.PostID, unread int) {
	e.T.Helper()
	replay, err := e.Live.EventsSince(e.T.Context(), since)
	if err != nil {
		e.T.Fatal(err)
	}
	for _, a := range replay.Arrived {
		if !a.Hidden {
			replayed = append(replayed, a.Shown())
		}
	}
	slices.Reverse(replayed)
	if id.HasMarker() {
		count, err := e.Timelines.Unread(e.T.Context(), id, retwis.MaxUnread)
		if err != nil {
			e.T.Fatal(err)
		}
		unread = count.Count
	}
	return e.Read(id), replayed, unread
}

// The rule is exact when follows and memberships change: pages, replay and unread counts follow at once.
func TestHomeRule_DecidesWhenATimelineIsRead(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		people := e.Apart(4)
		reader, author, friend, stranger := people[0], people[1], people[2], people[3]
		list := e.CreateList(reader, author)
		e.Follow(reader, author)
		ofStranger, ofFriend, ofReader := e.Post(stranger, "hello"), e.Post(friend, "hello"), e.Post(reader, "hello")
		e.Drain()
		home, members := retwis.Home(reader), retwis.ListPosts(list)
		profile, all := retwis.Profile(author), retwis.ProfileWithReplies(author)
		timelines := []retwis.TimelineID{home, members, profile, all}
		since := map[retwis.TimelineID]retwis.TimelinePosition{}
		for _, id := range timelines {
			at, _, err := e.Live.CurrentPosition(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			since[id] = at
		}
		reply := func(user retwis.UserID, to retwis.PostID) retwis.PostID {
			id := storetest.Reply(t, e.Store, user, to).ID
			e.Drain()
			return id
		}
		plain := e.Post(author, "plain")
		e.Drain()
		continued, toStranger, toFriend, toReader := reply(author, plain), reply(author, ofStranger), reply(author, ofFriend), reply(author, ofReader)
		own := reply(reader, ofStranger) // on the home of its author only: nobody is on the list
		want := func(id retwis.TimelineID, newer bool, posts ...retwis.PostID) {
			t.Helper()
			page, replayed, unread := e.sees(id, since[id])
			expected := enginetest.Newest(posts)
			page = slices.DeleteFunc(page, func(p retwis.PostID) bool { return p < plain })
			if id.HasMarker() && unread < len(expected) {
				t.Errorf("%s: %d posts are unread, want at least %d", id, unread, len(expected))
			}
			if !slices.Equal(page, expected) {
				t.Errorf("%s: pages show %v, want %v", id, page, expected)
			}
			if newer && !slices.Equal(replayed, expected) {
				t.Errorf("%s: the replay has %v, want %v", id, replayed, expected)
			}
		}
		want(home, true, plain, continued, toReader, own)
		want(members, true, plain, continued, toReader)
		want(profile, true, plain, continued)
		want(all, true, plain, continued, toStranger, toFriend, toReader)

		e.Follow(reader, friend)
		if err := e.Lists.AddListMember(t.Context(), reader, list, friend); err != nil {
			t.Fatal(err)
		}
		want(home, false, plain, continued, toFriend, toReader, own)
		want(members, false, plain, continued, toFriend, toReader)
		e.Drain()
		for _, id := range []retwis.TimelineID{home, members} {
			replay, err := e.Live.EventsSince(t.Context(), since[id])
			if err != nil || replay.Position.Epoch == since[id].Epoch {
				t.Errorf("%s: the epoch did not rise: %v", id, err)
			}
		}
		e.Unfollow(reader, friend)
		if err := e.Lists.RemoveListMember(t.Context(), reader, list, friend); err != nil {
			t.Fatal(err)
		}
		want(home, false, plain, continued, toReader, own)
		want(members, false, plain, continued, toReader)
		e.Drain()
		want(home, false, plain, continued, toReader, own)

		if got := e.Read(retwis.Public()); slices.Contains(got, toStranger) || !slices.Contains(got, continued) {
			t.Errorf("the public timeline shows %v, want continuations and no replies", got)
		}
		e.IsSound()
	})
}

// The epoch rises for a reader who follows somebody without posts whose deleted posts were answered.
func TestHomeRule_ResetsAfterTheFollowOfAnAuthorWithoutPosts(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL()})
	e.Work(fanout.Options{})
	people := e.Register("reader", "author", "silent")
	e.Follow(people[0], people[1])
	post := e.Post(people[2], "hello")
	e.Drain()
	at, _, err := e.Live.CurrentPosition(t.Context(), retwis.Home(people[0]))
	if err != nil {
		t.Fatal(err)
	}
	reply := storetest.Reply(t, e.Store, people[1], post)
	if err := e.Posts.DeletePost(t.Context(), people[2], post); err != nil {
		t.Fatal(err)
	}
	e.Drain() // a reply that is delivered after the back-fill arrives as a new post
	e.Follow(people[0], people[2])
	e.Drain()
	replay, err := e.Live.EventsSince(t.Context(), at)
	if err != nil || replay.Position.Epoch == at.Epoch {
		t.Errorf("the epoch did not rise: %v", err)
	}
	if got := e.Read(retwis.Home(people[0])); !slices.Equal(got, []retwis.PostID{reply.ID}) {
		t.Errorf("home: %v, want %s", got, reply.ID)
	}
}

// A page refills past hidden entries. After 2000 of them it ends early, with a position to continue from.
func TestPage_EndsEarlyAfterManyHiddenEntries(t *testing.T) {
	t.Parallel()
	const hidden = 2100
	metrics := prometheus.NewRegistry()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), HomeCap: 1000, OutboxLimit: 1 << 20, Metrics: metrics})
	people := e.Register("reader", "author", "stranger")
	_, stop := e.Work(fanout.Options{})
	e.Follow(people[0], people[1])
	post := e.Post(people[2], "hello")
	first := e.Post(people[1], "the first")
	for range hidden {
		storetest.Reply(t, e.Store, people[1], post)
	}
	last := e.Post(people[1], "the last")
	e.Drain()
	stop()
	for _, id := range []retwis.TimelineID{retwis.Home(people[0]), retwis.Profile(people[1])} {
		page, err := e.Timelines.Page(t.Context(), id, retwis.Page{First: 2})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Edges) != 1 || page.Edges[0].Post.ID != last || !page.HasNextPage || page.ScannedTo == "" {
			t.Errorf("%s: %d posts, next %t, scanned to %q, want one post and a position to continue from",
				id, len(page.Edges), page.HasNextPage, page.ScannedTo)
		}
		rest, err := e.Timelines.Page(t.Context(), id, retwis.Page{First: 2, After: page.EndCursor()})
		if err != nil {
			t.Fatal(err)
		}
		if len(rest.Edges) != 1 || rest.Edges[0].Post.ID != first || rest.HasNextPage {
			t.Errorf("%s: the next page has %d posts, next %t, want the first post only", id, len(rest.Edges), rest.HasNextPage)
		}
		back, err := e.Timelines.Page(t.Context(), id, retwis.Page{Last: 2, Before: rest.Edges[0].Cursor})
		if err != nil {
			t.Fatal(err)
		}
		if len(back.Edges) != 0 || !back.HasPreviousPage || back.ScannedTo == "" {
			t.Errorf("%s: the page before has %d posts, previous %t, scanned to %q, want none and a position", id, len(back.Edges), back.HasPreviousPage, back.ScannedTo)
		}
	}
	// Of the pages of each timeline, the first and the last one ended early.
	if got := value(t, metrics, "retwis_page_early_ends_total", "timeline"); got != 4 {
		t.Errorf("%g pages ended early, want 4", got)
	}
}
