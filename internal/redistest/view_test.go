package redistest

import (
	"strings"
	"testing"
)

const nodesReply = `1f3 127.0.0.1:10001@20001 myself,master - 0 0 1 connected 0-99 200 [300->-2ab]
2ab 127.0.0.1:10002@20002 master - 0 1763683200000 2 connected 100-199 201-16383
3cd 127.0.0.1:10003@20003 slave 1f3 0 1763683200000 1 connected
`

func TestParseView_ReadsOwners(t *testing.T) {
	t.Parallel()
	v, err := parseView(nodesReply)
	if err != nil {
		t.Fatal(err)
	}
	for slot, want := range map[int]string{0: "127.0.0.1:10001", 150: "127.0.0.1:10002", 200: "127.0.0.1:10001", 16383: "127.0.0.1:10002"} {
		if v.owners[slot] != want {
			t.Errorf("slot %d belongs to %q, want %q", slot, v.owners[slot], want)
		}
	}
	if err := v.settled(3); err != nil {
		t.Error(err)
	}
}

func TestSettled_ReportsProblems(t *testing.T) {
	t.Parallel()
	for _, change := range [][2]string{
		{"myself,master", "myself,master,fail"},
		{"slave 1f3", "slave,fail? 1f3"},
		{"slave 1f3", "handshake -"},
		{"1 connected\n", "1 disconnected\n"},
		{"2ab 127.0.0.1:10002@20002 master - 0 1763683200000 2 connected 100-199 201-16383\n", ""},
	} {
		v, err := parseView(strings.Replace(nodesReply, change[0], change[1], 1))
		if err != nil {
			t.Fatal(err)
		}
		if v.settled(3) == nil {
			t.Errorf("settled(3) = nil with %q", change[1])
		}
	}
}

func FuzzParseView(f *testing.F) {
	f.Add(nodesReply)
	f.Add("a b c d e f g h 99999-3")
	f.Add("a b c d e f g h -1")
	f.Fuzz(func(_ *testing.T, s string) { _, _ = parseView(s) })
}
