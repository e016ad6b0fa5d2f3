package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/cost"
	"retwis/internal/pubsub"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Live serves live subscriptions: presence, messages, and the history since a position.
type Live struct {
	core
	posts     *Posts
	timelines *Timelines
	pubSub    lastSuccess
}

// PartitionOf returns the number of the partition that a timeline lives in.
func (s *Live) PartitionOf(t retwis.TimelineID) int { return s.db.OfTimeline(t).Number }

// PartitionOfPost returns the number of the partition that a post lives in, 0 if there can be no such post.
func (s *Live) PartitionOfPost(post retwis.PostID) int {
	p, _ := s.db.OfPost(post)
	return p.Number
}

// Shown returns the posts that entries show, in their order: nil for a deleted post, and for a repost that was undone. The delivery of
// a repost that lags behind its undoing arrives after the removal.
func (s *Live) Shown(ctx context.Context, entries []retwis.Element) ([]*retwis.Post, error) {
	ids := make([]retwis.PostID, len(entries), 2*len(entries))
	for i, e := range entries {
		ids[i] = e.Shown()
	}
	var reposts []int
	for i, e := range entries {
		if e.Reposted != 0 {
			ids, reposts = append(ids, e.ID), append(reposts, i)
		}
	}
	read, err := s.posts.read(ctx, ids)
	if err != nil || len(read) == 0 {
		return nil, err
	}
	posts, records := read[:len(entries)], read[len(entries):]
	for n, i := range reposts {
		if records[n] == nil {
			posts[i] = nil
		}
	}
	return posts, nil
}

// Partitions returns the number of partitions.
func (s *Live) Partitions() int { return len(s.db.Partitions()) }

// Newest returns the posts that the newest entries of a timeline show, newest first. Some may be deleted.
func (s *Live) Newest(ctx context.Context, id retwis.TimelineID, count int) ([]retwis.PostID, error) {
	got, err := s.timelines.readList(ctx, id, listRequest{mode: "top", count: count})
	if err != nil {
		return nil, fmt.Errorf("read the newest posts of timeline %s: %w", id, err)
	}
	posts := make([]retwis.PostID, len(got.entries))
	for i, e := range got.entries {
		posts[i] = e.Shown()
	}
	return posts, nil
}

// Bounds of one replay, in entries and in changes. A position that is further behind than the long one is unrecoverable.
const (
	shortReplay = 100
	longReplay  = 1000
)

// CurrentPosition returns the current position of a timeline, and its marker, which is zero if it was never marked.
func (s *Live) CurrentPosition(ctx context.Context, id retwis.TimelineID) (at retwis.TimelinePosition, marker retwis.Element, err error) {
	got, err := s.timelines.readList(ctx, id, listRequest{mode: "top", marker: true})
	if err != nil {
		return at, marker, fmt.Errorf("read the position of timeline %s: %w", id, err)
	}
	return got.at, got.above.marker, nil
}

// EventsSince returns the history of a timeline since a position, read atomically. Found is false if there are more than
// 1000 arrivals or 1000 changes, if changes since the position have expired, or if the list no longer holds the post of
// the position. A missing home or list is rebuilt first. If the list or the user was deleted, Gone is true.
//
// A long replay takes Redis milliseconds, so that few are read at a time. Most are short, which the first attempt finds out.
func (s *Live) EventsSince(ctx context.Context, from retwis.TimelinePosition) (pubsub.Replay, error) {
	id := from.Timeline
	p := s.db.OfTimeline(id)
	call := func(most int) rdb.Call {
		return rdb.Call{
			Script: script.EventsSince,
			Keys: []string{
				p.Timeline(id).Entries(), p.Timeline(id).Epoch(), p.Changes(), p.LargeAuthors(), p.OnlineNodes(),
				p.Timeline(id).Sources(), p.Timeline(id).Owner(), p.Timeline(id).HiddenReposters(),
			},
			Args: append([]any{
				string(id.Kind), id.Owner.String(), from.Element.String(), from.Change.String(), most, most,
				s.options.Changes, p.Timeline(id).Marker(), joinIDs(from.OlderEntries()),
			}, s.timelines.pullArgs(id)...),
		}
	}
	most := shortReplay
	for try := 0; ; try++ {
		reply, err := s.db.Do(ctx, call(most)).Slice()
		if err != nil {
			return pubsub.Replay{}, fmt.Errorf("replay timeline %s: %w", id, err)
		}
		if len(reply) == 0 {
			return pubsub.Replay{Gone: true}, nil
		}
		replay, last, err := s.parseReplay(ctx, id, reply)
		if err != nil {
			return pubsub.Replay{}, fmt.Errorf("replay timeline %s: %w", id, err)
		}
		if !id.FannedOut() || (last != "" && last != rdb.ListBuilding) || try >= 3 {
			if replay.Found || replay.Reordered || replay.Position.Epoch != from.Epoch || most == longReplay {
				return replay, nil
			}
			most, ctx = longReplay, cost.Long(ctx)
			continue
		}
		if err := s.timelines.Rebuild(ctx, id); err != nil && !errors.Is(err, errConcurrentChange) {
			return pubsub.Replay{}, fmt.Errorf("replay timeline %s: %w", id, err)
		}
	}
}

// comparedRows is the number of rows after which a comparison of timelines stops: they take Redis one millisecond.
const comparedRows = 2000

// Compare compares timelines of one partition with what their subscribers have received, which costs a fraction of a replay of each.
// It compares as many as a script can without delaying others.
func (s *Live) Compare(ctx context.Context, watched []pubsub.Watched) (pubsub.Comparison, error) {
	if len(watched) == 0 {
		return pubsub.Comparison{}, nil
	}
	p := s.db.OfTimeline(watched[0].At.Timeline)
	oldest := watched[0].At.Change
	keys, args := []string{p.Changes(), p.LargeAuthors()}, []any{"", longReplay, comparedRows}
	for _, w := range watched {
		id, marker := w.At.Timeline, ""
		if s.db.OfTimeline(id) != p {
			return pubsub.Comparison{}, fmt.Errorf("compare %s and %s: they are in different partitions", watched[0].At.Timeline, id)
		}
		if w.At.Change.Before(oldest) {
			oldest = w.At.Change
		}
		if w.Marker != (retwis.Element{}) {
			marker = w.Marker.String()
		}
		t := p.Timeline(id)
		keys = append(keys, t.Entries(), t.Epoch(), t.Sources(), t.Owner())
		args = append(args, string(id.Kind), id.Owner.String(), w.At.Epoch, w.At.Element.String(), joinIDs(w.At.OlderEntries()),
			w.At.Change.String(), t.Marker(), marker)
	}
	args[0] = oldest.String()
	reply, err := s.db.Do(ctx, rdb.Call{Script: script.CompareTimelines, Keys: keys, Args: args}).Slice()
	if err == nil && (len(reply) < 3 || len(reply) > len(watched)+2) {
		err = fmt.Errorf("%d fields", len(reply))
	}
	var compared pubsub.Comparison
	if err == nil {
		compared.Change, err = rdb.ChangeID(rdb.Text(reply[0]))
	}
	if err != nil {
		return pubsub.Comparison{}, fmt.Errorf("compare %d timelines: %w", len(watched), err)
	}
	for _, verdict := range reply[1 : len(reply)-1] {
		switch v := pubsub.Verdict(rdb.Text(verdict)); v {
		case pubsub.Same, pubsub.Different, pubsub.Behind:
			compared.Verdicts = append(compared.Verdicts, v)
		default:
			return pubsub.Comparison{}, fmt.Errorf("compare %d timelines: verdict %v", len(watched), verdict)
		}
	}
	return compared, nil
}

func (s *Live) parseReplay(ctx context.Context, id retwis.TimelineID, reply []any) (pubsub.Replay, string, error) {
	if len(reply) != 12 {
		return pubsub.Replay{}, "", fmt.Errorf("%d fields", len(reply))
	}
	at, err := parsePosition(id, rdb.Text(reply[0]), rdb.Text(reply[1]))
	if err != nil {
		return pubsub.Replay{}, "", err
	}
	if at.Element, err = rdb.Element(rdb.Text(reply[2])); err != nil {
		return pubsub.Replay{}, "", err
	}
	replay := pubsub.Replay{
		Position: at, Found: rdb.Text(reply[4]) == "1", Reordered: rdb.Text(reply[4]) == "reordered", FilterEpoch: rdb.Number(reply[10]),
	}
	arrived, err := rdb.Elements(reply[5])
	if err != nil {
		return pubsub.Replay{}, "", err
	}
	replay.Arrived = make([]pubsub.Arrival, len(arrived))
	for i, e := range arrived {
		replay.Arrived[i].Element = e
	}
	for _, i := range rdb.Indexes(reply[8], len(arrived)) {
		replay.Arrived[i].Hidden = true
	}
	same, err := parseSamePosts(reply[9])
	if err != nil {
		return pubsub.Replay{}, "", err
	}
	if err := s.hideRepeats(ctx, replay.Arrived, same); err != nil {
		return pubsub.Replay{}, "", err
	}
	slices.Reverse(replay.Arrived)
	if replay.Marker, err = parseMarker(rdb.Text(reply[7])); err != nil {
		return pubsub.Replay{}, "", err
	}
	removed, _ := reply[6].([]any)
	for i := 0; i+2 < len(removed); i += 3 {
		change, err := rdb.ChangeID(rdb.Text(removed[i]))
		if err != nil {
			return pubsub.Replay{}, "", err
		}
		post, err := retwis.ParsePostID(rdb.Text(removed[i+1]))
		if err != nil {
			return pubsub.Replay{}, "", err
		}
		author, err := retwis.ParseUserID(rdb.Text(removed[i+2]))
		if err != nil {
			return pubsub.Replay{}, "", err
		}
		replay.Removed = append(replay.Removed, pubsub.Removal{ID: change, Post: post, Author: author})
	}
	return replay, rdb.Text(reply[3]), nil
}

// FilterEpochs returns the filter epochs of users, in their order.
func (s *Live) FilterEpochs(ctx context.Context, users []retwis.UserID) ([]int64, error) {
	pipe := s.db.Client.Pipeline()
	reads := make([]*redis.SliceCmd, len(users))
	for i, user := range users {
		reads[i] = pipe.HMGet(ctx, s.db.OfUser(user).User(user).Account(), "filter_epoch")
	}
	_, _ = pipe.Exec(ctx) // every read holds its own error
	epochs := make([]int64, len(users))
	for i, read := range reads {
		fields, err := read.Result()
		if err != nil {
			return nil, fmt.Errorf("read the filter epochs of %d users: %w", len(users), err)
		}
		epochs[i] = rdb.Number(fields[0])
	}
	return epochs, nil
}

// SetOnline records for ttl that a node serves subscriptions of timelines, all of one partition. Call it again before ttl
// expires. It returns the timelines that were not recorded before: the node received no messages about them.
func (s *Live) SetOnline(ctx context.Context, node string, timelines []retwis.TimelineID, ttl time.Duration) ([]retwis.TimelineID, error) {
	reply, err := s.presence(ctx, script.SetOnline, timelines, node, ttl.Milliseconds())
	if err != nil || reply == nil {
		return nil, err
	}
	positions, err := reply.Int64Slice()
	if err != nil {
		return nil, fmt.Errorf("set the presence of %d timelines: %w", len(timelines), err)
	}
	absent := make([]retwis.TimelineID, len(positions))
	for i, at := range positions {
		if at < 1 || at > int64(len(timelines)) {
			return nil, fmt.Errorf("set the presence of %d timelines: reply %v", len(timelines), positions)
		}
		absent[i] = timelines[at-1]
	}
	return absent, nil
}

// SetOffline records that a node no longer serves subscriptions of timelines, all of one partition.
func (s *Live) SetOffline(ctx context.Context, node string, timelines []retwis.TimelineID) error {
	_, err := s.presence(ctx, script.SetOffline, timelines, node)
	return err
}

func (s *Live) presence(ctx context.Context, name script.Name, timelines []retwis.TimelineID, args ...any) (*redis.Cmd, error) {
	if len(timelines) == 0 {
		return nil, nil
	}
	p := s.db.OfTimeline(timelines[0])
	for _, t := range timelines {
		if s.db.OfTimeline(t) != p {
			return nil, fmt.Errorf("set the presence of %s and %s: they are in different partitions", timelines[0], t)
		}
		args = append(args, t.String())
	}
	reply := s.db.Do(ctx, rdb.Call{Script: name, Keys: []string{p.Online(), p.OnlineNodes(), p.OnlineExpiry()}, Args: args})
	if err := reply.Err(); err != nil {
		return nil, fmt.Errorf("set the presence of %d timelines: %w", len(timelines), err)
	}
	return reply, nil
}

// Listen calls handle for each message of a partition to a node, one after the other, until ctx is done. It reconnects
// after failures. After each subscription, including the first, handle receives [pubsub.Joined], because messages
// may have been lost before.
func (s *Live) Listen(ctx context.Context, node string, number int, handle func(pubsub.Message)) error {
	channel := s.db.Partition(number).Live(node)
	return s.db.Listen(ctx, s.db.Sharded(), channel, func(payload string, joined bool) {
		if joined {
			handle(pubsub.Message{Kind: pubsub.Joined})
			return
		}
		message, err := parseMessage(payload)
		if err != nil {
			s.log.WarnContext(ctx, "ignoring a malformed live message", "channel", channel, "err", err)
			return
		}
		handle(message)
	})
}

// parseMessage parses a message of lib/publish.lua.
func parseMessage(payload string) (pubsub.Message, error) {
	fields := strings.Fields(payload)
	if len(fields) == 0 || len(fields[0]) != 1 {
		return pubsub.Message{}, errors.New("no kind")
	}
	message := pubsub.Message{Kind: pubsub.Kind(fields[0][0])}
	rest := fields[1:]
	step := 1
	switch message.Kind {
	case pubsub.Pushed, pubsub.Hidden, pubsub.Marked:
		if len(rest) == 0 {
			return message, errors.New("no element")
		}
		var err error
		if message.Element, err = retwis.ParseElement(rest[0]); err != nil {
			return message, err
		}
		rest = rest[1:]
		if message.Kind != pubsub.Marked {
			step = 2
		}
	case pubsub.Removed:
		if len(rest) < 2 {
			return message, errors.New("no post and author")
		}
		var err error
		if message.Post, err = retwis.ParsePostID(rest[0]); err != nil {
			return message, err
		}
		if message.Author, err = retwis.ParseUserID(rest[1]); err != nil {
			return message, err
		}
		rest = rest[2:]
	case pubsub.Counted:
		if len(rest) == 0 {
			return message, errors.New("no post")
		}
		var err error
		message.Post, err = retwis.ParsePostID(rest[0])
		return message, err
	case pubsub.Changed, pubsub.Probe:
	default:
		return message, fmt.Errorf("kind %q", fields[0])
	}
	message.Pulled = len(rest)%step != 0 // a word follows the recipient: see lib/pull.lua
	for i := 0; i+step <= len(rest); i += step {
		timeline, err := retwis.ParseTimelineID(rest[i])
		if err != nil {
			return message, err
		}
		to := pubsub.Recipient{Timeline: timeline}
		if step == 2 {
			before, err := rdb.Element(rest[i+1])
			if err != nil {
				return message, err
			}
			to.Before = before.ID
		}
		message.Recipients = append(message.Recipients, to)
	}
	return message, nil
}

// Probe publishes a message to a node on the channel of a partition, over a separate connection. If the probe does not
// arrive, the listening connection is dead.
func (s *Live) Probe(ctx context.Context, node string, number int) error {
	channel := s.db.Partition(number).Live(node)
	if err := s.db.Client.Do(ctx, s.db.Publish, channel, "?").Err(); err != nil {
		return fmt.Errorf("probe channel %s: %w", channel, err)
	}
	return nil
}

// pubSubAge is how long [Live.CheckPubSub] caches a success.
const pubSubAge = 10 * time.Second

// lastSuccess is the time of the last successful check.
type lastSuccess struct {
	mu sync.Mutex
	at time.Time
}

// CheckPubSub returns an error if no master delivers a published message. It caches a success for some seconds.
func (s *Live) CheckPubSub(ctx context.Context) error {
	s.pubSub.mu.Lock()
	defer s.pubSub.mu.Unlock()
	if time.Since(s.pubSub.at) < pubSubAge {
		return nil
	}
	masters, err := s.db.ByMaster(ctx, s.db.Numbers())
	if err != nil {
		return err
	}
	results := make(chan error, len(masters))
	for _, numbers := range masters {
		go func() {
			_, err := s.db.PubSubRoundTrip(ctx, s.db.Partition(numbers[0]).Tag+":probe:"+rand.Text())
			results <- err
		}()
	}
	for range masters {
		if e := <-results; e != nil {
			err = e
			continue
		}
		s.pubSub.at = time.Now()
		return nil
	}
	return err
}
