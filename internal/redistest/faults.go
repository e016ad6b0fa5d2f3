package redistest

import (
	"context"
	"fmt"
	"net"
	"slices"
)

// Slot returns the slot that a key belongs to.
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

// Master returns the node that serves a slot, as the nodes that are up agree.
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

// KillMaster kills the node that serves a slot and returns it. Where there is a
// replica, [Group.AwaitServed] waits until it has taken over.
func (g *Group) KillMaster(slot int) *Node {
	g.t.Helper()
	n := g.Master(slot)
	n.Kill()
	return n
}

// AwaitServed waits until the nodes that are up agree on a master that is up for
// every slot.
func (g *Group) AwaitServed() {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := g.await(ctx, g.served); err != nil {
		g.t.Fatal(err)
	}
}

// AwaitWhole waits until all nodes are up, know each other and agree, and every
// replica follows its master.
func (g *Group) AwaitWhole() {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := g.awaitWhole(ctx); err != nil {
		g.t.Fatal(err)
	}
}

// MoveSlot moves a slot with all its keys to another master, while clients may go
// on using it, and waits until all nodes know.
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
		return nil, fmt.Errorf("slot %d belongs to %q, which is no node", slot, v.owners[slot])
	}
	return g.nodes[owner], nil
}

func (g *Group) moveSlot(ctx context.Context, slot int, to *Node) error {
	from, err := g.master(ctx, slot)
	if err != nil || from == to {
		return err
	}
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
	if err := from.control.Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", toID).Err(); err != nil {
		return err
	}
	if err := migrate(ctx, slot, from, to); err != nil {
		return err
	}
	// The new owner is told first: from there on no node sends clients elsewhere.
	for _, n := range append([]*Node{to, from}, g.nodes...) {
		role, err := n.role(ctx)
		if err != nil {
			return err
		}
		if role != "master" {
			continue // a replica learns it from its master
		}
		if err := n.control.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", toID).Err(); err != nil {
			return err
		}
	}
	return g.await(ctx, g.served)
}

// migrate moves all keys of a slot, a few at a time so that clients meet a slot
// that lies in two places.
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
