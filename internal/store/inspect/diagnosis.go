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

// Verdict is the severity of a finding.
type Verdict string

// The verdicts.
const (
	OK      Verdict = "ok"
	Warning Verdict = "warning" // it works, but not as well or as safely as it could
	Problem Verdict = "problem" // it does not work, or can lose data
)

// Finding is the result of one check of a diagnosis.
type Finding struct {
	Subject string  `json:"subject"`
	Node    string  `json:"node,omitempty"` // address of the Redis, if there are several
	Verdict Verdict `json:"verdict"`
	Message string  `json:"message"`
	Fix     string  `json:"fix,omitempty"` // what the operator can do
}

// Diagnose checks a Redis and its database, if there is one. It changes nothing. It returns an error if it cannot
// connect to the Redis.
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

// diagnosis is a diagnosis in progress.
type diagnosis struct {
	db      *rdb.DB
	options store.Options
	outbox  *store.Outbox
}

// inspectNodes reads the state of every node, masters first.
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
		return nil // the error becomes a finding
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

// Bounds of the measurement of round trips to a node.
const (
	pings    = 51
	pingTime = 5 * time.Second
)

func inspectNode(ctx context.Context, node *redis.Client) (nodeState, error) {
	v := nodeState{addr: node.Options().Addr, config: map[string]string{}}
	info, err := node.Info(ctx).Result()
	if err != nil {
		return v, fmt.Errorf("read the state of %s: %w", v.addr, err)
	}
	v.info = info
	if v.field("cluster_enabled") == "1" {
		if v.cluster, err = node.ClusterInfo(ctx).Result(); err != nil {
			return v, fmt.Errorf("read the cluster state of %s: %w", v.addr, err)
		}
	}
	for _, name := range []string{"appendonly", "appendfsync", "save", "zset-max-listpack-entries", "hash-max-listpack-value", "maxclients", "cluster-require-full-coverage"} {
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
	remote, err := node.Time(ctx).Result()
	if err != nil {
		return v, fmt.Errorf("read the clock of %s: %w", v.addr, err)
	}
	end := time.Now()
	v.skew = remote.Sub(start.Add(end.Sub(start) / 2))
	return v, nil
}

// inspectPubSub measures the round trip of a published message, on a cluster over several nodes.
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
			f.Fix = "allow the service to subscribe and publish: check the channel permissions of its user (ACL &*), and any proxies"
			return f
		}
		slowest = max(slowest, took)
	}
	f.Message = fmt.Sprintf("a published message arrives within %s", slowest.Round(10*time.Microsecond))
	if slowest > slowRoundTrip {
		f.Verdict, f.Fix = Warning, "live events are delayed by this time: run the service closer to Redis, or check what keeps Redis busy"
	}
	return f
}

// inspectDatabase checks the database of the service.
func (s *diagnosis) inspectDatabase(ctx context.Context) []Finding {
	meta, err := s.db.Client.HGetAll(ctx, rdb.MetaKey).Result()
	if err != nil {
		fix := "allow the service to read its keys: check the permissions of its user (ACL ~*)"
		if redis.HasErrorPrefix(err, "CLUSTERDOWN") {
			fix = "repair the cluster first, see above"
		}
		return []Finding{{Subject: "database", Verdict: Problem, Message: err.Error(), Fix: fix}}
	}
	if len(meta) == 0 {
		return []Finding{{Subject: "database", Verdict: OK, Message: "there is none: the first start creates it"}}
	}
	has, err := rdb.CheckMeta(meta["schema"], meta["partitions"], s.options.Partitions)
	if err != nil {
		return []Finding{{Subject: "database", Verdict: Problem, Message: err.Error(), Fix: "use another Redis, or the configuration that the database was created with"}}
	}
	s.db.UsePartitions(has)
	found := []Finding{{Subject: "database", Verdict: OK, Message: fmt.Sprintf("schema version %d, %d partitions", rdb.SchemaVersion, has)}}
	return append(found, s.inspectOutboxes(ctx)...)
}

// staleEntry is the age of the oldest entry above which the diagnosis warns.
const staleEntry = time.Minute

// inspectOutboxes checks the backlog, the workers and the dead letters.
func (s *diagnosis) inspectOutboxes(ctx context.Context) []Finding {
	var oldest time.Duration
	var entries int64
	for _, b := range s.outbox.Backlogs(ctx) {
		if b.Err != nil {
			return []Finding{{Subject: "outboxes", Verdict: Problem, Message: b.Err.Error(), Fix: "allow the service to run scripts"}}
		}
		oldest, entries = max(oldest, b.Oldest), entries+b.Entries
	}
	work := Finding{Subject: "outboxes", Verdict: OK, Message: fmt.Sprintf("%d entries, the oldest %s old", entries, oldest.Round(time.Millisecond))}
	workers, err := s.db.Client.ZCount(ctx, rdb.WorkersKey, fmt.Sprint(time.Now().UnixMilli()), "+inf").Result()
	switch {
	case err != nil:
		work.Verdict, work.Message = Problem, err.Error()
	case entries > 0 && workers == 0:
		work.Verdict, work.Fix = Problem, "no worker runs: start retwis worker, or retwis serve with one"
	case oldest > staleEntry:
		work.Verdict, work.Fix = Warning, "workers do not keep up, or one entry takes long: check their log and retwis_outbox_oldest_seconds"
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
			Subject: "dead letters", Verdict: Warning, Message: fmt.Sprintf("%d entries failed permanently", len(letters)),
			Fix: "retwis deadletter list shows the reasons, retwis deadletter requeue retries them",
		})
	default:
		found = append(found, Finding{Subject: "dead letters", Verdict: OK, Message: "none"})
	}
	return found
}
