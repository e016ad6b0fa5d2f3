package seed

import (
	"context"

	"retwis/internal/retwis"
)

// follows stores the follows of the members.
func (s *Seeder) follows(ctx context.Context) error {
	total := s.population.TotalFollows()
	if total == 0 {
		return nil
	}
	const edges = 10_000 // of a batch, on average
	size := max(1, edges*len(s.ids)/total)
	add, end := s.options.Progress("follows", total)
	defer end()
	return s.batches(ctx, len(s.ids), min(size, 5000), func(ctx context.Context, from, to int) error {
		var all []retwis.Followings
		count := 0
		for i := from; i < to; i++ {
			picked := s.population.Following(i)
			count += len(picked)
			if s.ids[i] == 0 {
				continue
			}
			f := retwis.Followings{Reader: s.ids[i]}
			for _, j := range picked {
				if s.ids[j] != 0 {
					f.Authors = append(f.Authors, s.ids[j])
				}
			}
			all = append(all, f)
		}
		made, err := s.store.FollowAll(ctx, all)
		s.counts.follows.Add(int64(made))
		if err == nil {
			add(count)
		}
		return err
	})
}
