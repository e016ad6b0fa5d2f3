package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"retwis/internal/retwis"
)

// ShortAccountTTL makes the store delete the record of a deleted account soon.
const ShortAccountTTL = 100 * time.Millisecond

// DeleteAccount begins the deletion of an account.
func (e *Engine) DeleteAccount(id retwis.UserID) {
	e.T.Helper()
	if err := e.Accounts.DeleteAccount(e.T.Context(), id, "x"); err != nil {
		e.T.Fatal(err)
	}
}

// NothingIsLeftOf fails the test if the database still refers to users whose accounts were
// deleted, after the grace period. It ignores idempotency keys, which expire by themselves.
func (e *Engine) NothingIsLeftOf(ids ...retwis.UserID) {
	e.T.Helper()
	client := Client(e.T, e.URL)
	var left []string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		left = left[:0]
		for _, id := range ids {
			for _, key := range Keys(e.T, client, "*"+id.String()+"*") {
				if !strings.Contains(key, ":idem:") {
					left = append(left, key)
				}
			}
		}
		if len(left) == 0 {
			break
		}
	}
	if len(left) > 0 {
		e.T.Errorf("keys of deleted accounts: %v", left)
	}
	for _, pattern := range []string{"*:following:*", "*:fans:*", "*:members", "*:listed:*", "*:lists:*", "*:likers:*"} {
		for _, key := range Keys(e.T, client, pattern) {
			members, err := client.ZRange(e.T.Context(), key, 0, -1).Result()
			if err != nil {
				e.T.Fatal(err)
			}
			for _, id := range ids {
				if slices.Contains(members, id.String()) {
					e.T.Errorf("%s holds deleted user %s", key, id)
				}
			}
		}
	}
	users, err := e.Accounts.Users(e.T.Context(), ids)
	if err != nil {
		e.T.Fatal(err)
	}
	for i, user := range users {
		if user != nil {
			e.T.Errorf("deleted user %s still exists", ids[i])
		}
	}
}

// CreateList creates a list with members.
func (e *Engine) CreateList(owner retwis.UserID, members ...retwis.UserID) retwis.ListID {
	e.T.Helper()
	list, err := e.Lists.CreateList(e.T.Context(), owner, "a list", e.Key())
	if err != nil {
		e.T.Fatal(err)
	}
	for _, member := range members {
		if err := e.Lists.AddListMember(e.T.Context(), owner, list.ID, member); err != nil {
			e.T.Fatal(err)
		}
	}
	return list.ID
}

// PastPosts is a run of an author's posts from a source, the first of them a number of hours ago.
func PastPosts(author retwis.UserID, from, count, hours int) retwis.PostImport {
	run := retwis.PostImport{Author: author, Source: "elsewhere", From: from}
	for i := range count {
		at := time.Now().Add(time.Duration(i-hours) * time.Hour)
		run.Posts = append(run.Posts, retwis.PastPost{Text: fmt.Sprintf("number %d", from+i), CreatedAt: at})
	}
	return run
}
