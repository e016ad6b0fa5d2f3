// Package auth decides who somebody is: it registers accounts, checks passwords, opens
// and ends sessions, and carries the viewer and the session cookie in a context.
package auth
