// Package server puts a GraphQL executor on the network: queries and mutations over
// HTTP, everything over websockets that speak graphql-transport-ws, health for whoever
// watches the process, and an end that loses no request.
//
// It knows nothing of the schema. The pieces of a websocket are kept apart: conn is
// frames, queue and deadlines; socket is the protocol and its state; operation is one
// run of the executor; sockets is the index of all that are open.
package server
