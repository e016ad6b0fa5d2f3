package exec

import "context"

// Hooks configure how the fields of a schema are executed. Fields are named by their type and name, like
// "User.posts".
type Hooks struct {
	// Immediate names fields whose resolvers wait for nothing. They are called one after the other, without a context of
	// their own and without field interceptors.
	Immediate map[string]bool

	// Announce tells loaders the keys that the resolver of a field is going to load. Only fields whose resolvers read
	// nothing but loaders may be here: the first resolver reads all announced keys in one batch, so the resolvers run
	// sequentially, like those of Immediate.
	Announce map[string]func(ctx context.Context, object any)

	// Prefetch reads the value of a field below another one while that one is being resolved. It is keyed by the outer
	// field and the name of the inner one, and given the object of the outer one.
	Prefetch map[string]map[string]func(ctx context.Context, object any)

	// Flags marks fields. Begin is called with the flags of all fields of an operation before the first resolver of a
	// response, or of a field of a mutation.
	Flags map[string]Flags
	Begin func(ctx context.Context, flags Flags)

	// Plan is called before a plan is made, and may wait. If it fails, the operation is not executed, and the error is one of the response. The
	// returned function is called after the plan was made or given up, with the number of its fields. A small plan takes less than a millisecond.
	Plan func(ctx context.Context, small bool) (done func(fields int), err error)

	// Stopped returns why the response has to stop, or nil. Resolvers that have not begun do not run then, the data of the response is null, and
	// the error is one of the response.
	Stopped func(ctx context.Context) error

	// Added is called with a number of fields that a response resolves beyond the first thousand, each time that it has so many more, and with the number
	// of objects in an introspection. If it fails, the response stops likewise.
	Added func(ctx context.Context, fields int) error

	// Written is called while a response is being written, with its length in bytes so far, those of discarded objects included. If it
	// fails, the rest is not written, the data of the response is null, and the error is one of the response.
	Written func(ctx context.Context, length int) error
}

// Flags is a set of properties of an operation. Their meaning is up to [Hooks].
type Flags uint
