package inspect

import (
	"errors"
	"testing"
	"time"
)

// TestVitalsThatNoTestCanCause judges what takes other machines to happen.
func TestVitalsThatNoTestCanCause(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		vitals vitals
		about  string
		want   Verdict
	}{
		{"a good clock", vitals{skew: 20 * time.Millisecond}, "clock", Fine},
		{"a clock that is late", vitals{skew: -2 * time.Second}, "clock", Advice},
		{"a clock that is wrong", vitals{skew: time.Hour}, "clock", Problem},
		{"near", vitals{pings: []time.Duration{time.Millisecond}}, "latency", Fine},
		{"not so near", vitals{pings: []time.Duration{8 * time.Millisecond}}, "latency", Advice},
		{"at the end of the world", vitals{pings: []time.Duration{300 * time.Millisecond}}, "latency", Problem},
		{"held up now and then", vitals{pings: []time.Duration{1, 1, 1, time.Second}}, "latency", Advice},
		{"an old version", vitals{info: "redis_version:6.2.14\r\n"}, "version", Problem},
		{"a version that is not told", vitals{}, "version", Fine},
		{"the disk is full", vitals{info: "aof_last_write_status:err\r\n"}, "disk", Problem},
		{"the machine is full", vitals{info: "used_memory:900\r\nmaxmemory:0\r\ntotal_system_memory:1000\r\n"}, "memory", Problem},
		{"a replica that lost its master", vitals{info: "role:slave\r\ncluster_enabled:1\r\nmaster_link_status:down\r\n"}, "role", Problem},
		{"a replica of a cluster", vitals{info: "role:slave\r\ncluster_enabled:1\r\nmaster_link_status:up\r\n"}, "role", Fine},
		{"settings that are not told", vitals{configError: errors.New("NOPERM")}, "persistence", Advice},
		{"a master that does not answer the others", vitals{cluster: "cluster_state:ok\r\ncluster_slots_assigned:16384\r\ncluster_slots_fail:0\r\ncluster_slots_pfail:5461\r\n"}, "cluster", Problem},
		{"a node that does not answer", vitals{err: errors.New("i/o timeout")}, "reachable", Problem},
	} {
		found := false
		for _, f := range tt.vitals.judge() {
			if f.Subject != tt.about {
				continue
			}
			found = true
			if f.Verdict != tt.want || (f.Verdict != Fine) != (f.Mend != "") {
				t.Errorf("%s: %s, %q, %q; want %s", tt.name, f.Verdict, f.Says, f.Mend, tt.want)
			}
		}
		if !found {
			t.Errorf("%s: nothing is said about %s", tt.name, tt.about)
		}
	}
}
