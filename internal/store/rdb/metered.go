package rdb

import (
	"context"
	"reflect"

	"github.com/redis/go-redis/v9"

	"retwis/internal/cost"
)

// metered runs commands of an operation that has a meter. It charges them before it sends them, and what they returned
// afterwards. An operation that has to stop sends nothing more: its error becomes that of the commands.
//
// The context of run has no meter. The driver may open a connection with it, whose first commands pass the hook too. They
// belong to no operation: if they waited for units that exchanges like this one hold, none of these would ever end.
func (h *hook) metered(ctx context.Context, cmds []redis.Cmder, run func(context.Context) error) error {
	meter := cost.Of(ctx)
	sent := cost.Work{RoundTrips: 1}
	for _, cmd := range cmds {
		switch {
		case !isScript(cmd):
			sent.Commands++
		case !h.isPrepaid(cmd):
			sent.Scripts++
		}
	}
	err := meter.Add(sent)
	if err != nil {
		setErrors(cmds, err)
		return err
	}
	leave, err := cost.Enter(ctx, h.units(cmds))
	if err != nil {
		setErrors(cmds, err)
		return err
	}
	if err := meter.Err(); err != nil { // it has waited, and other exchanges of the operation have used up the budget
		leave()
		setErrors(cmds, err)
		return err
	}
	h.operations.note()
	err = run(cost.With(ctx, nil))
	leave()
	rows := 0
	for _, cmd := range cmds {
		rows += rowsOf(cmd) + h.visited(cmd)
	}
	meter.Read(rows)
	return err
}

// pieceLength returns how many commands one exchange may send.
func (h *hook) pieceLength(cmds []redis.Cmder) int {
	return pieceLength(cmds, h.unitsOf, cost.RedisPiece)
}

func (h *hook) units(cmds []redis.Cmder) int {
	sum := 0
	for _, cmd := range cmds {
		sum += h.unitsOf(cmd)
	}
	return sum
}

func (h *hook) unitsOf(cmd redis.Cmder) int {
	if !isScript(cmd) {
		return 1
	}
	if s := h.scriptOf(cmd); s != nil {
		return unitsOf(s.script, len(cmd.Args())-beforeArguments)
	}
	return cost.ScriptUnits
}

// isPrepaid reports whether a command runs a script that the price of the request includes.
func (h *hook) isPrepaid(cmd redis.Cmder) bool {
	s := h.scriptOf(cmd)
	return s != nil && s.prepaid
}

// visited returns how many rows a script has counted.
func (h *hook) visited(cmd redis.Cmder) int {
	s := h.scriptOf(cmd)
	if s == nil || !s.counts {
		return 0
	}
	reply, _ := cmd.(*redis.Cmd)
	if reply == nil {
		return 0
	}
	list, _ := reply.Val().([]any)
	if len(list) == 0 {
		return 0 // an error, or a subject that no longer exists
	}
	rows, _ := list[len(list)-1].(int64)
	return int(rows)
}

// beforeArguments is the number of words of a command before the keys and arguments of its script: EVALSHA, the script, and the number of keys.
const beforeArguments = 3

func isScript(cmd redis.Cmder) bool { return cmd.Name() == "evalsha" || cmd.Name() == "eval" }

// rowsOf returns how many values a command has read: the elements of a reply that is a list or a map. The fields of one hash
// count with their command.
func rowsOf(cmd redis.Cmder) int {
	switch cmd := cmd.(type) {
	case *redis.SliceCmd:
		return 0
	case *redis.Cmd:
		return elements(cmd.Val())
	case *redis.StringSliceCmd:
		return len(cmd.Val())
	case *redis.ZSliceCmd:
		return len(cmd.Val())
	case *redis.FloatSliceCmd:
		return len(cmd.Val())
	case *redis.StringCmd, *redis.IntCmd, *redis.StatusCmd, *redis.BoolCmd, *redis.FloatCmd:
		return 0
	}
	value := reflect.ValueOf(cmd).MethodByName("Val")
	if !value.IsValid() || value.Type().NumIn() > 0 {
		return 1
	}
	if reply := value.Call(nil)[0]; reply.Kind() == reflect.Slice || reply.Kind() == reflect.Map {
		return reply.Len()
	}
	return 0
}

func elements(reply any) int {
	list, ok := reply.([]any)
	if !ok {
		return 0
	}
	n := len(list)
	for _, element := range list {
		n += elements(element)
	}
	return n
}

func setErrors(cmds []redis.Cmder, err error) {
	for _, cmd := range cmds {
		cmd.SetErr(err)
	}
}
