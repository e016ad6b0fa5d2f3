package rdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"retwis/internal/retwis"
)

// Text returns a field of a reply of HMGET or a script, empty if it is missing.
func Text(field any) string {
	s, _ := field.(string)
	return s
}

// Number parses a whole number that HMGET or a script returned as text, 0 if it is missing.
func Number(field any) int64 {
	n, _ := strconv.ParseInt(Text(field), 10, 64)
	return n
}

// Score parses a score that a script returned.
func Score(field any) int64 {
	f, _ := strconv.ParseFloat(Text(field), 64)
	return int64(f)
}

// UserID parses a reply that is a user id.
func UserID(s string, err error) (retwis.UserID, error) {
	if err != nil {
		return 0, err
	}
	return retwis.ParseUserID(s)
}

// UserIDs parses ids separated by spaces.
func UserIDs(s string) ([]retwis.UserID, error) { return ids(strings.Fields(s), retwis.ParseUserID) }

// UserMembers parses the members of a set of user ids.
func UserMembers(members []string) ([]retwis.UserID, error) { return ids(members, retwis.ParseUserID) }

// PostIDs parses post ids that are separated by spaces.
func PostIDs(s string) ([]retwis.PostID, error) { return ids(strings.Fields(s), retwis.ParsePostID) }

// TagIDs parses ids of hashtags that are separated by spaces.
func TagIDs(s string) ([]retwis.TagID, error) { return ids(strings.Fields(s), retwis.ParseTagID) }

func ids[T any](fields []string, parse func(string) (T, error)) ([]T, error) {
	var ids []T
	for _, field := range fields {
		id, err := parse(field)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Element parses an entry of a list. It returns the zero value for [ListComplete].
func Element(s string) (retwis.Element, error) {
	if s == ListComplete {
		return retwis.Element{}, nil
	}
	return retwis.ParseElement(s)
}

// Indexes parses indexes into a list of a length, which count from 1 in a reply and from 0 here. It ignores others.
func Indexes(reply any, length int) []int {
	fields, _ := reply.([]any)
	indexes := make([]int, 0, len(fields))
	for _, field := range fields {
		if i, ok := field.(int64); ok && i >= 1 && i <= int64(length) {
			indexes = append(indexes, int(i-1))
		}
	}
	return indexes
}

// Elements parses the elements of a reply, which must hold no marks.
func Elements(reply any) ([]retwis.Element, error) {
	entries, _ := reply.([]any)
	elements := make([]retwis.Element, len(entries))
	for i, e := range entries {
		var err error
		if elements[i], err = retwis.ParseElement(Text(e)); err != nil {
			return nil, err
		}
	}
	return elements, nil
}

// ChangeID parses the id of an entry of the changes stream.
func ChangeID(id string) (retwis.ChangeID, error) {
	millis, seq, _ := strings.Cut(id, "-")
	m, err := strconv.ParseInt(millis, 10, 64)
	if err != nil {
		return retwis.ChangeID{}, fmt.Errorf("stream id %q: %w", id, err)
	}
	n, err := strconv.ParseInt(seq, 10, 64)
	if err != nil {
		return retwis.ChangeID{}, fmt.Errorf("stream id %q: %w", id, err)
	}
	return retwis.ChangeID{Millis: m, Seq: n}, nil
}

// InfoField returns a field of a reply of INFO or CLUSTER INFO, empty if it is missing.
func InfoField(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// transient matches Redis errors after which the same request may succeed: the request is valid, and the
// server or the cluster is temporarily unavailable.
var transient = regexp.MustCompile(`\b(CLUSTERDOWN|LOADING|READONLY|MOVED|ASK|TRYAGAIN|NOSCRIPT|OOM|MASTERDOWN|BUSY|NOREPLICAS|MISCONF|NOAUTH|WRONGPASS|NOPERM|max number of clients|non local key|slot)\b`)

// Answered reports whether err is an error reply of a script or command, as opposed to a temporary failure of
// the connection, the server or the cluster.
func Answered(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && !errors.Is(err, redis.Nil) && !transient.MatchString(reply.Error())
}

// Seconds after which a client should retry.
const (
	retryAfterOutage = 1
	retryAfterFull   = 5 // an operator has to free memory or disk space
)

// full matches the words of Redis errors about a lack of memory or disk space.
var full = regexp.MustCompile(`\b(OOM|MISCONF)\b`)

// Unavailable returns what a client sees of a transient failure: one of the connection, the server or the cluster. It
// returns nil for any other error.
func Unavailable(err error) *retwis.Error {
	if err == nil || errors.Is(err, context.Canceled) {
		return nil
	}
	var reply redis.Error
	var network net.Error
	switch {
	case errors.Is(err, retwis.ErrNotReplicated):
	case errors.As(err, &reply) && full.MatchString(reply.Error()):
		return retwis.Unavailable(retryAfterFull)
	case errors.As(err, &reply) && transient.MatchString(reply.Error()):
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted):
	case strings.Contains(err.Error(), noNodes):
	default:
		return nil
	}
	return retwis.Unavailable(retryAfterOutage)
}

// noNodes is the text of the driver's error, which it does not export, of a cluster without a node that answers.
const noNodes = "redis: cluster has no nodes"
