package check

import (
	"context"
	"fmt"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// inspectTagName inspects whether the hashtag that claims a name has that name.
func (i inspector) inspectTagName(ctx context.Context, s subject) (inspection, error) {
	var result inspection
	holder, held, err := i.db.TagHolder(ctx, s.name)
	if err != nil || !held {
		return result, err
	}
	var r record.Tag
	if holder != 0 {
		if r, err = i.db.TagRecord(ctx, holder); err != nil {
			return result, err
		}
	}
	switch {
	case holder == 0:
		result.add(tagFinding(s.name, 0, "the claim of the hashtag %q is malformed", s.name))
	case !r.Exists:
		result.add(tagFinding(s.name, holder, "the hashtag %q is claimed as %s, which does not exist", s.name, holder))
	case retwis.FoldTag(r.Name) != s.name:
		result.add(tagFinding(s.name, holder, "the hashtag %q is claimed as %s, which has another name", s.name, holder))
	}
	return result, nil
}

// inspectTag inspects whether a hashtag claims its name.
func (i inspector) inspectTag(ctx context.Context, s subject) (inspection, error) {
	var result inspection
	r, err := i.db.TagRecord(ctx, s.tag)
	if err == nil && r.Exists && r.Holder != s.tag {
		result.add(tagFinding(retwis.FoldTag(r.Name), s.tag, "the name of the hashtag %s, %q, is claimed as %s", s.tag, r.Name, r.Holder))
	}
	return result, err
}

// inspectTagPosts inspects the entries of the timeline of a hashtag. The inspection of their authors finds missing posts: see
// inspectOwnTags.
func (i inspector) inspectTagPosts(ctx context.Context, s subject) (inspection, error) {
	var result inspection
	list, err := i.db.TimelineRecord(ctx, retwis.TagPosts(s.tag))
	if err != nil || list.End == record.ListMissing {
		return result, err
	}
	r, err := i.db.TagRecord(ctx, s.tag)
	if err != nil {
		return result, err
	}
	if !r.Exists {
		result.add(tagFinding("", s.tag, "the hashtag %s has a timeline and no record", s.tag))
		return result, nil
	}
	records, err := i.records(ctx, list.Entries)
	if err != nil {
		return result, err
	}
	result.findings = compareNamed(list, records)
	result.entries = len(list.Entries)
	return result, nil
}

// inspectOwnTags finds posts on the profile of a user that the timelines of their hashtags lack and have not trimmed. A hashtag that
// was dropped has no timeline.
func (i inspector) inspectOwnTags(ctx context.Context, user retwis.UserID, profile map[retwis.PostID]record.Post, result *inspection) error {
	tagged := map[retwis.TagID][]retwis.Element{}
	for id, stored := range profile {
		if !stored.Exists || stored.Deleted || stored.Author != user {
			continue
		}
		for _, tag := range stored.Tags {
			tagged[tag] = append(tagged[tag], stored.Element(id))
		}
	}
	for tag, posts := range tagged {
		list, err := i.db.TimelineRecord(ctx, retwis.TagPosts(tag))
		if err != nil {
			return err
		}
		missing := missingPosts(list, map[retwis.UserID][]retwis.Element{user: posts}, i.db.Lateness())
		if len(missing) == 0 {
			continue
		}
		r, err := i.db.TagRecord(ctx, tag)
		if err != nil {
			return err
		}
		for _, m := range missing {
			if r.Exists {
				result.add(entryFinding(TagMissing, list.ID, user, m.post, "", "lacks post %s", m.post))
			}
		}
	}
	return nil
}

// tagFinding returns a finding about a hashtag and the claim of a folded name.
func tagFinding(folded string, tag retwis.TagID, format string, args ...any) Finding {
	return Finding{Kind: TagName, Timeline: retwis.TagPosts(tag), detail: folded, transient: true, Text: fmt.Sprintf(format, args...)}
}
