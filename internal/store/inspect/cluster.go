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

// checkCluster checks the state of the cluster as a node sees it. Nodes may differ.
func (v nodeState) checkCluster() Finding {
	field := func(name string) string { return rdb.InfoField(v.cluster, name) }
	f := Finding{Subject: "cluster", Verdict: OK, Message: fmt.Sprintf("state %s, %s of %d slots served",
		field("cluster_state"), field("cluster_slots_ok"), rdb.Slots)}
	switch {
	case field("cluster_slots_assigned") != strconv.Itoa(rdb.Slots):
		f.Verdict, f.Fix = Problem, "give every slot to a master: redis-cli --cluster fix HOST:PORT"
	case field("cluster_state") != "ok" || field("cluster_slots_fail") != "0":
		f.Verdict, f.Fix = Problem, "check which nodes are down (CLUSTER NODES) and start them, or promote their replicas (CLUSTER FAILOVER)"
	case field("cluster_slots_pfail") != "0":
		f.Verdict, f.Fix = Problem, "a master does not answer this node: check that it runs, and the network between them"
	}
	return f
}

// inspectShards checks for masters without replicas, failed nodes and unfinished slot migrations.
func inspectShards(ctx context.Context, cluster *redis.ClusterClient) []Finding {
	nodes, err := cluster.ClusterNodes(ctx).Result()
	if err != nil {
		return []Finding{{Subject: "replicas", Verdict: Problem, Message: err.Error(), Fix: "allow the service to read the nodes of the cluster (ACL +cluster)"}}
	}
	replicas := map[string]int{}   // by the id of the master
	masters := map[string]string{} // id to address
	var failed, migrating []string
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
			migrating = append(migrating, addr)
		}
	}
	var unreplicated []string
	for id, addr := range masters {
		if replicas[id] == 0 {
			unreplicated = append(unreplicated, addr)
		}
	}
	found := []Finding{{Subject: "replicas", Verdict: OK, Message: fmt.Sprintf("each of %d masters has at least one", len(masters))}}
	if len(unreplicated) > 0 {
		found[0].Verdict, found[0].Message = Warning, fmt.Sprintf("%d of %d masters have none", len(unreplicated), len(masters))
		found[0].Fix = "add a replica to each (redis-cli --cluster add-node NEW HOST:PORT --cluster-slave): if such a master is lost, the data of its users is lost"
	}
	if len(failed) > 0 {
		found = append(found, Finding{Subject: "nodes", Verdict: Problem, Message: strings.Join(failed, ", ") + " failed", Fix: "start them, or remove them (CLUSTER FORGET)"})
	}
	if len(migrating) > 0 {
		found = append(found, Finding{Subject: "slots", Verdict: Warning, Message: "slots are being migrated by " + strings.Join(migrating, ", "), Fix: "if no migration is running, finish it: redis-cli --cluster fix HOST:PORT"})
	}
	return found
}

// checkClocks compares the clocks of the masters, which the ids of posts depend on.
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
	f := Finding{Subject: "clocks", Verdict: OK, Message: fmt.Sprintf("the clocks of the masters differ by %s", apart.Round(time.Millisecond))}
	if apart > clockSkew {
		f.Verdict, f.Fix = Warning, "synchronize the clocks of all machines by NTP: timelines sort posts of different authors by them"
	}
	return []Finding{f}
}
