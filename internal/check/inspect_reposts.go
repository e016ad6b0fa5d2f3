package check

import (
	"context"
	"fmt"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// inspectReposts compares the reposts of a user with their records, and with the reposts on the profile.
func (i inspector) inspectReposts(ctx context.Context, user retwis.UserID, profile map[retwis.PostID]record.Post, result *inspection) error {
	held, err := i.db.RepostsOfUser(ctx, user)
	if err != nil {
		return err
	}
	add := func(field, value, format string, args ...any) {
		result.add(Finding{
			Kind: RepostOfUser, User: user, detail: field, witness: value, transient: true,
			Text: fmt.Sprintf("the reposts of user %s ", user) + fmt.Sprintf(format, args...),
		})
	}
	var fields []string
	var ids []retwis.PostID
	for field, value := range held {
		if id, err := retwis.ParsePostID(value); err == nil {
			fields, ids = append(fields, field), append(ids, id)
		} else {
			add(field, value, "hold %q for %q, which is not a post id", value, field)
		}
	}
	records, err := i.db.PostRecords(ctx, ids)
	if err != nil {
		return err
	}
	for n, stored := range records {
		if !isRepost(stored, user) || stored.Reposted.String() != fields[n] {
			add(fields[n], ids[n].String(), "hold %s, which is not a repost of post %s by the user", ids[n], fields[n])
		}
	}
	for id, stored := range profile {
		if field := stored.Reposted.String(); isRepost(stored, user) && held[field] != id.String() {
			add(field, held[field], "lack %s of post %s", id, field)
		}
	}
	return nil
}

// inspectHiddenReposters verifies that a user hides the reposts of followed users only.
func (i inspector) inspectHiddenReposters(ctx context.Context, user retwis.UserID, result *inspection) error {
	stale, err := i.db.StaleHiddenReposters(ctx, user)
	for _, reposter := range stale {
		result.add(Finding{
			Kind: HiddenReposter, User: user, detail: reposter, transient: true,
			Text: fmt.Sprintf("user %s has hidden the reposts of user %s, whom the user does not follow", user, reposter),
		})
	}
	return err
}

// isRepost reports whether a record is that of a repost by a user which was not undone.
func isRepost(stored record.Post, user retwis.UserID) bool {
	return stored.Exists && !stored.Deleted && stored.Author == user && stored.Reposted != 0
}
