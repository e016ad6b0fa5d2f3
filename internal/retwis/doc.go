// Package retwis holds what every other package agrees on: users, posts,
// timelines, their ids and cursors, the rules for names and texts, and the
// errors a client may see. It does no I/O.
package retwis
