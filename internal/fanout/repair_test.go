package fanout_test

import (
	"context"
	"sync/atomic"
	"testing"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/outbox"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// repairCounter counts the steps of repairs. Each step covers one partition in this test.
type repairCounter struct {
	*store.Tasks
	steps atomic.Int64
}

func (c *repairCounter) RepairTimelines(
	ctx context.Context, author retwis.UserID, partition int, to outbox.TargetKind, after int64,
) (int64, bool, error) {
	c.steps.Add(1)
	return c.Tasks.RepairTimelines(ctx, author, partition, to, after)
}

// While repair entries of an author wait, users follow and unfollow the author. One pass over the
// followers must carry out all of the entries, without losing or duplicating a post.
func TestRepair_CoversManyImports(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		_, stop := e.Work(fanout.Options{})
		author := e.Register("author")[0]
		fans := e.fans(author, 6)
		comes := e.Register("comes")[0]
		e.Drain()
		for _, fan := range append(fans, comes) {
			e.Read(retwis.Home(fan)) // builds the home, so that later imports need a repair
		}
		stop()

		stays, goes, returns := fans[:4], fans[4], fans[5]
		const before, after = 20, 5 // imports, with a new post between them
		runs := func(from, to int) {
			for i := from; i < to; i++ {
				if _, err := e.Importer().ImportPosts(t.Context(), []retwis.PostImport{enginetest.PastPosts(author, i*4, 4, 400-4*i)}); err != nil {
					t.Fatal(err)
				}
				switch i {
				case 3:
					e.Unfollow(goes, author)
					e.Unfollow(returns, author)
				case 7:
					e.Follow(comes, author)
				case before + 2:
					e.Follow(returns, author)
				}
			}
		}
		runs(0, before)
		e.Post(author, "made here")
		runs(before, before+after)

		partitions, err := e.Follows.AuthorPartitions(t.Context(), []retwis.UserID{author})
		if err != nil {
			t.Fatal(err)
		}
		counter := &repairCounter{Tasks: e.Tasks}
		e.WorkOn(e.Outbox, counter, fanout.Options{})
		e.Drain()
		e.IsSound()
		if got, want := counter.steps.Load(), int64(2*len(partitions[0].Followers)); got != want || want == 0 {
			t.Errorf("%d repair steps, want %d", got, want)
		}
		for _, reader := range append(stays, comes, returns) {
			if home := e.Read(retwis.Home(reader)); len(home) != 4*(before+after)+1 {
				t.Errorf("a home has %d posts, want %d", len(home), 4*(before+after)+1)
			}
		}
		if home := e.Read(retwis.Home(goes)); len(home) > 0 {
			t.Errorf("the home of a user who unfollowed has %d posts", len(home))
		}
	})
}
