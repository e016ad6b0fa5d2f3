// Package gqlws serves GraphQL operations over websockets by the protocol
// graphql-transport-ws, as the graphql-ws library defines it.
package gqlws
