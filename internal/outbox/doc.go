// Package outbox defines what the store and the worker share: the entries of an outbox, and their deliveries to
// partitions. It does no I/O.
package outbox
