package inspect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"retwis/internal/record"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// edgesPerCall is the number of edges that one call scans.
const edgesPerCall = 500

// SourceEdges scans the sources of homes and lists. It returns the edges whose two directions differ, and the authors of the
// other edges of homes.
func (s *Inspector) SourceEdges(ctx context.Context, ids []retwis.TimelineID) ([]record.Edge, []retwis.UserID, error) {
	scans := make([]*edgeScan, len(ids))
	for i, id := range ids {
		p := s.db.OfTimeline(id)
		prefix := p.Prefix(rdb.FollowerKeys)
		if id.Kind == retwis.ListTimeline {
			prefix = p.Prefix(rdb.ListedKeys)
		}
		scans[i] = &edgeScan{set: p.Timeline(id).Sources(), owner: id.Owner, prefix: prefix}
	}
	if err := s.scanEdges(ctx, scans); err != nil {
		return nil, nil, fmt.Errorf("inspect the sources of timelines: %w", err)
	}
	var edges []record.Edge
	var followed []retwis.UserID
	for i, scan := range scans {
		for _, h := range scan.half {
			author, err := retwis.ParseUserID(h.member)
			if err != nil {
				return nil, nil, fmt.Errorf("inspect the sources of timelines: %w", err)
			}
			edges = append(edges, record.Edge{Timeline: ids[i], Author: author, Source: h.score, Audience: h.other})
		}
		if ids[i].Kind == retwis.HomeTimeline {
			authors, err := rdb.UserMembers(scan.agree)
			if err != nil {
				return nil, nil, fmt.Errorf("inspect the sources of timelines: %w", err)
			}
			followed = append(followed, authors...)
		}
	}
	return edges, followed, nil
}

// AudienceEdges returns the inconsistent edges from the homes or lists of partitions to an author.
func (s *Inspector) AudienceEdges(ctx context.Context, author retwis.UserID, kind retwis.TimelineKind, partitions []int) ([]record.Edge, error) {
	scans := make([]*edgeScan, len(partitions))
	for i, number := range partitions {
		p := s.db.Partition(number)
		prefix, suffix := p.Prefix(rdb.FollowingKeys), ""
		if kind == retwis.ListTimeline {
			prefix, suffix = p.Prefix(rdb.ListKeys), rdb.ListMembersSuffix
		}
		scans[i] = &edgeScan{set: s.audienceOf(p, author, kind), owner: author, prefix: prefix, suffix: suffix}
	}
	if err := s.scanEdges(ctx, scans); err != nil {
		return nil, fmt.Errorf("inspect the audience of %s: %w", author, err)
	}
	var edges []record.Edge
	for _, scan := range scans {
		for _, h := range scan.half {
			owner, err := retwis.ParseUserID(h.member)
			if err != nil {
				return nil, fmt.Errorf("inspect the audience of %s: %w", author, err)
			}
			edges = append(edges, record.Edge{Timeline: retwis.TimelineID{Kind: kind, Owner: owner}, Author: author, Source: h.other, Audience: h.score})
		}
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
	member       string
	score, other int64
}

// edgeScan is a scan of the edges of a set, whose other direction is in the sets named by a prefix and a suffix.
type edgeScan struct {
	set            string
	owner          fmt.Stringer
	prefix, suffix string

	after string   // the score of the last edge scanned
	agree []string // the members of the other edges
	half  []halfEdge
}

// scanEdges runs scans to their ends, each by [edgesPerCall] edges at a time.
func (s *Inspector) scanEdges(ctx context.Context, scans []*edgeScan) error {
	for len(scans) > 0 {
		calls := make([]rdb.Call, len(scans))
		for i, scan := range scans {
			calls[i] = rdb.Call{
				Script: script.HalfEdges, Keys: []string{scan.set}, Args: []any{scan.owner.String(), scan.prefix, scan.suffix, scan.after, edgesPerCall},
			}
		}
		var left []*edgeScan
		for i, reply := range s.db.DoAll(ctx, calls) {
			more, err := scans[i].add(reply.Slice())
			if err != nil {
				return err
			}
			if more {
				left = append(left, scans[i])
			}
		}
		scans = left
	}
	return nil
}

// add adds the reply to a call. It reports whether there are more edges.
func (scan *edgeScan) add(reply []any, err error) (more bool, _ error) {
	if err != nil {
		return false, err
	}
	if len(reply) < 2 {
		return false, fmt.Errorf("%d fields", len(reply))
	}
	scan.agree = append(scan.agree, strings.Fields(rdb.Text(reply[1]))...)
	for i := 2; i+2 < len(reply); i += 3 {
		scan.half = append(scan.half, halfEdge{rdb.Text(reply[i]), rdb.Score(reply[i+1]), rdb.Score(reply[i+2])})
	}
	scan.after = rdb.Text(reply[0])
	return scan.after != "", nil
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
