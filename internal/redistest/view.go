package redistest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// view is the state of a cluster as reported by one of its nodes.
type view struct {
	members []member
	owners  [slots]string // address of the master of each slot
}

// member is a node as reported by another node, or by itself.
type member struct {
	id, addr string
	flags    []string
	linked   bool
}

// view returns the view of a node.
func (n *Node) view(ctx context.Context) (*view, error) {
	out, err := n.control.ClusterNodes(ctx).Result()
	if err != nil {
		return nil, fmt.Errorf("CLUSTER NODES of %s: %w", n.addr, err)
	}
	return parseView(out)
}

// parseView parses the reply of CLUSTER NODES. The fields of a line are: id, address, flags,
// master, ping sent, pong received, epoch, link state, slots.
func parseView(s string) (*view, error) {
	v := new(view)
	for line := range strings.Lines(s) {
		f := strings.Fields(line)
		if len(f) < 8 {
			return nil, fmt.Errorf("unexpected line %q in CLUSTER NODES", line)
		}
		addr, _, _ := strings.Cut(f[1], "@")
		v.members = append(v.members, member{f[0], addr, strings.Split(f[2], ","), f[7] == "connected"})
		for _, r := range f[8:] {
			if strings.HasPrefix(r, "[") { // a migrating slot still belongs to its old owner
				continue
			}
			first, last, err := parseSlots(r)
			if err != nil {
				return nil, fmt.Errorf("unexpected slots %q in CLUSTER NODES: %w", r, err)
			}
			for slot := first; slot <= last; slot++ {
				v.owners[slot] = addr
			}
		}
	}
	return v, nil
}

func parseSlots(s string) (first, last int, err error) {
	from, to, isRange := strings.Cut(s, "-")
	if !isRange {
		to = from
	}
	if first, err = strconv.Atoi(from); err != nil {
		return 0, 0, err
	}
	if last, err = strconv.Atoi(to); err != nil {
		return 0, 0, err
	}
	if first < 0 || first > last || last >= slots {
		return 0, 0, errors.New("slot out of range")
	}
	return first, last, nil
}

// settled returns an error unless the view has the wanted number of members, all of them
// known, linked and healthy.
func (v *view) settled(want int) error {
	if len(v.members) != want {
		return fmt.Errorf("%d of %d nodes are known", len(v.members), want)
	}
	for _, m := range v.members {
		for _, flag := range []string{"handshake", "noaddr", "fail", "fail?"} {
			if slices.Contains(m.flags, flag) {
				return fmt.Errorf("node %s is in state %q", m.addr, flag)
			}
		}
		if !m.linked {
			return fmt.Errorf("node %s is not linked", m.addr)
		}
	}
	return nil
}

// await polls until the condition returns nil. If ctx ends first, the error contains the last
// one of the condition.
func (g *Group) await(ctx context.Context, condition func(context.Context) error) error {
	for {
		err := condition(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the cluster: %w: %w", context.Cause(ctx), err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// acquainted returns an error until every node knows all others.
func (g *Group) acquainted(ctx context.Context) error {
	for _, n := range g.nodes {
		v, err := n.view(ctx)
		if err != nil {
			return err
		}
		if err := v.settled(len(g.nodes)); err != nil {
			return fmt.Errorf("node %s: %w", n.addr, err)
		}
	}
	return nil
}

// served returns an error until all running nodes agree on a running master for every slot.
func (g *Group) served(ctx context.Context) error {
	up := map[string]bool{}
	for _, n := range g.nodes {
		up[n.addr] = n.up()
	}
	var first *view
	for _, n := range g.nodes {
		if !up[n.addr] {
			continue
		}
		info, err := n.control.ClusterInfo(ctx).Result()
		if err != nil {
			return fmt.Errorf("CLUSTER INFO of %s: %w", n.addr, err)
		}
		if !strings.Contains(info, "cluster_state:ok") {
			return fmt.Errorf("node %s: the cluster state is not ok", n.addr)
		}
		v, err := n.view(ctx)
		if err != nil {
			return err
		}
		for slot, owner := range v.owners {
			if !up[owner] {
				return fmt.Errorf("node %s: slot %d belongs to %q, which is not running", n.addr, slot, owner)
			}
		}
		if first == nil {
			first = v
		}
		if v.owners != first.owners {
			return fmt.Errorf("node %s disagrees about the owners of slots", n.addr)
		}
	}
	if first == nil {
		return errors.New("no node is running")
	}
	return nil
}

// replicated returns an error until every replica follows its master.
func (g *Group) replicated(ctx context.Context) error {
	for _, n := range g.nodes {
		info, err := n.control.Info(ctx, "replication").Result()
		if err != nil {
			return fmt.Errorf("INFO of %s: %w", n.addr, err)
		}
		if strings.Contains(info, "role:slave") && !strings.Contains(info, "master_link_status:up") {
			return fmt.Errorf("replica %s is not connected to its master", n.addr)
		}
		// WAIT counts a replica only once its master considers it online.
		for line := range strings.Lines(info) {
			if strings.HasPrefix(line, "slave") && strings.Contains(line, "state=") && !strings.Contains(line, "state=online") {
				return fmt.Errorf("a replica of %s is not online: %s", n.addr, line)
			}
		}
	}
	return nil
}

// awaitHealthy waits until every node runs, knows the others and follows its master.
func (g *Group) awaitHealthy(ctx context.Context) error {
	for _, condition := range []func(context.Context) error{g.acquainted, g.served, g.replicated} {
		if err := g.await(ctx, condition); err != nil {
			return err
		}
	}
	return nil
}
