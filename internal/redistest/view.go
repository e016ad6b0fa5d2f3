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

// view is a cluster as one of its nodes sees it.
type view struct {
	members []member
	owners  [slots]string // address of the master of each slot
}

// member is what a node thinks of another, or of itself.
type member struct {
	id, addr string
	flags    []string
	linked   bool
}

// view asks a node for its view.
func (n *Node) view(ctx context.Context) (*view, error) {
	out, err := n.control.ClusterNodes(ctx).Result()
	if err != nil {
		return nil, fmt.Errorf("CLUSTER NODES of %s: %w", n.addr, err)
	}
	return parseView(out)
}

// parseView reads the answer to CLUSTER NODES, whose lines are: id, address, flags,
// master, ping sent, pong received, epoch, link state, slots.
func parseView(s string) (*view, error) {
	v := new(view)
	for line := range strings.Lines(s) {
		f := strings.Fields(line)
		if len(f) < 8 {
			return nil, fmt.Errorf("CLUSTER NODES has the line %q", line)
		}
		addr, _, _ := strings.Cut(f[1], "@")
		v.members = append(v.members, member{f[0], addr, strings.Split(f[2], ","), f[7] == "connected"})
		for _, r := range f[8:] {
			if strings.HasPrefix(r, "[") { // a slot on its way belongs to where it was
				continue
			}
			first, last, err := parseSlots(r)
			if err != nil {
				return nil, fmt.Errorf("CLUSTER NODES has the slots %q: %w", r, err)
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
		return 0, 0, errors.New("there are no such slots")
	}
	return first, last, nil
}

// settled says what is still wrong with the members of a view: too few, strangers,
// or failing.
func (v *view) settled(want int) error {
	if len(v.members) != want {
		return fmt.Errorf("%d nodes are known of %d", len(v.members), want)
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

// await polls until the condition holds. Its last objection is the error when ctx
// is done before.
func (g *Group) await(ctx context.Context, condition func(context.Context) error) error {
	for {
		err := condition(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the cluster is not well: %w: %w", context.Cause(ctx), err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// acquainted objects until every node knows all others.
func (g *Group) acquainted(ctx context.Context) error {
	for _, n := range g.nodes {
		v, err := n.view(ctx)
		if err != nil {
			return err
		}
		if err := v.settled(len(g.nodes)); err != nil {
			return fmt.Errorf("for %s: %w", n.addr, err)
		}
	}
	return nil
}

// served objects until all nodes that are up agree on a master that is up for every slot.
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
			return fmt.Errorf("for %s the state is not ok", n.addr)
		}
		v, err := n.view(ctx)
		if err != nil {
			return err
		}
		for slot, owner := range v.owners {
			if !up[owner] {
				return fmt.Errorf("for %s slot %d belongs to %q, which is not up", n.addr, slot, owner)
			}
		}
		if first == nil {
			first = v
		}
		if v.owners != first.owners {
			return fmt.Errorf("for %s the slots are distributed otherwise", n.addr)
		}
	}
	if first == nil {
		return errors.New("no node is up")
	}
	return nil
}

// replicated objects until every replica follows its master.
func (g *Group) replicated(ctx context.Context) error {
	for _, n := range g.nodes {
		info, err := n.control.Info(ctx, "replication").Result()
		if err != nil {
			return fmt.Errorf("INFO of %s: %w", n.addr, err)
		}
		if strings.Contains(info, "role:slave") && !strings.Contains(info, "master_link_status:up") {
			return fmt.Errorf("replica %s has no link to its master", n.addr)
		}
		// WAIT counts a replica only once its master takes it for online.
		for line := range strings.Lines(info) {
			if strings.HasPrefix(line, "slave") && strings.Contains(line, "state=") && !strings.Contains(line, "state=online") {
				return fmt.Errorf("a replica of %s is not online: %s", n.addr, line)
			}
		}
	}
	return nil
}

// awaitWhole waits until every node is up and in its place.
func (g *Group) awaitWhole(ctx context.Context) error {
	for _, condition := range []func(context.Context) error{g.acquainted, g.served, g.replicated} {
		if err := g.await(ctx, condition); err != nil {
			return err
		}
	}
	return nil
}
