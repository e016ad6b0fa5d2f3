package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// edgeSteps is how many edges one call goes over.
const edgeSteps = 500

// SourceEdges goes over those whose posts a home or a list gets, and returns the edges
// whose two directions differ.
func (s *Store) SourceEdges(ctx context.Context, id retwis.TimelineID) ([]record.Edge, error) {
	p := s.ofTimeline(id)
	before := p.followersPrefix()
	if id.Kind == retwis.ListTimeline {
		before = p.listedPrefix()
	}
	half, err := s.halfEdges(ctx, p.sources(id), id.Owner, before, "")
	if err != nil {
		return nil, fmt.Errorf("inspect whom timeline %s follows: %w", id, err)
	}
	edges := make([]record.Edge, len(half))
	for i, h := range half {
		edges[i] = record.Edge{Timeline: id, Author: h.id, Source: h.score, Audience: h.other}
	}
	return edges, nil
}

// AudienceEdges goes over the homes, or the lists, of a partition that get an author's
// posts, and returns the edges whose two directions differ.
func (s *Store) AudienceEdges(ctx context.Context, author retwis.UserID, kind retwis.TimelineKind, number int) ([]record.Edge, error) {
	p := s.partitions[number]
	before, after := p.followingPrefix(), ""
	if kind == retwis.ListTimeline {
		before, after = p.listPrefix(), listMembersSuffix
	}
	half, err := s.halfEdges(ctx, s.audienceOf(p, author, kind), author, before, after)
	if err != nil {
		return nil, fmt.Errorf("inspect the audience of %s in partition %d: %w", author, number, err)
	}
	edges := make([]record.Edge, len(half))
	for i, h := range half {
		edges[i] = record.Edge{Timeline: retwis.TimelineID{Kind: kind, Owner: h.id}, Author: author, Source: h.other, Audience: h.score}
	}
	return edges, nil
}

// audienceOf is the set of the homes, or the lists, of a partition that get an author's
// posts.
func (s *Store) audienceOf(p partition, author retwis.UserID, kind retwis.TimelineKind) string {
	if kind == retwis.ListTimeline {
		return p.listed(author)
	}
	return p.followers(author)
}

// halfEdge is a member of a set with its score, and the one it has in the other direction.
type halfEdge struct {
	id           retwis.UserID
	score, other int64
}

func (s *Store) halfEdges(ctx context.Context, set string, owner retwis.UserID, before, after string) ([]halfEdge, error) {
	var found []halfEdge
	for above := ""; ; {
		reply, err := s.do(ctx, call{
			s.scripts.halfEdges, []string{set}, []any{owner.String(), before, after, above, edgeSteps},
		}).Slice()
		if err != nil {
			return nil, err
		}
		for i := 1; i+2 < len(reply); i += 3 {
			id, err := retwis.ParseUserID(text(reply[i]))
			if err != nil {
				return nil, err
			}
			found = append(found, halfEdge{id, score(reply[i+1]), score(reply[i+2])})
		}
		if len(reply) == 0 || text(reply[0]) == "" {
			return found, nil
		}
		above = text(reply[0])
	}
}

// Edges reads both directions of the edges between a timeline and authors, in the order
// asked for.
func (s *Store) Edges(ctx context.Context, id retwis.TimelineID, authors []retwis.UserID) ([]record.Edge, error) {
	if len(authors) == 0 {
		return nil, nil
	}
	p := s.ofTimeline(id)
	pipe := s.client.TxPipeline() // all keys are of one slot
	sources := make([]*redis.FloatCmd, len(authors))
	audiences := make([]*redis.FloatCmd, len(authors))
	for i, author := range authors {
		sources[i] = pipe.ZScore(ctx, p.sources(id), author.String())
		audiences[i] = pipe.ZScore(ctx, s.audienceOf(p, author, id.Kind), id.Owner.String())
	}
	_, _ = pipe.Exec(ctx) // every result holds its own error
	edges := make([]record.Edge, len(authors))
	for i, author := range authors {
		for _, result := range []*redis.FloatCmd{sources[i], audiences[i]} {
			if err := result.Err(); err != nil && !errors.Is(err, redis.Nil) {
				return nil, fmt.Errorf("inspect whom timeline %s follows: %w", id, err)
			}
		}
		edges[i] = record.Edge{Timeline: id, Author: author, Source: int64(sources[i].Val()), Audience: int64(audiences[i].Val())}
	}
	return edges, nil
}

// MendEdge makes both directions of an edge say the same. One that is there in one
// direction only is restored: a follow that its reader can end again is better than one
// that is lost. Where there is no such author, or no such reader, both are removed. The
// timeline gets, or loses, the author's posts at once.
func (s *Store) MendEdge(ctx context.Context, id retwis.TimelineID, author retwis.UserID) error {
	p := s.ofTimeline(id)
	kind, mark := "", "h"
	if id.Kind == retwis.ListTimeline {
		kind, mark = reachOfLists, "l"
	}
	exists := "0"
	there, err := s.enterReach(ctx, author, kind, p)
	if err != nil {
		return fmt.Errorf("mend the edge of timeline %s to %s: %w", id, author, err)
	}
	if there {
		exists = "1"
	}
	reply, err := s.doDurably(ctx, call{
		s.scripts.mendEdge,
		[]string{p.generations(id), p.sources(id), s.audienceOf(p, author, id.Kind), p.clock()},
		[]any{id.Owner.String(), author.String(), exists, mark},
	})
	if err != nil {
		return fmt.Errorf("mend the edge of timeline %s to %s: %w", id, author, err)
	}
	answer, err := reply.Slice()
	if err != nil || len(answer) != 3 {
		return fmt.Errorf("mend the edge of timeline %s to %s: reply %v: %w", id, author, answer, err)
	}
	if there && id.Kind == retwis.HomeTimeline {
		if err := s.setReach(ctx, author, p, answer[1:]); err != nil {
			return err
		}
	}
	switch answer[0] {
	case "restored":
		return s.Backfill(ctx, id, author, 0)
	case "removed":
		return s.Purge(ctx, id, author)
	default:
		return nil
	}
}

// MendReach enters the partitions that hold followers of an author, or lists with the
// author on them, into the author's reach, and counts the followers in a partition again.
func (s *Store) MendReach(ctx context.Context, author retwis.UserID, kind retwis.TimelineKind, number int) error {
	p, prefix := s.partitions[number], ""
	if kind == retwis.ListTimeline {
		prefix = reachOfLists
	}
	size, err := s.client.ZCard(ctx, s.audienceOf(p, author, kind)).Result()
	if err != nil {
		return fmt.Errorf("mend the reach of %s: %w", author, err)
	}
	if size > 0 {
		if _, err := s.enterReach(ctx, author, prefix, p); err != nil {
			return fmt.Errorf("mend the reach of %s: %w", author, err)
		}
	}
	if kind == retwis.ListTimeline {
		return nil
	}
	return s.RecountFollowers(ctx, number, author)
}
