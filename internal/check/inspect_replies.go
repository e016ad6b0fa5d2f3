package check

import (
	"context"
	"fmt"
	"slices"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// inspectReplies verifies that the replies of a post, which may have been deleted, are posts that answer it. Missing ones
// are found by their authors: see inspectOwnReplies.
func (i inspector) inspectReplies(ctx context.Context, s subject) (inspection, error) {
	var result inspection
	r, err := i.db.RepliesRecord(ctx, s.answered)
	if err != nil {
		return result, err
	}
	for _, entry := range r.Foreign {
		result.add(replyFinding(ReplyExtra, s.answered, entry, "hold the entry %q, which is not a post id with the right score", entry))
	}
	ids := make([]retwis.PostID, 0, len(r.Held))
	for id := range r.Held {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	records, err := i.db.PostRecords(ctx, ids)
	if err != nil {
		return result, err
	}
	for n, id := range ids {
		switch stored := records[n]; {
		case !stored.Exists || stored.Deleted || stored.ReplyTo != s.answered:
			result.add(replyFinding(ReplyExtra, s.answered, id.String(), "hold %s, which does not answer it", id))
		case r.Held[id] && stored.Answered != 0:
			result.add(replyFinding(ReplyExtra, s.answered, id.String(), "hold %s of another user among those of its author", id))
		}
	}
	return result, nil
}

// inspectOwnReplies finds replies of a user, of those on the profile, that the replies of the posts answered lack.
func (i inspector) inspectOwnReplies(ctx context.Context, records map[retwis.PostID]record.Post, result *inspection) error {
	var replies []record.Reply
	for id, stored := range records {
		if stored.Exists && !stored.Deleted && stored.ReplyTo != 0 {
			replies = append(replies, record.Reply{ID: id, To: stored.ReplyTo})
		}
	}
	if len(replies) == 0 {
		return nil
	}
	lost, err := i.db.LostReplies(ctx, replies)
	if err != nil {
		return err
	}
	for _, reply := range lost {
		result.add(replyFinding(ReplyMissing, reply.To, reply.ID.String(), "lack %s", reply.ID))
	}
	return nil
}

func replyFinding(kind Kind, to retwis.PostID, entry, format string, args ...any) Finding {
	return Finding{
		Kind: kind, Post: to, answered: to, detail: entry, transient: true,
		Text: fmt.Sprintf("the replies of post %s ", to) + fmt.Sprintf(format, args...),
	}
}
