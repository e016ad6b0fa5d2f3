package gqlws

// Limits of a socket.
const (
	MaxSingle     = maxSingle
	MutationGrace = mutationGrace
)
