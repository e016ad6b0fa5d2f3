// Package server serves a GraphQL executor over HTTP, websockets and server-sent events. It composes the handlers of its
// subpackages, answers health checks, reports metrics, and stops without losing a request. It is independent of the
// schema.
//
// Package httpapi answers queries and mutations over HTTP; gqlws and gqlsse serve
// websockets and event streams. gqlws and gqlsse send events through package broadcast and
// register their connections in package clients. Package wsconn implements a websocket
// connection, and package operation runs operations for all of them.
package server
