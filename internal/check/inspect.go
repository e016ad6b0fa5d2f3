package check

import (
	"context"
	"fmt"

	"retwis/internal/record"
	"retwis/internal/retwis"
)

// inspection is what one inspection at something found, and how much there was to see.
type inspection struct {
	findings  []Finding
	timelines int
	entries   int
}

func (l *inspection) add(f Finding) { l.findings = append(l.findings, f) }

// inspectNewestUsers looks whether those whom a partition lists as its newest users are there.
func (c *checker) inspectNewestUsers(ctx context.Context, s subject) (inspection, error) {
	var l inspection
	unfit, err := c.db.UnfitNewest(ctx, s.newest)
	if err != nil {
		return l, err
	}
	for _, id := range unfit {
		l.add(Finding{
			Kind: NewestExtra, User: id, partition: s.newest, transient: true,
			Text: fmt.Sprintf("user %s is among the newest users, and the account is not in use", id),
		})
	}
	return l, nil
}

func (c *checker) records(ctx context.Context, ids []retwis.PostID) (map[retwis.PostID]record.Post, error) {
	records, err := c.db.PostRecords(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[retwis.PostID]record.Post, len(ids))
	for i, id := range ids {
		byID[id] = records[i]
	}
	return byID, nil
}

// inspectNameClaim looks whether whoever has a name bears it.
func (c *checker) inspectNameClaim(ctx context.Context, s subject) (inspection, error) {
	var l inspection
	holder, held, err := c.db.NameHolder(ctx, s.name)
	if err != nil || !held {
		return l, err
	}
	r := record.Account{}
	if holder != 0 {
		if r, err = c.db.AccountRecord(ctx, holder); err != nil {
			return l, err
		}
	}
	if holder == 0 || r.Gone || retwis.FoldUsername(r.Username) != s.name {
		l.add(Finding{
			Kind: NameTaken, what: s.name, transient: true, witness: holder.String(),
			Text: fmt.Sprintf("the name %s belongs to %s, who does not bear it", s.name, holder),
		})
	}
	return l, nil
}
