package check

import (
	"context"
	"fmt"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// inspection is the result of inspecting a subject.
type inspection struct {
	findings  []Finding
	timelines int
	entries   int
}

func (result *inspection) add(f Finding) { result.findings = append(result.findings, f) }

// inspector inspects subjects, as the data of a database shows them.
type inspector struct {
	db    Database
	tally *followerTally // counts the edges of first inspections; nil to compare the edges from both ends
}

// inspect is a kind of inspection: a method of inspector.
type inspect func(inspector, context.Context, subject) (inspection, error)

// inspectNewestUsers inspects whether the newest users of a partition have active accounts.
func (i inspector) inspectNewestUsers(ctx context.Context, s subject) (inspection, error) {
	var result inspection
	unfit, err := i.db.StaleNewestUsers(ctx, s.partition)
	if err != nil {
		return result, err
	}
	for _, id := range unfit {
		result.add(Finding{
			Kind: NewestExtra, User: id, partition: s.partition, transient: true,
			Text: fmt.Sprintf("user %s is among the newest users, but the account is not active", id),
		})
	}
	return result, nil
}

// inspectPeopleSearch inspects whether the people search of a partition finds active users only,
// and by no other words than those of their names.
func (i inspector) inspectPeopleSearch(ctx context.Context, s subject) (inspection, error) {
	var result inspection
	stale, err := i.db.StaleSearchEntries(ctx, s.partition)
	if err != nil {
		return result, err
	}
	for _, entry := range stale {
		result.add(Finding{
			Kind: SearchExtra, User: entry.User, partition: s.partition, detail: entry.Text, transient: true,
			Text: fmt.Sprintf("the entry %q of the people search is not a word of an active user", entry.Text),
		})
	}
	return result, nil
}

// records returns the records of the posts and reposts of entries, by their leading ids.
func (i inspector) records(ctx context.Context, entries []retwis.Element) (map[retwis.PostID]record.Post, error) {
	ids := make([]retwis.PostID, len(entries))
	for n, e := range entries {
		ids[n] = e.ID
	}
	records, err := i.db.PostRecords(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[retwis.PostID]record.Post, len(ids))
	for n, id := range ids {
		byID[id] = records[n]
	}
	return byID, nil
}

// inspectNameClaim inspects whether the user who claims a name has that name.
func (i inspector) inspectNameClaim(ctx context.Context, s subject) (inspection, error) {
	var result inspection
	holder, held, err := i.db.NameOwner(ctx, s.name)
	if err != nil || !held {
		return result, err
	}
	var r record.AccountState
	if holder != 0 {
		if r, err = i.db.AccountState(ctx, holder); err != nil {
			return result, err
		}
	}
	if holder == 0 || r.Gone || retwis.FoldUsername(r.Username) != s.name {
		result.add(Finding{
			Kind: NameTaken, detail: s.name, transient: true, witness: holder.String(),
			Text: fmt.Sprintf("the name %s is claimed by user %s, who has another name", s.name, holder),
		})
	}
	return result, nil
}
