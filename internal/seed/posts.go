package seed

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

// posts imports the posts into the profiles of their authors, and the newest posts into the
// public timeline. It imports them in blocks, one block after the other. A block groups its
// posts by author.
func (s *Seeder) posts(ctx context.Context) error {
	if s.population.Posts == 0 {
		return nil
	}
	const block = 50_000
	add, end := s.options.Progress("posts", s.population.Posts)
	defer end()
	before := make([]int, s.population.People) // posts of each author in the previous blocks
	for from := 0; from < s.population.Posts; from += block {
		to := min(from+block, s.population.Posts)
		byAuthor := make([][]int, s.population.People)
		for i := from; i < to; i++ {
			author := s.population.Author(i)
			byAuthor[author] = append(byAuthor[author], i)
		}
		if err := s.block(ctx, byAuthor, before, add); err != nil {
			return err
		}
		for author, posts := range byAuthor {
			before[author] += len(posts)
		}
	}
	return s.public(ctx)
}

// run is a sequence of consecutive posts of one author.
type run struct {
	author int
	from   int // number of the author's posts before the run
	posts  []int
}

const (
	runLength  = 50   // posts of one author in one script call
	batchPosts = 1000 // posts in one pipeline
)

// block imports the posts of one block, several batches concurrently.
func (s *Seeder) block(ctx context.Context, byAuthor [][]int, before []int, add func(int)) error {
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(s.options.Parallel)
	var batch []run
	size := 0
	flush := func() {
		runs := batch
		batch, size = nil, 0
		group.Go(func() error {
			if err := running.Err(); err != nil {
				return err
			}
			return s.importRuns(ctx, runs, add)
		})
	}
	for author, posts := range byAuthor {
		if running.Err() != nil {
			break
		}
		from := before[author]
		for chunk := range slices.Chunk(posts, runLength) {
			batch = append(batch, run{author, from, chunk})
			from += len(chunk)
			size += len(chunk)
		}
		if size >= batchPosts { // after all runs of an author: concurrent batches would reorder them
			flush()
		}
	}
	if size > 0 {
		flush()
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// importRuns imports a batch of runs. It waits while the outboxes are full, until the worker
// has caught up.
func (s *Seeder) importRuns(ctx context.Context, runs []run, add func(int)) error {
	source := "seed-" + strconv.FormatUint(s.population.Seed, 10)
	var imports []retwis.PostImport
	for _, r := range runs {
		one := retwis.PostImport{Author: s.ids[r.author], Source: source, From: r.from}
		for _, i := range r.posts {
			text, err := s.population.Text(i)
			if err != nil {
				return err
			}
			one.Posts = append(one.Posts, retwis.PastPost{Text: text, CreatedAt: s.options.Now.Add(-s.population.Age(i))})
		}
		if one.Author != 0 {
			imports = append(imports, one)
		}
		defer add(len(r.posts))
	}
	for {
		made, err := s.store.ImportPosts(context.WithoutCancel(ctx), imports)
		s.counts.posts.Add(int64(made))
		busy, ok := errors.AsType[*retwis.Error](err)
		if !ok || busy.Code != retwis.CodeRateLimited {
			return err
		}
		if err := sleep.For(ctx, time.Second); err != nil {
			return err
		}
	}
}

// public imports the newest posts into the public timeline.
func (s *Seeder) public(ctx context.Context) error {
	const newest = 2000
	seen := map[retwis.UserID]bool{}
	var authors []retwis.UserID
	for i := max(0, s.population.Posts-newest); i < s.population.Posts; i++ {
		if id := s.ids[s.population.Author(i)]; id != 0 && !seen[id] {
			seen[id] = true
			authors = append(authors, id)
		}
	}
	return s.store.ImportPublicTimeline(ctx, authors)
}
