package store_test

import (
	"context"
	"slices"
	"testing"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// Attack: a list of 1000 members held 1000 replies that it did not show. Redis searched the packed set of members for each of them, 11
// milliseconds for a page after an entry that the list did not hold. An operation only paid for what the page returned.
func TestRead_IsChargedForTheRepliesThatItHides(t *testing.T) {
	t.Parallel()
	const replies = 300
	server := redistest.Server(t)
	client := enginetest.Client(t, server.URL())
	if err := client.ConfigSet(t.Context(), "zset-max-listpack-entries", "1024").Err(); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, store.Options{URL: server.URL()})
	owner, stranger, replier, poster := e.Register("owner")[0], e.Register("stranger")[0], e.Register("replier")[0], e.Register("poster")[0]
	_, stop := e.Work(fanout.Options{})
	defer stop()
	hides := retwis.ListPosts(e.CreateList(owner, append(e.Crowd("member", 400), replier)...))
	shows := retwis.ListPosts(e.CreateList(owner, poster))
	answered := e.Post(stranger, "x")
	var first retwis.PostID
	for i := range replies {
		e.Post(poster, "x")
		reply := retwis.NewPost{Author: replier, Text: "x", InReplyTo: answered, IdempotencyKey: e.Key()}
		created, err := e.Posts.CreatePost(t.Context(), reply)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = created.Post.ID
		}
	}
	e.Drain()
	if shown, hidden := e.Read(shows), e.Read(hides); len(shown) != replies || len(hidden) != 0 {
		t.Fatalf("the lists show %d and %d posts, want %d and none", len(shown), len(hidden), replies)
	}
	ofReply := retwis.Element{ID: first, Author: replier, Answered: stranger}
	reads := map[string]func(context.Context, retwis.TimelineID) error{
		"a page after a lost entry": func(ctx context.Context, id retwis.TimelineID) error {
			lost := retwis.TimelinePosition{Timeline: id, Element: retwis.Plain(retwis.MaxPostID)}
			_, err := e.Timelines.Page(ctx, id, retwis.Page{First: 1, After: lost.Cursor()})
			return err
		},
		"the unread posts": func(ctx context.Context, id retwis.TimelineID) error {
			_, err := e.Timelines.Unread(ctx, id, 1)
			return err
		},
		"a replay": func(ctx context.Context, id retwis.TimelineID) error {
			at, _, err := e.Live.CurrentPosition(ctx, id)
			if err != nil {
				return err
			}
			at.Element = ofReply
			if id == shows {
				at.Element = retwis.Plain(e.Read(shows)[replies-1])
			}
			_, err = e.Live.EventsSince(ctx, at)
			return err
		},
	}
	for name, read := range reads {
		microseconds := func(id retwis.TimelineID) int {
			var all []int
			for range 5 {
				all = append(all, scriptTime(t, client, func() {
					if err := read(t.Context(), id); err != nil {
						t.Fatal(err)
					}
				}))
			}
			return slices.Min(all)
		}
		work := workOf(t, func(ctx context.Context) {
			if err := read(ctx, hides); err != nil {
				t.Error(err)
			}
		})
		hiding, showing := microseconds(hides), microseconds(shows)
		t.Logf("%s takes %d us of Redis, and %d us if nothing is hidden; it is charged %d rows", name, hiding, showing, work.Rows)
		if work.Rows < 3*replies { // read, looked at, and reported as hidden
			t.Errorf("%s is charged %d rows for %d hidden replies", name, work.Rows, replies)
		}
	}
}
