package bulk

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// MaxImport is the maximum number of posts of one [retwis.PostImport].
const MaxImport = 100

// ImportPosts adds past posts to the profiles of their authors, and returns the number of new posts. It imports each post
// of a source once, in order. Imported posts get creation times after the newest post of their author. A repair entry
// merges them into the homes of followers. It skips authors who do not exist. If an outbox is full, it returns
// RATE_LIMITED; repeat the call later.
func (s *Importer) ImportPosts(ctx context.Context, imports []retwis.PostImport) (added int, err error) {
	err = s.db.Durably(ctx, func() error {
		added, err = s.importPosts(ctx, imports)
		return err
	})
	return added, err
}

func (s *Importer) importPosts(ctx context.Context, imports []retwis.PostImport) (int, error) {
	calls := make([]rdb.Call, len(imports))
	for i, one := range imports {
		if len(one.Posts) > MaxImport {
			return 0, fmt.Errorf("import %d posts of %s: the maximum is %d per call", len(one.Posts), one.Author, MaxImport)
		}
		calls[i] = s.importPostsCall(one)
	}
	added := 0
	var failed error
	for i, reply := range s.doAll(ctx, calls) {
		answer, err := reply.Slice()
		if err != nil || len(answer) == 0 {
			return added, fmt.Errorf("import posts of %s: reply %v: %w", imports[i].Author, answer, err)
		}
		switch answer[0] {
		case "ok":
			n, _ := answer[1].(int64)
			added += int(n)
		case "no_user":
		case "full", "early": // "early": an earlier import of the source found a full outbox
			failed = retwis.ErrOutboxFull
		default:
			return added, fmt.Errorf("import posts of %s: reply %v", imports[i].Author, answer)
		}
	}
	return added, failed
}

func (s *Importer) importPostsCall(one retwis.PostImport) rdb.Call {
	p, o, author := s.db.OfUser(one.Author), s.options, one.Author
	c := rdb.Call{
		Script: script.ImportPosts,
		Keys: []string{
			p.User(author).Account(), p.User(author).Profile(), p.User(author).Home(), p.Outbox(), p.Clock(), p.Online(), p.OnlineNodes(),
			p.User(author).TrimmedPosts(), p.User(author).FollowerPartitions(),
		},
		Args: []any{
			author.String(), one.Source, one.From, author.PostBucket(), o.ProfileCap, o.Slack, p.Prefix(rdb.PostKeys), o.OutboxLimit, s.db.Publish,
			p.Prefix(rdb.LiveChannels),
		},
	}
	for _, post := range one.Posts {
		c.Args = append(c.Args, max(post.CreatedAt.UnixMicro(), 1000), post.Text)
	}
	return c
}

// ImportPublicTimeline inserts the newest posts of authors into the public timeline by id.
func (s *Importer) ImportPublicTimeline(ctx context.Context, authors []retwis.UserID) error {
	return s.db.Durably(ctx, func() error { return s.importPublicTimeline(ctx, authors) })
}

func (s *Importer) importPublicTimeline(ctx context.Context, authors []retwis.UserID) error {
	o := s.options
	var newest []retwis.Element
	for chunk := range slices.Chunk(authors, 100) {
		found, err := s.timelines.ReadProfiles(ctx, chunk, make([]retwis.PostID, len(chunk)), true, o.HomeCap)
		if err != nil {
			return fmt.Errorf("import the public timeline: %w", err)
		}
		newest = slices.Concat(append(found, newest)...)
		slices.SortFunc(newest, func(a, b retwis.Element) int { return cmp.Compare(b.ID, a.ID) })
		newest = newest[:min(len(newest), o.HomeCap)]
	}
	if err := s.timelines.Insert(ctx, retwis.Public(), newest); err != nil {
		return fmt.Errorf("import the public timeline: %w", err)
	}
	return nil
}

// UnbuiltHomes returns the users whose homes are missing or being built.
func (s *Importer) UnbuiltHomes(ctx context.Context, users []retwis.UserID) ([]retwis.UserID, error) {
	pipe := s.db.Client.Pipeline()
	for _, id := range users {
		pipe.LRange(ctx, s.db.OfUser(id).User(id).Home(), -1, -1)
	}
	rows, err := pipe.Exec(ctx)
	if err != nil {
		return nil, fmt.Errorf("read homes: %w", err)
	}
	var unbuilt []retwis.UserID
	for i, row := range rows {
		if last := row.(*redis.StringSliceCmd).Val(); len(last) == 0 || last[0] == rdb.ListBuilding {
			unbuilt = append(unbuilt, users[i])
		}
	}
	return unbuilt, nil
}
