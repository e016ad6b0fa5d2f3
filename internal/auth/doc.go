// Package auth authenticates users: it registers accounts, checks passwords, opens and ends
// sessions, and carries the identity of the caller and its request in a context.
package auth
