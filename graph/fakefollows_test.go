package graph

import (
	"context"
	"slices"

	"retwis/internal/retwis"
)

// followsOf separates methods of the interfaces that have the same name.
type followsOf struct{ w *fakeBackend }

func (f followsOf) Follow(_ context.Context, reader, author retwis.UserID) error {
	err := f.w.begin("Follow", reader, " ", author)
	defer f.w.mu.Unlock()
	switch {
	case err != nil:
		return err
	case reader == author:
		return retwis.ErrSelfFollow
	case f.w.user(author) == nil:
		return retwis.ErrUserNotFound
	}
	for _, u := range f.w.users {
		if u.ID == author {
			u.FollowerCount++
		}
	}
	f.w.follows = append(f.w.follows, follow{reader: reader, author: author, at: newYear})
	return nil
}

func (f followsOf) FollowShowing(ctx context.Context, reader, author retwis.UserID, reposts bool) error {
	isEdge := func(e follow) bool { return e.reader == reader && e.author == author }
	err := f.w.begin("FollowShowing", reader, " ", author)
	follows := slices.ContainsFunc(f.w.follows, isEdge)
	f.w.mu.Unlock()
	if err == nil && !follows {
		err = f.Follow(ctx, reader, author)
	}
	if err != nil {
		return err
	}
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	f.w.follows[slices.IndexFunc(f.w.follows, isEdge)].hidesReposts = !reposts
	return nil
}

func (f followsOf) Unfollow(_ context.Context, reader, author retwis.UserID) error {
	err := f.w.begin("Unfollow", reader, " ", author)
	defer f.w.mu.Unlock()
	before := len(f.w.follows)
	f.w.follows = slices.DeleteFunc(f.w.follows, func(e follow) bool { return e.reader == reader && e.author == author })
	for _, u := range f.w.users {
		if u.ID == author {
			u.FollowerCount -= before - len(f.w.follows)
		}
	}
	return err
}

func (f followsOf) FollowPage(_ context.Context, of retwis.FollowConnection, page retwis.Page) (retwis.FollowPage, error) {
	err := f.w.begin("FollowPage", page.First, " ", page.Last)
	defer f.w.mu.Unlock()
	if err != nil {
		return retwis.FollowPage{}, err
	}
	all := f.w.membersOf(of)
	for _, e := range f.w.follows {
		from, to := e.author, e.reader
		if of.Kind == retwis.Following {
			from, to = to, from
		}
		if from == of.User && of.Kind != retwis.Members {
			position := retwis.FollowPosition{Connection: of, Score: e.at.UnixMicro(), User: to}
			all = append(all, retwis.Follow{Cursor: position.Cursor(), User: f.w.user(to), FollowedAt: e.at})
		}
	}
	found, more, err := cut(all, page, func(e retwis.Follow) retwis.Cursor { return e.Cursor })
	return retwis.FollowPage{Follows: found, HasNextPage: more.next, HasPreviousPage: more.previous, TotalCount: len(all)}, err
}

func (f followsOf) Follows(_ context.Context, reader retwis.UserID, authors []retwis.UserID) ([]bool, error) {
	err := f.w.begin("Follows", len(authors))
	defer f.w.mu.Unlock()
	answers := make([]bool, len(authors))
	for i, author := range authors {
		answers[i] = slices.ContainsFunc(f.w.follows, func(e follow) bool { return e.reader == reader && e.author == author })
	}
	return answers, err
}

func (f followsOf) HidesReposts(_ context.Context, reader retwis.UserID, authors []retwis.UserID) ([]bool, error) {
	err := f.w.begin("HidesReposts", len(authors))
	defer f.w.mu.Unlock()
	answers := make([]bool, len(authors))
	for i, author := range authors {
		answers[i] = slices.ContainsFunc(f.w.follows, func(e follow) bool { return e.reader == reader && e.author == author && e.hidesReposts })
	}
	return answers, err
}

func (f followsOf) FollowedBy(_ context.Context, reader retwis.UserID, others []retwis.UserID) ([]bool, error) {
	err := f.w.begin("FollowedBy", len(others))
	defer f.w.mu.Unlock()
	answers := make([]bool, len(others))
	for i, other := range others {
		answers[i] = slices.ContainsFunc(f.w.follows, func(e follow) bool { return e.reader == other && e.author == reader })
	}
	return answers, err
}
