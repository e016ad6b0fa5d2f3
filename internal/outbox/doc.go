// Package outbox holds what the store and the worker agree on: the entries of an
// author's queue, and their deliveries to the partitions that hold readers. It does no I/O.
package outbox
