package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Bounds of a people search in one partition.
const (
	foundPerPartition   = 50
	entriesPerPartition = 500 // read to find users with several words
)

// searchWords returns the words of a text as scripts take them.
func searchWords(text string) string { return strings.Join(retwis.SearchWords(text), " ") }

// FindUsers returns up to count users whose names match a query, the best matches first: a username that is the query,
// display names with the words of the query and no others, names with all of its words, then names with words that
// begin with those of the query. Users of one rank are in the order of their usernames. Where a great many users match,
// the search looks at some of them only.
func (s *Accounts) FindUsers(ctx context.Context, query string, count int) ([]*retwis.User, error) {
	ids, err := s.matches(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("find users by %q: %w", query, err)
	}
	users, err := s.Users(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("find users by %q: %w", query, err)
	}
	users = slices.DeleteFunc(users, func(user *retwis.User) bool { return user == nil || user.BeingDeleted })
	rank := ranking(query)
	slices.SortFunc(users, func(a, b *retwis.User) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(retwis.FoldUsername(a.Username), retwis.FoldUsername(b.Username)))
	})
	return users[:min(count, len(users))], nil
}

// matches returns users who may match a query, each once.
func (s *Accounts) matches(ctx context.Context, query string) ([]retwis.UserID, error) {
	var ids []retwis.UserID
	if name := usernameOf(query); retwis.IsUsername(name) {
		id, err := s.idByName(ctx, name)
		if err != nil && !errors.Is(err, retwis.ErrNotFound) {
			return nil, err
		}
		if err == nil {
			ids = append(ids, id)
		}
	}
	words := retwis.SearchWords(query)
	if len(words) == 0 {
		return ids, nil
	}
	calls := make([]rdb.Call, len(s.db.Partitions()))
	for i, p := range s.db.Partitions() {
		calls[i] = rdb.Call{Script: script.FindUsers, Keys: []string{p.SearchWords()}, Args: []any{p.Prefix(rdb.AccountKeys), foundPerPartition, entriesPerPartition}}
		for _, word := range words {
			calls[i].Args = append(calls[i].Args, word)
		}
	}
	for _, result := range s.db.DoAll(ctx, calls) {
		found, err := result.StringSlice()
		if err != nil {
			return nil, err
		}
		for _, text := range found {
			id, err := retwis.ParseUserID(text)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(ids[:min(1, len(ids))], id) {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// usernameOf returns the username that a query may be.
func usernameOf(query string) string { return strings.TrimPrefix(strings.TrimSpace(query), "@") }

// ranking returns a function that rates how well a user matches a query. Lower is better.
func ranking(query string) func(*retwis.User) int {
	name, words := retwis.FoldUsername(usernameOf(query)), retwis.SearchWords(query)
	return func(user *retwis.User) int {
		display := retwis.SearchWords(user.DisplayName)
		all := slices.Concat(display, retwis.SearchWords(user.Username))
		switch {
		case retwis.FoldUsername(user.Username) == name:
			return 0
		case slices.Equal(display, words):
			return 1
		case !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(all, word) }):
			return 2
		default:
			return 3
		}
	}
}
