// Package broadcast renders the events of subscriptions once for all that are sent the
// same bytes. Such subscriptions form a render group. The events of a group wait in render
// queues, in order, and the render cache keeps the bytes for subscriptions that need them a
// moment later.
package broadcast
