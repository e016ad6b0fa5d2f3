// Package broadcast renders each event once for all subscriptions that receive the same bytes. Such subscriptions form a
// render group. The events of a group wait in render queues, in order for each client, and clients take turns. The render cache
// keeps the bytes for subscriptions that need them a moment later.
package broadcast
