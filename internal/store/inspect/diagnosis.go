package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"retwis/internal/store"
	"retwis/internal/store/rdb"

	"github.com/redis/go-redis/v9"
)

// Verdict is what is to be done about a finding.
type Verdict string

// The verdicts.
const (
	OK      Verdict = "ok"
	Warning Verdict = "warning" // it works, and could work better or more safely
	Problem Verdict = "problem" // it does not work, or will lose data
)

// Finding is one thing that a diagnosis looked at.
type Finding struct {
	Subject string  `json:"subject"`
	Node    string  `json:"node,omitempty"` // of the Redis it is about, where there are several
	Verdict Verdict `json:"verdict"`
	Message string  `json:"message"`
	Fix     string  `json:"fix,omitempty"` // what to do about it
}

// Diagnose looks at a Redis, and at the database in it, if there is one. It changes
// nothing. The error is that it cannot be reached or used at all.
func Diagnose(ctx context.Context, options store.Options) ([]Finding, error) {
	opened, err := store.Connect(ctx, options)
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }()
	s := &diagnosis{db: opened.DB(), options: opened.Options(), outbox: opened.Outbox}

	var found []Finding
	nodes, err := s.inspectNodes(ctx)
	if err != nil {
		return nil, err
	}
	for _, v := range nodes {
		node := v.check()
		if len(nodes) > 1 {
			for i := range node {
				node[i].Node = v.addr
			}
		}
		found = append(found, node...)
	}
	if cluster, ok := s.db.Client.(*redis.ClusterClient); ok {
		found = append(found, inspectShards(ctx, cluster)...)
		found = append(found, checkClocks(nodes)...)
	}
	found = append(found, s.inspectPubSub(ctx))
	return append(found, s.inspectDatabase(ctx)...), nil
}

// diagnosis is a Redis that is looked at.
type diagnosis struct {
	db      *rdb.DB
	options store.Options
	outbox  *store.Outbox
}

// inspectNodes looks at every node, masters first.
func (s *diagnosis) inspectNodes(ctx context.Context) ([]nodeState, error) {
	cluster, ok := s.db.Client.(*redis.ClusterClient)
	if !ok {
		v, err := inspectNode(ctx, s.db.Client.(*redis.Client))
		return []nodeState{v}, err
	}
	var mu sync.Mutex
	var all []nodeState
	err := cluster.ForEachShard(ctx, func(ctx context.Context, node *redis.Client) error {
		v, err := inspectNode(ctx, node)
		if err != nil {
			v = nodeState{addr: node.Options().Addr, err: err}
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, v)
		return nil // one that fails is a finding
	})
	slices.SortFunc(all, func(a, b nodeState) int {
		switch {
		case a.isReplica() == b.isReplica():
			return strings.Compare(a.addr, b.addr)
		case b.isReplica():
			return -1
		default:
			return 1
		}
	})
	return all, err
}

// Exchanges that measure the way to a node.
const (
	pings    = 51
	pingTime = 5 * time.Second
)

func inspectNode(ctx context.Context, node *redis.Client) (nodeState, error) {
	v := nodeState{addr: node.Options().Addr, config: map[string]string{}}
	info, err := node.Info(ctx).Result()
	if err != nil {
		return v, fmt.Errorf("ask %s about itself: %w", v.addr, err)
	}
	v.info = info
	if v.field("cluster_enabled") == "1" {
		if v.cluster, err = node.ClusterInfo(ctx).Result(); err != nil {
			return v, fmt.Errorf("ask %s about its cluster: %w", v.addr, err)
		}
	}
	for _, name := range []string{"appendonly", "appendfsync", "save", "zset-max-listpack-entries", "maxclients", "cluster-require-full-coverage"} {
		value, err := node.ConfigGet(ctx, name).Result()
		if err != nil {
			v.configError = err
			break
		}
		v.config[name] = value[name]
	}
	if err := node.Eval(ctx, "return 1", nil).Err(); err != nil && !v.isReplica() {
		v.scriptError = err
	}
	pinging, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	for range pings {
		start := time.Now()
		if err := node.Ping(pinging).Err(); err != nil {
			return v, fmt.Errorf("ping %s: %w", v.addr, err)
		}
		v.pings = append(v.pings, time.Since(start))
	}
	slices.Sort(v.pings)
	start := time.Now()
	there, err := node.Time(ctx).Result()
	if err != nil {
		return v, fmt.Errorf("ask %s for the time: %w", v.addr, err)
	}
	here := time.Now()
	v.skew = there.Sub(start.Add(here.Sub(start) / 2))
	return v, nil
}

// inspectPubSub sends a message to itself: on a cluster by the node of each partition.
func (s *diagnosis) inspectPubSub(ctx context.Context) Finding {
	f := Finding{Subject: "pub/sub", Verdict: OK}
	channels := []string{"retwis:doctor"}
	if s.db.Sharded() {
		channels = channels[:0]
		for _, p := range rdb.NewPartitions(16) {
			channels = append(channels, p.Tag+":doctor")
		}
	}
	var slowest time.Duration
	for _, channel := range channels {
		ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
		took, err := s.db.PubSubRoundTrip(ctx, channel)
		cancel()
		if err != nil {
			f.Verdict, f.Message = Problem, err.Error()
			f.Fix = "let the service subscribe and publish: see the channel permissions of its user (ACL &*), and proxies between"
			return f
		}
		slowest = max(slowest, took)
	}
	f.Message = fmt.Sprintf("a message that is published comes back within %s", slowest.Round(10*time.Microsecond))
	if slowest > slowRoundTrip {
		f.Verdict, f.Fix = Warning, "live events come late by as much: put the service closer to Redis, or see what keeps it busy"
	}
	return f
}

// inspectDatabase looks at what the service has stored.
func (s *diagnosis) inspectDatabase(ctx context.Context) []Finding {
	meta, err := s.db.Client.HGetAll(ctx, rdb.MetaKey).Result()
	if err != nil {
		mend := "let the service read its keys: see the permissions of its user (ACL ~*)"
		if redis.HasErrorPrefix(err, "CLUSTERDOWN") {
			mend = "mend the cluster, as said above"
		}
		return []Finding{{Subject: "database", Verdict: Problem, Message: err.Error(), Fix: mend}}
	}
	if len(meta) == 0 {
		return []Finding{{Subject: "database", Verdict: OK, Message: "there is none yet: the first start creates it"}}
	}
	has, err := rdb.CheckMeta(meta["schema"], meta["partitions"], s.options.Partitions)
	if err != nil {
		return []Finding{{Subject: "database", Verdict: Problem, Message: err.Error(), Fix: "choose another Redis, or the configuration that this database was made with"}}
	}
	s.db.UsePartitions(has)
	found := []Finding{{Subject: "database", Verdict: OK, Message: fmt.Sprintf("schema version %d, %d partitions", rdb.SchemaVersion, has)}}
	return append(found, s.inspectOutboxes(ctx)...)
}

// staleEntry is an age of the oldest entry from which on something is amiss.
const staleEntry = time.Minute

// inspectOutboxes looks at what is to be done, and who does it.
func (s *diagnosis) inspectOutboxes(ctx context.Context) []Finding {
	var oldest time.Duration
	var entries int64
	for _, b := range s.outbox.Backlogs(ctx) {
		if b.Err != nil {
			return []Finding{{Subject: "outboxes", Verdict: Problem, Message: b.Err.Error(), Fix: "see that the service may run scripts"}}
		}
		oldest, entries = max(oldest, b.Oldest), entries+b.Entries
	}
	work := Finding{Subject: "outboxes", Verdict: OK, Message: fmt.Sprintf("%d entries wait, the oldest for %s", entries, oldest.Round(time.Millisecond))}
	workers, err := s.db.Client.ZCount(ctx, rdb.WorkersKey, fmt.Sprint(time.Now().UnixMilli()), "+inf").Result()
	switch {
	case err != nil:
		work.Verdict, work.Message = Problem, err.Error()
	case entries > 0 && workers == 0:
		work.Verdict, work.Fix = Problem, "no worker runs: start retwis worker, or retwis serve with one"
	case oldest > staleEntry:
		work.Verdict, work.Fix = Warning, "workers do not keep up, or one entry takes long: see their log and retwis_outbox_oldest_seconds"
	}
	if work.Verdict != Problem {
		work.Message += fmt.Sprintf("; %d workers run", workers)
	}
	found := []Finding{work}

	letters, err := s.outbox.DeadLetters(ctx)
	switch {
	case err != nil:
		found = append(found, Finding{Subject: "dead letters", Verdict: Problem, Message: err.Error()})
	case len(letters) > 0:
		found = append(found, Finding{
			Subject: "dead letters", Verdict: Warning, Message: fmt.Sprintf("%d entries were given up", len(letters)),
			Fix: "retwis deadletter list says why, retwis deadletter replay tries them again",
		})
	default:
		found = append(found, Finding{Subject: "dead letters", Verdict: OK, Message: "none"})
	}
	return found
}
