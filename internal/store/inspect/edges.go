package inspect

import (
	"context"
	"errors"
	"fmt"

	"retwis/internal/record"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// edgesPerCall is the number of edges that one call scans.
const edgesPerCall = 500

// SourceEdges scans the sources of a home or a list and returns the edges whose two directions differ.
func (s *Inspector) SourceEdges(ctx context.Context, id retwis.TimelineID) ([]record.Edge, error) {
	p := s.db.OfTimeline(id)
	prefix := p.Prefix(rdb.FollowerKeys)
	if id.Kind == retwis.ListTimeline {
		prefix = p.Prefix(rdb.ListedKeys)
	}
	half, err := s.halfEdges(ctx, p.Timeline(id).Sources(), id.Owner, prefix, "")
	if err != nil {
		return nil, fmt.Errorf("inspect the sources of timeline %s: %w", id, err)
	}
	edges := make([]record.Edge, len(half))
	for i, h := range half {
		edges[i] = record.Edge{Timeline: id, Author: h.id, Source: h.score, Audience: h.other}
	}
	return edges, nil
}

// AudienceEdges returns the inconsistent edges from the homes or lists of a partition to an author.
func (s *Inspector) AudienceEdges(ctx context.Context, author retwis.UserID, kind retwis.TimelineKind, number int) ([]record.Edge, error) {
	p := s.db.Partition(number)
	prefix, suffix := p.Prefix(rdb.FollowingKeys), ""
	if kind == retwis.ListTimeline {
		prefix, suffix = p.Prefix(rdb.ListKeys), rdb.ListMembersSuffix
	}
	half, err := s.halfEdges(ctx, s.audienceOf(p, author, kind), author, prefix, suffix)
	if err != nil {
		return nil, fmt.Errorf("inspect the audience of %s in partition %d: %w", author, number, err)
	}
	edges := make([]record.Edge, len(half))
	for i, h := range half {
		edges[i] = record.Edge{Timeline: retwis.TimelineID{Kind: kind, Owner: h.id}, Author: author, Source: h.other, Audience: h.score}
	}
	return edges, nil
}

// audienceOf returns the key of the set of the homes, or the lists, of a partition that receive an author's posts.
func (s *Inspector) audienceOf(p rdb.Partition, author retwis.UserID, kind retwis.TimelineKind) string {
	if kind == retwis.ListTimeline {
		return p.User(author).Listed()
	}
	return p.User(author).Followers()
}

// halfEdge is a member of a set with its score, and its score in the other direction, 0 if it is missing.
type halfEdge struct {
	id           retwis.UserID
	score, other int64
}

func (s *Inspector) halfEdges(ctx context.Context, set string, owner retwis.UserID, prefix, suffix string) ([]halfEdge, error) {
	var found []halfEdge
	for after := ""; ; {
		reply, err := s.db.Do(ctx, rdb.Call{
			Script: script.HalfEdges, Keys: []string{set}, Args: []any{owner.String(), prefix, suffix, after, edgesPerCall},
		}).Slice()
		if err != nil {
			return nil, err
		}
		for i := 1; i+2 < len(reply); i += 3 {
			id, err := retwis.ParseUserID(rdb.Text(reply[i]))
			if err != nil {
				return nil, err
			}
			found = append(found, halfEdge{id, rdb.Score(reply[i+1]), rdb.Score(reply[i+2])})
		}
		if len(reply) == 0 || rdb.Text(reply[0]) == "" {
			return found, nil
		}
		after = rdb.Text(reply[0])
	}
}

// Edges reads both directions of the edges between a timeline and authors, in the order of the authors.
func (s *Inspector) Edges(ctx context.Context, id retwis.TimelineID, authors []retwis.UserID) ([]record.Edge, error) {
	if len(authors) == 0 {
		return nil, nil
	}
	p := s.db.OfTimeline(id)
	pipe := s.db.Client.TxPipeline() // all keys are in one slot
	sources := make([]*redis.FloatCmd, len(authors))
	audiences := make([]*redis.FloatCmd, len(authors))
	for i, author := range authors {
		sources[i] = pipe.ZScore(ctx, p.Timeline(id).Sources(), author.String())
		audiences[i] = pipe.ZScore(ctx, s.audienceOf(p, author, id.Kind), id.Owner.String())
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	edges := make([]record.Edge, len(authors))
	for i, author := range authors {
		for _, result := range []*redis.FloatCmd{sources[i], audiences[i]} {
			if err := result.Err(); err != nil && !errors.Is(err, redis.Nil) {
				return nil, fmt.Errorf("inspect the sources of timeline %s: %w", id, err)
			}
		}
		edges[i] = record.Edge{Timeline: id, Author: author, Source: int64(sources[i].Val()), Audience: int64(audiences[i].Val())}
	}
	return edges, nil
}
