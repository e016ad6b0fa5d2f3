package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
)

// A reader walks over the pages of a home while the authors on it change. Its entries arrived out of the order of
// their ids, as they do while fan-out lags.
func TestWalk_ShowsEachPostOnceWhileOthersChangeTheTimeline(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, HomeCap: 2000}) // no walk meets an end that moves: see docs/api.md
		e.Work(fanout.Options{})
		r := redistest.Rand(t)
		for round := range redistest.Size(1, 10) { // new people each, since every walk adds to what a home has
			people := e.Crowd(fmt.Sprint("user", round, "_"), 9)
			w := &walkModel{
				e: e, r: r, reader: people[0], client: enginetest.Client(t, url),
				posts: map[retwis.UserID][]retwis.PostID{}, author: map[retwis.PostID]retwis.UserID{},
			}
			for range 10 {
				for _, author := range people[1:] {
					w.post(author)
				}
			}
			for range redistest.Size(10, 30) {
				w.begin(people[1:7], people[7:])
				w.walk(r.IntN(2) == 0)
			}
		}
	})
}

// walkModel is the expected content of a home during a walk.
type walkModel struct {
	e      *engine
	r      *rand.Rand
	reader retwis.UserID
	client redis.UniversalClient

	posts  map[retwis.UserID][]retwis.PostID // undeleted, newest first
	author map[retwis.PostID]retwis.UserID

	followed, others []retwis.UserID // authors who were followed, or not, when the walk began and since
	present          map[retwis.PostID]bool
}

func (w *walkModel) post(author retwis.UserID) {
	post := w.e.Post(author, "x")
	w.posts[author], w.author[post] = slices.Insert(w.posts[author], 0, post), author
}

// begin follows some authors and no others, and reorders the home.
func (w *walkModel) begin(followed, others []retwis.UserID) {
	w.followed, w.others = slices.Clone(followed), slices.Clone(others)
	for _, author := range w.others {
		w.e.Unfollow(w.reader, author)
	}
	for _, author := range w.followed {
		w.e.Follow(w.reader, author)
	}
	w.e.Drain()
	w.e.Read(retwis.Home(w.reader)) // builds a missing list
	w.reorder()
	w.present = map[retwis.PostID]bool{}
	for _, author := range w.followed {
		for _, post := range w.posts[author] {
			w.present[post] = true
		}
	}
}

// reorder replaces the list of the home by another order of arrival: that of each author remains, and no author has
// more than three adjacent entries.
func (w *walkModel) reorder() {
	t := w.e.T
	queues := map[retwis.UserID][]retwis.PostID{}
	for _, author := range w.followed {
		queues[author] = w.posts[author]
	}
	entries, run := []any{}, 0
	var last retwis.UserID
	for len(queues) > 0 {
		var choices []retwis.UserID
		for author := range queues {
			if author != last || run < retwis.CursorReserve {
				choices = append(choices, author)
			}
		}
		if len(choices) == 0 {
			break // the rest are the oldest posts of one author
		}
		slices.Sort(choices)
		author := choices[w.r.IntN(len(choices))]
		if author != last {
			last, run = author, 0
		}
		run++
		entries = append(entries, queues[author][0].String())
		if queues[author] = queues[author][1:]; len(queues[author]) == 0 {
			delete(queues, author)
		}
	}
	for author, rest := range queues {
		for _, post := range rest {
			entries = append(entries, post.String())
		}
		w.followed = slices.DeleteFunc(w.followed, func(a retwis.UserID) bool { return a == author }) // stays followed
	}
	key := w.home()
	if err := w.client.Del(t.Context(), key).Err(); err != nil {
		t.Fatal(err)
	}
	if err := w.client.RPush(t.Context(), key, append(entries, rdb.ListComplete)...).Err(); err != nil {
		t.Fatal(err)
	}
}

// walk reads all pages in one direction, and changes the timeline between them.
func (w *walkModel) walk(older bool) {
	t := w.e.T
	seen := map[retwis.PostID]int{}
	var from retwis.Cursor
	for more := true; more; {
		page := retwis.Page{First: 1 + w.r.IntN(5), After: from}
		if !older {
			page = retwis.Page{Last: 1 + w.r.IntN(5), Before: from}
		}
		got, err := w.e.Timelines.Page(t.Context(), retwis.Home(w.reader), page)
		if err != nil {
			t.Fatal(err)
		}
		for _, edge := range got.Edges {
			seen[edge.Post.ID]++
		}
		if n := len(got.Edges); n > 0 && older {
			from = got.Edges[n-1].Cursor
		} else if n > 0 {
			from = got.Edges[0].Cursor
		}
		more = got.HasNextPage
		if !older {
			more = got.HasPreviousPage
		}
		if more {
			w.change(from)
		}
	}
	for post, times := range seen {
		if times > 1 {
			t.Errorf("towards older %t: post %s of %s is shown %d times", older, post, w.author[post], times)
		}
	}
	for post := range w.present {
		if seen[post] == 0 {
			t.Errorf("towards older %t: post %s of %s is not shown", older, post, w.author[post])
		}
	}
}

// change follows or unfollows an author, posts, or deletes a post. Each author is followed or unfollowed at most once
// during a walk: a post that is removed and added again may be shown twice.
func (w *walkModel) change(from retwis.Cursor) {
	switch i := w.r.IntN(12); {
	case i < 2 && len(w.followed) > 2:
		author := w.pick(&w.followed)
		if w.losesAllPlaces(from, author) {
			return // the walk would go on by id, which the order of arrival is not
		}
		w.e.Unfollow(w.reader, author)
		for _, post := range w.posts[author] {
			delete(w.present, post)
		}
		w.e.Drain() // the posts of two authors at once may be four adjacent entries
	case i < 3 && len(w.others) > 0:
		w.e.Follow(w.reader, w.pick(&w.others))
	case i < 6 && len(w.followed) > 0:
		w.post(w.followed[w.r.IntN(len(w.followed))])
	case i < 7 && len(w.followed) > 0:
		author := w.followed[w.r.IntN(len(w.followed))]
		posts := w.posts[author]
		if len(posts) < 5 {
			return
		}
		n := w.r.IntN(len(posts))
		if err := w.e.Posts.DeletePost(w.e.T.Context(), author, posts[n]); err != nil {
			w.e.T.Fatal(err)
		}
		delete(w.present, posts[n])
		w.posts[author] = slices.Delete(posts, n, n+1)
	}
	if w.r.IntN(3) > 0 {
		w.e.Drain()
	}
}

// losesAllPlaces reports whether every entry that a cursor names is of an author.
func (w *walkModel) losesAllPlaces(cursor retwis.Cursor, author retwis.UserID) bool {
	at, err := cursor.TimelinePosition(retwis.Home(w.reader))
	if err != nil {
		w.e.T.Fatal(err)
	}
	return w.author[at.Element.ID] == author && !slices.ContainsFunc(at.Older[:], func(e retwis.Element) bool {
		return e.ID != 0 && w.author[e.ID] != author
	})
}

// home returns the key of the list of the home.
func (w *walkModel) home() string {
	return enginetest.Keys(w.e.T, w.client, "*:home:"+w.reader.String())[0]
}

// pick removes a random user.
func (w *walkModel) pick(users *[]retwis.UserID) retwis.UserID {
	i := w.r.IntN(len(*users))
	user := (*users)[i]
	*users = slices.Delete(*users, i, i+1)
	return user
}
