package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/pubsub"
	"retwis/internal/retwis"
	"retwis/internal/sleep"
)

// Bounds of one replay: a subscriber who missed more is told to refetch.
const (
	maxReplay   = 1000
	maxRemovals = 1000
)

// Now returns where a timeline stands.
func (s *Store) Now(ctx context.Context, id retwis.TimelineID) (retwis.TimelinePosition, error) {
	got, err := s.read(ctx, id, "top", 0, 0)
	if err != nil {
		return retwis.TimelinePosition{}, fmt.Errorf("position of timeline %s: %w", id, err)
	}
	return got.at, nil
}

// Since tells what happened to a timeline since a position, read in one step: at most
// 1000 arrivals and 1000 removals. When more did, or the list no longer holds the entry
// the position stands at, Found is false. A home that is not there is built first. The
// timeline of a list that was deleted, or of a user who has left, is Gone.
func (s *Store) Since(ctx context.Context, from retwis.TimelinePosition) (pubsub.Replay, error) {
	id := from.Timeline
	p := s.ofTimeline(id)
	c := call{
		s.scripts.since,
		[]string{p.entries(id), p.generations(id), p.removals(), p.large(), p.onlineNodes(), p.sources(id), p.holder(id)},
		append([]any{
			string(id.Kind), id.Owner.String(), from.Post.String(),
			fmt.Sprintf("%d-%d", from.Removal.Millis, from.Removal.Seq), maxReplay, maxRemovals, s.options.Removals,
		}, s.catchUp(id)...),
	}
	for try := 0; ; try++ {
		reply, err := s.do(ctx, c).Slice()
		if err != nil {
			return pubsub.Replay{}, fmt.Errorf("replay timeline %s: %w", id, err)
		}
		if len(reply) == 0 {
			return pubsub.Replay{Gone: true}, nil
		}
		replay, last, err := parseReplay(id, reply)
		if err != nil {
			return pubsub.Replay{}, fmt.Errorf("replay timeline %s: %w", id, err)
		}
		if !id.FannedOut() || (last != "" && last != building) || try == 3 {
			return replay, nil
		}
		if err := s.Rebuild(ctx, id); err != nil && !errors.Is(err, errOvertaken) {
			return pubsub.Replay{}, fmt.Errorf("replay timeline %s: %w", id, err)
		}
	}
}

func parseReplay(id retwis.TimelineID, reply []any) (pubsub.Replay, string, error) {
	if len(reply) != 7 {
		return pubsub.Replay{}, "", fmt.Errorf("%d fields", len(reply))
	}
	at, err := standing(id, text(reply[0]), text(reply[1]))
	if err != nil {
		return pubsub.Replay{}, "", err
	}
	if at.Post, err = postID(text(reply[2])); err != nil {
		return pubsub.Replay{}, "", err
	}
	replay := pubsub.Replay{Position: at, Found: text(reply[4]) == "1"}
	arrived, _ := reply[5].([]any)
	for _, entry := range slices.Backward(arrived) {
		post, err := retwis.ParsePostID(text(entry))
		if err != nil {
			return pubsub.Replay{}, "", err
		}
		replay.Arrived = append(replay.Arrived, post)
	}
	removed, _ := reply[6].([]any)
	for i := 0; i+2 < len(removed); i += 3 {
		removal, err := parseRemovalID(text(removed[i]))
		if err != nil {
			return pubsub.Replay{}, "", err
		}
		post, err := retwis.ParsePostID(text(removed[i+1]))
		if err != nil {
			return pubsub.Replay{}, "", err
		}
		author, err := retwis.ParseUserID(text(removed[i+2]))
		if err != nil {
			return pubsub.Replay{}, "", err
		}
		replay.Removed = append(replay.Removed, pubsub.Removal{ID: removal, Post: post, Author: author})
	}
	return replay, text(reply[3]), nil
}

// Enter notes that a node serves subscriptions of timelines, all of one partition, until
// ttl has passed. Repeat it to stay.
func (s *Store) Enter(ctx context.Context, node string, timelines []retwis.TimelineID, ttl time.Duration) error {
	return s.presence(ctx, s.scripts.enter, timelines, node, ttl.Milliseconds())
}

// Leave notes that a node no longer serves subscriptions of timelines, all of one
// partition.
func (s *Store) Leave(ctx context.Context, node string, timelines []retwis.TimelineID) error {
	return s.presence(ctx, s.scripts.leave, timelines, node)
}

func (s *Store) presence(ctx context.Context, script *redis.Script, timelines []retwis.TimelineID, args ...any) error {
	if len(timelines) == 0 {
		return nil
	}
	p := s.ofTimeline(timelines[0])
	for _, t := range timelines {
		if s.ofTimeline(t) != p {
			return fmt.Errorf("presence of %s and %s: not of one partition", timelines[0], t)
		}
		args = append(args, t.String())
	}
	if err := s.do(ctx, call{script, []string{p.online(), p.onlineNodes(), p.onlineExpiry()}, args}).Err(); err != nil {
		return fmt.Errorf("presence of %d timelines: %w", len(timelines), err)
	}
	return nil
}

// Listen calls handle, one message after the other, with what a partition tells a node,
// until ctx is done. It reconnects by itself; after each subscription, the first too,
// handle gets LiveJoined, since messages may have been lost before.
func (s *Store) Listen(ctx context.Context, node string, number int, handle func(pubsub.Message)) error {
	channel := s.partitions[number].live(node)
	return s.listen(ctx, s.replicas != nil, channel, func(payload string, joined bool) {
		if joined {
			handle(pubsub.Message{Kind: pubsub.Joined})
			return
		}
		message, err := parseMessage(payload)
		if err != nil {
			s.log.WarnContext(ctx, "a live message makes no sense", "channel", channel, "err", err)
			return
		}
		handle(message)
	})
}

// parseMessage reads what publish.lua writes.
func parseMessage(payload string) (pubsub.Message, error) {
	fields := strings.Fields(payload)
	if len(fields) == 0 || len(fields[0]) != 1 {
		return pubsub.Message{}, errors.New("no kind")
	}
	message := pubsub.Message{Kind: pubsub.Kind(fields[0][0])}
	rest := fields[1:]
	step := 1
	switch message.Kind {
	case pubsub.Pushed, pubsub.Removed:
		if len(rest) == 0 {
			return message, errors.New("no post")
		}
		var err error
		if message.Post, err = retwis.ParsePostID(rest[0]); err != nil {
			return message, err
		}
		rest = rest[1:]
		if message.Kind == pubsub.Removed {
			if len(rest) == 0 {
				return message, errors.New("no author")
			}
			if message.Author, err = retwis.ParseUserID(rest[0]); err != nil {
				return message, err
			}
			rest = rest[1:]
		}
		if message.Kind == pubsub.Pushed {
			step = 2
		}
	case pubsub.Changed, pubsub.Probe:
	default:
		return message, fmt.Errorf("kind %q", fields[0])
	}
	for i := 0; i+step <= len(rest); i += step {
		timeline, err := retwis.ParseTimelineID(rest[i])
		if err != nil {
			return message, err
		}
		to := pubsub.Recipient{Timeline: timeline}
		if step == 2 {
			if to.Before, err = postID(rest[i+1]); err != nil {
				return message, err
			}
		}
		message.Recipients = append(message.Recipients, to)
	}
	return message, nil
}

// listen subscribes to a channel and calls handle with every message, and with joined
// after every subscription, until ctx is done.
func (s *Store) listen(ctx context.Context, sharded bool, channel string, handle func(payload string, joined bool)) error {
	for {
		err := s.subscribed(ctx, sharded, channel, handle)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // being told to stop is no failure
		}
		s.log.WarnContext(ctx, "a subscription ended: subscribing again", "channel", channel, "err", err)
		_ = sleep.For(ctx, 100*time.Millisecond) // the next round sees why it broke off
	}
}

// errMoved ends a subscription whose slot has moved to another node.
var errMoved = errors.New("the server ended the subscription: the slot has moved")

// subscribed listens on one subscription for as long as it lasts. go-redis reconnects
// within it, and says so by another confirmation.
func (s *Store) subscribed(ctx context.Context, sharded bool, channel string, handle func(string, bool)) error {
	var sub *redis.PubSub
	if sharded {
		sub = s.blocking.SSubscribe(ctx, channel)
	} else {
		sub = s.blocking.Subscribe(ctx, channel)
	}
	defer func() { _ = sub.Close() }()
	messages := sub.ChannelWithSubscriptions(
		redis.WithChannelSize(1024),
		redis.WithChannelHealthCheckInterval(s.options.Timeout),
	)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case message, open := <-messages:
			if !open {
				return errors.New("the connection is closed")
			}
			switch m := message.(type) {
			case *redis.Subscription:
				switch m.Kind {
				case "subscribe", "ssubscribe":
					handle("", true)
				case "unsubscribe", "sunsubscribe":
					return errMoved
				}
			case *redis.Message:
				handle(m.Payload, false)
			}
		}
	}
}
