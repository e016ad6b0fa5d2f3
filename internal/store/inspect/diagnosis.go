package inspect

import (
	"context"
	"fmt"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Verdict is what is to be done about a finding.
type Verdict string

// The verdicts.
const (
	Fine    Verdict = "ok"
	Advice  Verdict = "advice"  // it works, and could work better or more safely
	Problem Verdict = "problem" // it does not work, or will lose data
)

// Finding is one thing that a diagnosis looked at.
type Finding struct {
	Subject string  `json:"subject"`
	Node    string  `json:"node,omitempty"` // of the Redis it is about, where there are several
	Verdict Verdict `json:"verdict"`
	Says    string  `json:"says"`
	Mend    string  `json:"mend,omitempty"` // what to do about it
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
	nodes, err := s.examineNodes(ctx)
	if err != nil {
		return nil, err
	}
	for _, v := range nodes {
		node := v.judge()
		if len(nodes) > 1 {
			for i := range node {
				node[i].Node = v.addr
			}
		}
		found = append(found, node...)
	}
	if cluster, ok := s.db.Client.(*redis.ClusterClient); ok {
		found = append(found, examineShards(ctx, cluster)...)
		found = append(found, judgeClocks(nodes)...)
	}
	found = append(found, s.examinePubSub(ctx))
	return append(found, s.examineDatabase(ctx)...), nil
}

// diagnosis is a Redis that is looked at.
type diagnosis struct {
	db      *rdb.DB
	options store.Options
	outbox  *store.Outbox
}

// examineNodes looks at every node, masters first.
func (s *diagnosis) examineNodes(ctx context.Context) ([]vitals, error) {
	cluster, ok := s.db.Client.(*redis.ClusterClient)
	if !ok {
		v, err := examineNode(ctx, s.db.Client.(*redis.Client))
		return []vitals{v}, err
	}
	var mu sync.Mutex
	var all []vitals
	err := cluster.ForEachShard(ctx, func(ctx context.Context, node *redis.Client) error {
		v, err := examineNode(ctx, node)
		if err != nil {
			v = vitals{addr: node.Options().Addr, err: err}
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, v)
		return nil // one that fails is a finding
	})
	slices.SortFunc(all, func(a, b vitals) int {
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

func examineNode(ctx context.Context, node *redis.Client) (vitals, error) {
	v := vitals{addr: node.Options().Addr, config: map[string]string{}}
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

// examinePubSub sends a message to itself: on a cluster by the node of each partition.
func (s *diagnosis) examinePubSub(ctx context.Context) Finding {
	f := Finding{Subject: "pub/sub", Verdict: Fine}
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
			f.Verdict, f.Says = Problem, err.Error()
			f.Mend = "let the service subscribe and publish: see the channel permissions of its user (ACL &*), and proxies between"
			return f
		}
		slowest = max(slowest, took)
	}
	f.Says = fmt.Sprintf("a message that is published comes back within %s", slowest.Round(10*time.Microsecond))
	if slowest > slowExchange {
		f.Verdict, f.Mend = Advice, "live events come late by as much: put the service closer to Redis, or see what keeps it busy"
	}
	return f
}

// examineDatabase looks at what the service has stored.
func (s *diagnosis) examineDatabase(ctx context.Context) []Finding {
	meta, err := s.db.Client.HGetAll(ctx, rdb.MetaKey).Result()
	if err != nil {
		mend := "let the service read its keys: see the permissions of its user (ACL ~*)"
		if redis.HasErrorPrefix(err, "CLUSTERDOWN") {
			mend = "mend the cluster, as said above"
		}
		return []Finding{{Subject: "database", Verdict: Problem, Says: err.Error(), Mend: mend}}
	}
	if len(meta) == 0 {
		return []Finding{{Subject: "database", Verdict: Fine, Says: "there is none yet: the first start creates it"}}
	}
	has, err := rdb.CheckMeta(meta["schema"], meta["partitions"], s.options.Partitions)
	if err != nil {
		return []Finding{{Subject: "database", Verdict: Problem, Says: err.Error(), Mend: "choose another Redis, or the configuration that this database was made with"}}
	}
	s.db.UsePartitions(has)
	found := []Finding{{Subject: "database", Verdict: Fine, Says: fmt.Sprintf("schema version %d, %d partitions", rdb.SchemaVersion, has)}}
	return append(found, s.examineWork(ctx)...)
}

// lateWork is an age of the oldest entry from which on something is amiss.
const lateWork = time.Minute

// examineWork looks at what is to be done, and who does it.
func (s *diagnosis) examineWork(ctx context.Context) []Finding {
	backlogs, err := s.outbox.Backlogs(ctx)
	if err != nil {
		return []Finding{{Subject: "outboxes", Verdict: Problem, Says: err.Error(), Mend: "see that the service may run scripts"}}
	}
	var oldest time.Duration
	var entries int64
	for _, b := range backlogs {
		oldest, entries = max(oldest, b.Oldest), entries+b.Entries
	}
	work := Finding{Subject: "outboxes", Verdict: Fine, Says: fmt.Sprintf("%d entries wait, the oldest for %s", entries, oldest.Round(time.Millisecond))}
	workers, err := s.db.Client.ZCount(ctx, rdb.WorkersKey, fmt.Sprint(time.Now().UnixMilli()), "+inf").Result()
	switch {
	case err != nil:
		work.Verdict, work.Says = Problem, err.Error()
	case entries > 0 && workers == 0:
		work.Verdict, work.Mend = Problem, "no worker runs: start retwis worker, or retwis serve with one"
	case oldest > lateWork:
		work.Verdict, work.Mend = Advice, "workers do not keep up, or one entry takes long: see their log and retwis_outbox_oldest_seconds"
	}
	if work.Verdict != Problem {
		work.Says += fmt.Sprintf("; %d workers run", workers)
	}
	found := []Finding{work}

	letters, err := s.outbox.DeadLetters(ctx)
	switch {
	case err != nil:
		found = append(found, Finding{Subject: "dead letters", Verdict: Problem, Says: err.Error()})
	case len(letters) > 0:
		found = append(found, Finding{
			Subject: "dead letters", Verdict: Advice, Says: fmt.Sprintf("%d entries were given up", len(letters)),
			Mend: "retwis deadletter list says why, retwis deadletter replay tries them again",
		})
	default:
		found = append(found, Finding{Subject: "dead letters", Verdict: Fine, Says: "none"})
	}
	return found
}
