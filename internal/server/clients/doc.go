// Package clients tracks long-lived connections, which are websockets and event streams.
// It authenticates them, limits how many there are, disconnects those whose session has
// ended, and drains them when the server stops.
package clients
