package validate

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"

	"retwis/internal/torture/history"
)

// searchTime bounds the search for a linearization. Histories of one edge or key are short.
const searchTime = 30 * time.Second

// lateEffect bounds the time in which an operation may take effect after its client gave up. It exceeds the sum of the
// deadlines of the service and the longest freeze.
const lateEffect = 10 * time.Second

// linearizable checks follow edges and idempotent posts with porcupine, each edge and each key separately. An
// operation with an unknown outcome takes effect until [lateEffect] has passed, or never.
func (c *checker) linearizable() {
	edges, keys := map[string][]porcupine.Operation{}, map[string][]porcupine.Operation{}
	for i, o := range c.history.Operations {
		op := porcupine.Operation{ClientId: i, Input: o, Call: o.Call, Output: o, Return: o.Return}
		if o.Outcome == history.Unknown {
			op.Return = o.Return + int64(lateEffect)
		}
		switch {
		case o.Outcome == history.Refused:
		case o.Kind == history.ReadFollow && o.Outcome == history.Unknown:
		case o.Kind == history.Follow || o.Kind == history.Unfollow || o.Kind == history.ReadFollow:
			edges[o.Client+" follows "+o.Target] = append(edges[o.Client+" follows "+o.Target], op)
		case o.Kind == history.Post:
			keys[o.Client+" with key "+o.Key] = append(keys[o.Client+" with key "+o.Key], op)
		}
	}
	c.search("edge", edges, edgeModel())
	c.search("post", keys, keyModel())
}

func (c *checker) search(what string, all map[string][]porcupine.Operation, model porcupine.Model) {
	for name, operations := range all {
		switch porcupine.CheckOperationsTimeout(model, operations, searchTime) {
		case porcupine.Illegal:
			c.report(Linearizable, "the %d operations of the %s %q have no order that explains them: %s",
				len(operations), what, name, unexplained(model, operations))
		case porcupine.Unknown:
			c.report(Linearizable, "the %d operations of the %s %q could not be checked in %s", len(operations), what, name, searchTime)
		case porcupine.Ok:
		}
	}
}

// unexplained describes the first operation that no order of those before it explains.
func unexplained(model porcupine.Model, operations []porcupine.Operation) string {
	_, info := porcupine.CheckOperationsVerbose(model, operations, searchTime)
	explained := map[int]bool{}
	for _, order := range info.PartialLinearizationsOperations()[0] {
		if len(order) > len(explained) {
			explained = map[int]bool{}
			for _, o := range order {
				explained[o.ClientId] = true
			}
		}
	}
	var first *history.Operation
	for _, op := range operations {
		o := op.Input.(history.Operation)
		if !explained[op.ClientId] && o.Outcome != history.Unknown && (first == nil || o.Return < first.Return) {
			first = &o
		}
	}
	if first == nil {
		return "the search gave no reason"
	}
	return fmt.Sprintf("%+v", *first)
}

// edgeModel is a register: whether the edge exists.
func edgeModel() porcupine.Model {
	nondeterministic := porcupine.NondeterministicModel{
		Init: func() []any { return []any{false} },
		Step: func(state, input, _ any) []any {
			o := input.(history.Operation)
			switch {
			case o.Kind == history.ReadFollow && o.Follows != state.(bool):
				return nil
			case o.Kind == history.ReadFollow:
				return []any{state}
			case o.Outcome == history.Unknown:
				return []any{state, o.Kind == history.Follow}
			default:
				return []any{o.Kind == history.Follow}
			}
		},
		Equal: func(a, b any) bool { return a == b },
	}
	return nondeterministic.ToModel()
}

// keyModel states that an idempotency key identifies one post: every acknowledged attempt returns its id. An attempt with an
// unknown outcome may have created the post, whose id the next one returns.
func keyModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return "" },
		Step: func(state, input, _ any) (bool, any) {
			o, id := input.(history.Operation), state.(string)
			if o.Outcome == history.Unknown {
				return true, id
			}
			return id == "" || id == o.ID, o.ID
		},
		Equal: func(a, b any) bool { return a == b },
	}
}
