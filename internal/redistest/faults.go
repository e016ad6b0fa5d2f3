package redistest

import (
	"context"
	"fmt"
	"net"
	"slices"
)

// Slot returns the hash slot of a key.
func (g *Group) Slot(key string) int {
	g.t.Helper()
	for _, n := range g.nodes {
		if !n.up() {
			continue
		}
		slot, err := n.control.ClusterKeySlot(context.Background(), key).Result()
		if err != nil {
			g.t.Fatalf("slot of %q: %v", key, err)
		}
		return int(slot)
	}
	g.t.Fatalf("slot of %q: no node is up", key)
	return 0
}

// Master returns the node that serves a slot, once all running nodes agree on it.
func (g *Group) Master(slot int) *Node {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	n, err := g.master(ctx, slot)
	if err != nil {
		g.t.Fatal(err)
	}
	return n
}

// KillMaster kills the node that serves a slot and returns it. [Group.AwaitAvailable] waits
// until a replica, if there is one, has taken over.
func (g *Group) KillMaster(slot int) *Node {
	g.t.Helper()
	n := g.Master(slot)
	n.Kill()
	return n
}

// AwaitAvailable waits until all running nodes agree on a running master for every slot.
func (g *Group) AwaitAvailable() {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := g.await(ctx, g.served); err != nil {
		g.t.Fatal(err)
	}
}

// AwaitHealthy waits until all nodes run and agree on the topology, and every replica follows
// its master.
func (g *Group) AwaitHealthy() {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := g.awaitHealthy(ctx); err != nil {
		g.t.Fatal(err)
	}
}

// MoveSlot moves a slot with all its keys to another master, and waits until all nodes know.
// Clients can use the slot meanwhile.
func (g *Group) MoveSlot(slot int, to *Node) {
	g.t.Helper()
	g.touched = true
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := g.moveSlot(ctx, slot, to); err != nil {
		g.t.Fatalf("move slot %d to %s: %v", slot, to.addr, err)
	}
}

func (g *Group) master(ctx context.Context, slot int) (*Node, error) {
	if err := g.await(ctx, g.served); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(g.nodes, (*Node).up)
	v, err := g.nodes[i].view(ctx)
	if err != nil {
		return nil, err
	}
	owner := slices.IndexFunc(g.nodes, func(n *Node) bool { return n.addr == v.owners[slot] })
	if owner < 0 {
		return nil, fmt.Errorf("slot %d belongs to the unknown node %q", slot, v.owners[slot])
	}
	return g.nodes[owner], nil
}

// BeginMove begins to move a slot to another node, but moves no key. The returned function cancels the move.
func (g *Group) BeginMove(slot int) (cancel func()) {
	g.t.Helper()
	g.touched = true
	ctx, done := context.WithTimeout(context.Background(), patience)
	defer done()
	from, to := g.Master(slot), (*Node)(nil)
	for _, n := range g.nodes {
		if role, err := n.role(ctx); n != from && err == nil && role == "master" {
			to = n
		}
	}
	if to == nil {
		g.t.Fatal("no other master")
	}
	if err := beginMove(ctx, slot, from, to); err != nil {
		g.t.Fatal(err)
	}
	return func() {
		g.t.Helper()
		ctx, done := context.WithTimeout(context.Background(), patience)
		defer done()
		for _, n := range []*Node{to, from} {
			if err := n.control.Do(ctx, "CLUSTER", "SETSLOT", slot, "STABLE").Err(); err != nil {
				g.t.Fatal(err)
			}
		}
	}
}

func (g *Group) moveSlot(ctx context.Context, slot int, to *Node) error {
	from, err := g.master(ctx, slot)
	if err != nil || from == to {
		return err
	}
	if err := beginMove(ctx, slot, from, to); err != nil {
		return err
	}
	if err := migrate(ctx, slot, from, to); err != nil {
		return err
	}
	toID, err := to.control.ClusterMyID(ctx).Result()
	if err != nil {
		return err
	}
	// The new owner learns it first, so that no node redirects clients to a node that redirects back.
	for _, n := range append([]*Node{to, from}, g.nodes...) {
		role, err := n.role(ctx)
		if err != nil {
			return err
		}
		if role != "master" {
			continue // replicas learn it from their master
		}
		if err := n.control.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", toID).Err(); err != nil {
			return err
		}
	}
	return g.await(ctx, g.served)
}

func beginMove(ctx context.Context, slot int, from, to *Node) error {
	fromID, err := from.control.ClusterMyID(ctx).Result()
	if err != nil {
		return err
	}
	toID, err := to.control.ClusterMyID(ctx).Result()
	if err != nil {
		return err
	}
	if err := to.control.Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", fromID).Err(); err != nil {
		return err
	}
	return from.control.Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", toID).Err()
}

// migrate moves all keys of a slot, ten at a time, so that clients see a slot whose keys are
// on two nodes.
func migrate(ctx context.Context, slot int, from, to *Node) error {
	host, port, err := net.SplitHostPort(to.addr)
	if err != nil {
		return err
	}
	for {
		keys, err := from.control.ClusterGetKeysInSlot(ctx, slot, 10).Result()
		if err != nil || len(keys) == 0 {
			return err
		}
		args := []any{"MIGRATE", host, port, "", 0, patience.Milliseconds(), "KEYS"}
		for _, key := range keys {
			args = append(args, key)
		}
		if err := from.control.Do(ctx, args...).Err(); err != nil {
			return err
		}
	}
}

// role returns "master" or "slave".
func (n *Node) role(ctx context.Context) (string, error) {
	reply, err := n.control.Do(ctx, "ROLE").Slice()
	if err != nil {
		return "", fmt.Errorf("ROLE of %s: %w", n.addr, err)
	}
	role, ok := reply[0].(string)
	if !ok {
		return "", fmt.Errorf("ROLE of %s is %v", n.addr, reply)
	}
	return role, nil
}
