package inspect

import (
	"errors"
	"testing"
	"time"
)

// The states of these cases need several machines, or a full disk.
func TestNodeState_Check(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		state   nodeState
		subject string
		want    Verdict
	}{
		{"a good clock", nodeState{skew: 20 * time.Millisecond}, "clock", OK},
		{"a clock that is slow", nodeState{skew: -2 * time.Second}, "clock", Warning},
		{"a clock that is wrong", nodeState{skew: time.Hour}, "clock", Problem},
		{"a short round trip", nodeState{pings: []time.Duration{time.Millisecond}}, "latency", OK},
		{"a longer round trip", nodeState{pings: []time.Duration{8 * time.Millisecond}}, "latency", Warning},
		{"a very long round trip", nodeState{pings: []time.Duration{300 * time.Millisecond}}, "latency", Problem},
		{"occasional delays", nodeState{pings: []time.Duration{1, 1, 1, time.Second}}, "latency", Warning},
		{"an old version", nodeState{info: "redis_version:6.2.14\r\n"}, "version", Problem},
		{"a version that is not reported", nodeState{}, "version", OK},
		{"the disk is full", nodeState{info: "aof_last_write_status:err\r\n"}, "disk", Problem},
		{"the machine is full", nodeState{info: "used_memory:900\r\nmaxmemory:0\r\ntotal_system_memory:1000\r\n"}, "memory", Problem},
		{"a replica that lost its master", nodeState{info: "role:slave\r\ncluster_enabled:1\r\nmaster_link_status:down\r\n"}, "role", Problem},
		{"a replica of a cluster", nodeState{info: "role:slave\r\ncluster_enabled:1\r\nmaster_link_status:up\r\n"}, "role", OK},
		{"settings that are not reported", nodeState{configError: errors.New("NOPERM")}, "persistence", Warning},
		{"a master that does not answer the others", nodeState{cluster: "cluster_state:ok\r\ncluster_slots_assigned:16384\r\ncluster_slots_fail:0\r\ncluster_slots_pfail:5461\r\n"}, "cluster", Problem},
		{"a node that does not answer", nodeState{err: errors.New("i/o timeout")}, "reachable", Problem},
	} {
		found := false
		for _, f := range tt.state.check() {
			if f.Subject != tt.subject {
				continue
			}
			found = true
			if f.Verdict != tt.want || (f.Verdict != OK) != (f.Fix != "") {
				t.Errorf("%s: %s, %q, %q; want %s", tt.name, f.Verdict, f.Message, f.Fix, tt.want)
			}
		}
		if !found {
			t.Errorf("%s: no finding about %s", tt.name, tt.subject)
		}
	}
}
