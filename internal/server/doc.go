// Package server puts a GraphQL executor on the network. It composes the handlers of its
// subpackages, answers health checks, reports metrics, and stops without losing a request.
// It knows nothing of the schema.
//
// Package httpapi answers queries and mutations over HTTP; gqlws and gqlsse serve
// websockets and event streams. Both of the latter send their events through package
// broadcast and are registered in package clients. Package wsconn is one websocket
// connection, and package operation runs operations for all of them.
package server
