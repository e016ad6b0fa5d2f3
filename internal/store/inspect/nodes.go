package inspect

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"retwis/internal/store/rdb"
)

// nodeState is the reported and measured state of a Redis.
type nodeState struct {
	addr        string
	err         error  // why the state could not be read
	info        string // reply of INFO; empty for an in-process Redis
	cluster     string // reply of CLUSTER INFO; empty outside a cluster
	config      map[string]string
	configError error
	scriptError error
	pings       []time.Duration // sorted
	skew        time.Duration   // difference of its clock to the local one
}

// Bounds above or below which a check fails.
const (
	slowRoundTrip     = 5 * time.Millisecond
	verySlowRoundTrip = 100 * time.Millisecond
	clockSkew         = time.Second
	severeClockSkew   = 30 * time.Second
	fewClients        = 2000
)

func (v nodeState) field(name string) string { return rdb.InfoField(v.info, name) }

func (v nodeState) number(name string) int64 {
	n, _ := strconv.ParseInt(v.field(name), 10, 64) // 0 if it is not reported
	return n
}

func (v nodeState) isReplica() bool { return v.field("role") == "slave" }

// check returns the findings about a node.
func (v nodeState) check() []Finding {
	if v.err != nil {
		return []Finding{{Subject: "reachable", Verdict: Problem, Message: v.err.Error(), Fix: "start the node, or remove it from the cluster (CLUSTER FORGET)"}}
	}
	found := []Finding{
		v.checkVersion(), v.checkRole(), v.checkEviction(), v.checkMemory(), v.checkPersistence(), v.checkDisk(),
		v.checkLatency(), v.checkClock(), v.checkPacking(), v.checkClients(),
	}
	if v.cluster != "" {
		found = append(found, v.checkCluster())
	}
	if v.scriptError != nil {
		found = append(found, Finding{Subject: "scripts", Verdict: Problem, Message: v.scriptError.Error(), Fix: "allow the service to run scripts: check the permissions of its user (ACL +@scripting, and the commands in the scripts)"})
	}
	return found
}

func (v nodeState) checkVersion() Finding {
	version := v.field("redis_version")
	f := Finding{Subject: "version", Verdict: OK, Message: "Redis " + version}
	if version == "" {
		f.Message = "not reported"
	}
	if err := rdb.CheckVersion(version); err != nil {
		f.Verdict, f.Message, f.Fix = Problem, err.Error(), "upgrade to Redis 7 or later"
	}
	return f
}

func (v nodeState) checkRole() Finding {
	f := Finding{Subject: "role", Verdict: OK, Message: "master"}
	if !v.isReplica() {
		return f
	}
	f.Message = "replica of " + v.field("master_host") + ":" + v.field("master_port")
	switch {
	case v.field("cluster_enabled") != "1":
		f.Verdict, f.Fix = Problem, "a replica accepts no writes: use the URL of the master"
	case v.field("master_link_status") != "up":
		f.Verdict, f.Fix = Problem, "it is not connected to its master: check its log, and the network between them"
	}
	return f
}

func (v nodeState) checkEviction() Finding {
	policy := v.field("maxmemory_policy")
	f := Finding{Subject: "eviction", Verdict: OK, Message: "maxmemory-policy " + policy}
	switch policy {
	case "noeviction":
	case "":
		f.Message = "not reported"
	default:
		f.Verdict, f.Message = Problem, f.Message+": it evicts keys, and so loses timelines, when memory runs out"
		f.Fix = "set maxmemory-policy noeviction; the service refuses to start otherwise"
	}
	return f
}

func (v nodeState) checkMemory() Finding {
	used, most, system := v.number("used_memory"), v.number("maxmemory"), v.number("total_system_memory")
	f := Finding{Subject: "memory", Verdict: OK, Message: megabytes(used) + " used"}
	switch {
	case most > 0:
		f.Message += " of " + megabytes(most)
		switch {
		case used > most/100*95:
			f.Verdict, f.Fix = Problem, "writes fail when memory is full: raise maxmemory, add memory, or add nodes"
		case used > most/100*80:
			f.Verdict, f.Fix = Warning, "raise maxmemory or add nodes: writes fail when memory is full"
		}
	case system > 0 && used > system/100*70:
		f.Message += " of " + megabytes(system) + " of the machine"
		f.Verdict, f.Fix = Problem, "the system kills Redis when memory runs out, and the fork for a snapshot needs memory too: add memory or nodes, and set maxmemory"
	case v.info != "":
		f.Message += ", without a limit"
		f.Verdict, f.Fix = Warning, "set maxmemory to about 70 % of the memory for Redis: then writes fail when it is full, instead of the system killing Redis"
	}
	if ratio, err := strconv.ParseFloat(v.field("mem_fragmentation_ratio"), 64); err == nil && ratio > 1.5 && used > 1<<30 {
		f.Message += fmt.Sprintf("; the process uses %.1f times as much", ratio)
		if f.Verdict == OK {
			f.Verdict, f.Fix = Warning, "set activedefrag yes"
		}
	}
	return f
}

func (v nodeState) checkPersistence() Finding {
	f := Finding{Subject: "persistence", Verdict: OK}
	appends, known := v.config["appendonly"]
	if !known {
		appends = map[string]string{"1": "yes", "0": "no"}[v.field("aof_enabled")]
	}
	switch {
	case appends == "":
		f.Message = "not reported"
		f.Verdict, f.Fix = Warning, "check that it uses an append-only file: without one, a crash of Redis loses posts"
	case appends == "yes" && v.config["appendfsync"] == "no":
		f.Message = "append-only file without fsync"
		f.Verdict, f.Fix = Warning, "set appendfsync everysec: a power failure then loses about a second, instead of half a minute"
	case appends == "yes":
		f.Message = strings.TrimSpace("append-only file " + v.config["appendfsync"])
	case v.config["save"] == "" && v.configError == nil:
		f.Message = "Redis stores nothing on disk"
		f.Verdict, f.Fix = Problem, "set appendonly yes (CONFIG SET appendonly yes works at once; then CONFIG REWRITE)"
	default:
		f.Message = "snapshots only (save " + v.config["save"] + ")"
		f.Verdict, f.Fix = Warning, "set appendonly yes: a crash of Redis loses the posts since the last snapshot"
	}
	return f
}

func (v nodeState) checkDisk() Finding {
	f := Finding{Subject: "disk", Verdict: OK, Message: "the last writes succeeded"}
	for name, message := range map[string]string{
		"aof_last_write_status":     "the append-only file could not be written",
		"aof_last_bgrewrite_status": "the append-only file could not be rewritten",
		"rdb_last_bgsave_status":    "the last snapshot failed",
	} {
		if status := v.field(name); status != "" && status != "ok" {
			f.Verdict, f.Message = Problem, message
			f.Fix = "check the log of Redis, and the free space and permissions of its directory: it refuses writes, or loses them after a crash"
		}
	}
	if v.field("loading") == "1" {
		f.Verdict, f.Message, f.Fix = Problem, "it is loading its data", "wait until it has finished"
	}
	return f
}

func (v nodeState) checkLatency() Finding {
	if len(v.pings) == 0 {
		return Finding{Subject: "latency", Verdict: OK, Message: "not measured"}
	}
	median, worst := v.pings[len(v.pings)/2], v.pings[len(v.pings)-1]
	f := Finding{Subject: "latency", Verdict: OK, Message: fmt.Sprintf("median round trip %s, at most %s",
		median.Round(time.Microsecond), worst.Round(time.Microsecond))}
	switch {
	case median > verySlowRoundTrip:
		f.Verdict, f.Fix = Problem, "a page takes three sequential round trips: run the service next to Redis"
	case median > slowRoundTrip:
		f.Verdict, f.Fix = Warning, "a page takes up to three sequential round trips: run the service closer to Redis, or check what keeps Redis busy (SLOWLOG GET)"
	case worst > verySlowRoundTrip:
		f.Verdict, f.Fix = Warning, "something delays Redis from time to time: check SLOWLOG GET, LATENCY DOCTOR, and whether the machine swaps"
	}
	return f
}

func (v nodeState) checkClock() Finding {
	skew := v.skew.Abs()
	f := Finding{Subject: "clock", Verdict: OK, Message: fmt.Sprintf("%s from the local clock", v.skew.Round(time.Millisecond))}
	fix := "synchronize the clocks of both machines by NTP: ids and times of posts come from the clock of Redis"
	switch {
	case skew > severeClockSkew:
		f.Verdict, f.Fix = Problem, fix
	case skew > clockSkew:
		f.Verdict, f.Fix = Warning, fix
	}
	return f
}

// checkPacking inspects the settings that let Redis store small values compactly.
func (v nodeState) checkPacking() Finding {
	var messages, fixes []string
	for _, setting := range []struct {
		name  string
		least int
		gain  string
	}{
		{"zset-max-listpack-entries", 1024, "a follow then takes about 20 bytes instead of more than 100"},
		{"hash-max-listpack-value", 1024, "accounts and posts with a text of more than 64 bytes then take 40 % less memory"},
	} {
		value, known := v.config[setting.name]
		n, err := strconv.Atoi(value)
		if !known || err != nil {
			return Finding{Subject: "packing", Verdict: OK, Message: "not reported"}
		}
		messages = append(messages, setting.name+" "+value)
		if n < setting.least {
			fixes = append(fixes, fmt.Sprintf("set %s %d: %s", setting.name, setting.least, setting.gain))
		}
	}
	f := Finding{Subject: "packing", Verdict: OK, Message: strings.Join(messages, ", "), Fix: strings.Join(fixes, "; ")}
	if len(fixes) > 0 {
		f.Verdict = Warning
	}
	return f
}

func (v nodeState) checkClients() Finding {
	most := v.number("maxclients")
	if n, err := strconv.ParseInt(v.config["maxclients"], 10, 64); err == nil {
		most = n
	}
	f := Finding{Subject: "clients", Verdict: OK, Message: fmt.Sprintf("%d connected, %d allowed", v.number("connected_clients"), most)}
	switch {
	case most == 0:
		f.Message = "not reported"
	case v.number("connected_clients") > most/100*80:
		f.Verdict, f.Fix = Problem, "raise maxclients: Redis will soon refuse new connections"
	case most < fewClients:
		f.Verdict, f.Fix = Warning, "raise maxclients: a process opens up to 64 connections, and one for each outbox that it serves and each channel that it listens to"
	}
	return f
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
