package check

import (
	"context"
	"fmt"
	"slices"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// referenceFindings returns the kinds of findings about references of a kind.
func referenceFindings(of retwis.ReferenceKind) (missing, extra Kind) {
	switch of {
	case retwis.QuoteReference:
		return QuoteMissing, QuoteExtra
	case retwis.RepostReference:
		return RepostMissing, RepostExtra
	default:
		return ReplyMissing, ReplyExtra
	}
}

// inspectReferences verifies that the references to a post, which may have been deleted, are posts or reposts that refer to it.
// The inspection of their authors finds missing ones: see inspectOwnReferences.
func (i inspector) inspectReferences(ctx context.Context, s subject) (inspection, error) {
	var result inspection
	r, err := i.db.ReferencesRecord(ctx, s.referenced)
	if err != nil {
		return result, err
	}
	to := s.referenced
	for _, entry := range r.Foreign {
		result.add(extraReference(to, entry, "hold the entry %q, which is not a post id with the right score", entry))
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
		case !stored.Exists || stored.Deleted || stored.RefersTo(to.Kind) != to.Post:
			result.add(extraReference(to, id.String(), "hold %s, which does not refer to it", id))
		case r.Held[id] && (stored.Answered != 0 || to.Kind != retwis.ReplyReference):
			result.add(extraReference(to, id.String(), "hold %s among the replies of its author", id))
		}
	}
	return result, nil
}

// inspectOwnReferences finds replies, quotes and reposts on the profile of a user that the sets of the posts they refer to lack.
func (i inspector) inspectOwnReferences(ctx context.Context, records map[retwis.PostID]record.Post, result *inspection) error {
	var all []record.Reference
	for id, stored := range records {
		for _, kind := range []retwis.ReferenceKind{retwis.ReplyReference, retwis.QuoteReference, retwis.RepostReference} {
			if to := stored.RefersTo(kind); stored.Exists && !stored.Deleted && to != 0 {
				all = append(all, record.Reference{ID: id, To: record.Referenced{Kind: kind, Post: to}})
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	lost, err := i.db.LostReferences(ctx, all)
	if err != nil {
		return err
	}
	for _, reference := range lost {
		missing, _ := referenceFindings(reference.To.Kind)
		result.add(referenceFinding(missing, reference.To, reference.ID.String(), "lack %s", reference.ID))
	}
	return nil
}

// extraReference returns the finding that the references to a post hold an entry that they should not.
func extraReference(to record.Referenced, entry, format string, args ...any) Finding {
	_, extra := referenceFindings(to.Kind)
	return referenceFinding(extra, to, entry, format, args...)
}

func referenceFinding(kind Kind, to record.Referenced, entry, format string, args ...any) Finding {
	return Finding{
		Kind: kind, Post: to.Post, referenced: to, detail: entry, transient: true,
		Text: fmt.Sprintf("the %s of post %s ", to.Kind, to.Post) + fmt.Sprintf(format, args...),
	}
}
