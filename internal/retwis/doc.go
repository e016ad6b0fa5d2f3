// Package retwis is the domain: users, posts, timelines, their ids and cursors, the rules
// for names and texts, and the errors that clients may see. It does no I/O.
package retwis
