package fanout_test

import (
	"slices"
	"strings"
	"testing"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func TestRejectedEntry_MovesToTheDeadLetterQueueAndIsRequeued(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		worker, _ := e.Work(fanout.Options{})
		people := e.Register("author", "broken", "sound", "other")
		author, broken, sound, other := people[0], people[1], people[2], people[3]
		for _, reader := range []retwis.UserID{broken, sound} {
			e.Follow(reader, author)
		}
		e.Follow(sound, other)
		e.Drain()

		// A home of the wrong type makes the script itself fail.
		client := enginetest.Client(t, url)
		home := enginetest.Keys(t, client, "*:home:"+broken.String())[0]
		if err := client.Set(t.Context(), home, "no list", 0).Err(); err != nil {
			t.Fatal(err)
		}
		lost := e.Post(author, "lost on the way")
		passing := e.Post(other, "held up by nothing")
		e.Drain()
		if n := worker.Stats().DeadLetters; n != 1 {
			t.Errorf("%d dead letters, want 1", n)
		}
		if got := e.Read(retwis.Home(sound)); !slices.Contains(got, passing) {
			t.Errorf("another author's post did not arrive: %v", got)
		}
		letters, err := e.Outbox.DeadLetters(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(letters) != 1 || letters[0].Entry.Post != lost || !strings.Contains(letters[0].Reason, "WRONGTYPE") {
			t.Fatalf("dead letters: %+v", letters)
		}

		if err := client.Del(t.Context(), home).Err(); err != nil {
			t.Fatal(err)
		}
		later := e.Post(author, "newer than the dead letter")
		e.Drain()
		if requeued, err := e.Outbox.Requeue(t.Context(), letters[0]); err != nil || !requeued {
			t.Fatal(requeued, err)
		}
		if requeued, err := e.Outbox.Requeue(t.Context(), letters[0]); err != nil || requeued {
			t.Errorf("a dead letter was requeued twice: %v", err)
		}
		e.Drain()
		for _, reader := range []retwis.UserID{broken, sound} {
			got := slices.DeleteFunc(e.Read(retwis.Home(reader)), func(id retwis.PostID) bool { return id == passing })
			if !slices.Equal(got, []retwis.PostID{later, lost}) {
				t.Errorf("home of %s: %v, want %v", reader, got, []retwis.PostID{later, lost})
			}
		}
		if got := e.Read(retwis.Public()); len(got) != 3 || len(enginetest.Surplus(got, []retwis.PostID{lost, later, passing})) > 0 {
			t.Errorf("public timeline: %v", got)
		}
		if letters, err := e.Outbox.DeadLetters(t.Context()); err != nil || len(letters) > 0 {
			t.Errorf("dead letters after the requeue: %v, %v", letters, err)
		}
	})
}

func TestMalformedEntry_DoesNotBlockOtherEntries(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), Partitions: 1})
	people := e.Register("author", "reader")
	e.Follow(people[1], people[0])
	client := enginetest.Client(t, e.URL)
	outbox := enginetest.Keys(t, client, "*:outbox")[0]
	for _, fields := range [][]string{{"kind", "post", "author", "nobody"}, {"kind", "dance"}, {"x", "y"}} {
		if err := client.XAdd(t.Context(), xadd(outbox, fields)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	post := e.Post(people[0], "behind them")
	e.Work(fanout.Options{})
	e.Drain()
	e.everyFanHas(people[1:], []retwis.PostID{post})
	letters, err := e.Outbox.DeadLetters(t.Context())
	if err != nil || len(letters) != 3 {
		t.Errorf("dead letters: %v, %v", letters, err)
	}
}
