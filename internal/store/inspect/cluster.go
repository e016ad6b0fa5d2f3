package inspect

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"retwis/internal/store/rdb"

	"github.com/redis/go-redis/v9"
)

// checkCluster says what a node makes of its cluster. They may differ in that.
func (v nodeState) checkCluster() Finding {
	told := func(name string) string { return rdb.InfoField(v.cluster, name) }
	f := Finding{Subject: "cluster", Verdict: OK, Message: fmt.Sprintf("state %s, %s of %d slots served",
		told("cluster_state"), told("cluster_slots_ok"), rdb.Slots)}
	switch {
	case told("cluster_slots_assigned") != strconv.Itoa(rdb.Slots):
		f.Verdict, f.Fix = Problem, "give every slot to a master: redis-cli --cluster fix HOST:PORT"
	case told("cluster_state") != "ok" || told("cluster_slots_fail") != "0":
		f.Verdict, f.Fix = Problem, "see which nodes are down (CLUSTER NODES) and start them, or fail their replicas over (CLUSTER FAILOVER)"
	case told("cluster_slots_pfail") != "0":
		f.Verdict, f.Fix = Problem, "a master does not answer this node: see that it runs, and the network between them"
	}
	return f
}

// inspectShards looks for masters that nobody could take over from, and for moves of slots
// that did not end.
func inspectShards(ctx context.Context, cluster *redis.ClusterClient) []Finding {
	nodes, err := cluster.ClusterNodes(ctx).Result()
	if err != nil {
		return []Finding{{Subject: "replicas", Verdict: Problem, Message: err.Error(), Fix: "let the service ask for the nodes of the cluster (ACL +cluster)"}}
	}
	replicas := map[string]int{}   // by the id of the master
	masters := map[string]string{} // id to address
	var failed, moving []string
	for line := range strings.Lines(nodes) {
		fields := strings.Fields(line)
		if len(fields) < 8 {
			continue
		}
		id, flags, master := fields[0], fields[2], fields[3]
		addr, _, _ := strings.Cut(fields[1], "@")
		down := strings.Contains(flags, "fail")
		if down {
			failed = append(failed, addr)
		}
		switch {
		case strings.Contains(flags, "slave") && !down && fields[7] == "connected":
			replicas[master]++
		case strings.Contains(flags, "master") && len(fields) > 8:
			masters[id] = addr
		}
		if strings.Contains(line, "->-") || strings.Contains(line, "-<-") {
			moving = append(moving, addr)
		}
	}
	var alone []string
	for id, addr := range masters {
		if replicas[id] == 0 {
			alone = append(alone, addr)
		}
	}
	found := []Finding{{Subject: "replicas", Verdict: OK, Message: fmt.Sprintf("each of %d masters has one at least", len(masters))}}
	if len(alone) > 0 {
		found[0].Verdict, found[0].Message = Warning, fmt.Sprintf("%d of %d masters have none", len(alone), len(masters))
		found[0].Fix = "add a replica to each (redis-cli --cluster add-node NEW HOST:PORT --cluster-slave): when one of these is gone, so is its share of the people"
	}
	if len(failed) > 0 {
		found = append(found, Finding{Subject: "nodes", Verdict: Problem, Message: strings.Join(failed, ", ") + " failed", Fix: "start them, or take them out (CLUSTER FORGET)"})
	}
	if len(moving) > 0 {
		found = append(found, Finding{Subject: "slots", Verdict: Warning, Message: "slots are being moved by " + strings.Join(moving, ", "), Fix: "where nobody is moving them, redis-cli --cluster fix HOST:PORT ends it"})
	}
	return found
}

// checkClocks compares the clocks of masters: the ids of posts are made by them.
func checkClocks(nodes []nodeState) []Finding {
	var low, high time.Duration
	first := true
	for _, v := range nodes {
		if v.err != nil || v.isReplica() {
			continue
		}
		if first {
			low, high, first = v.skew, v.skew, false
		}
		low, high = min(low, v.skew), max(high, v.skew)
	}
	apart := high - low
	f := Finding{Subject: "clocks", Verdict: OK, Message: fmt.Sprintf("%s apart, of the masters", apart.Round(time.Millisecond))}
	if apart > clockSkew {
		f.Verdict, f.Fix = Warning, "let all machines keep time by NTP: posts of different authors are sorted by it"
	}
	return []Finding{f}
}
