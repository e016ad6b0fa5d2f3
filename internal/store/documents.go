package store

import (
	"context"
	"encoding/hex"
	"fmt"

	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/store/rdb"
	"retwis/internal/store/script"
)

// Documents manages GraphQL documents that clients name by their hash.
type Documents struct{ core }

// Document returns a stored document by its SHA-256 in hexadecimal digits, or [retwis.ErrNotFound]. It renews the
// TTL.
func (s *Documents) Document(ctx context.Context, hash string) (string, error) {
	p := s.partitionOf(hash)
	text, err := s.db.Do(ctx, rdb.Call{
		Script: script.FindDocument,
		Keys:   []string{p.Document(hash), p.Documents()},
		Args:   []any{hash, int(s.options.DocumentTTL.Seconds())},
	}).Text()
	if err != nil {
		return "", fmt.Errorf("find a document: %w", err)
	}
	if text == "" {
		return "", retwis.ErrNotFound
	}
	return text, nil
}

// StoreDocument stores a document until [Options.DocumentTTL] after its last use. If there are too many documents, it
// deletes the least recently used ones; if its holder has stored more than a quarter of them, it deletes those
// that this one stored first.
func (s *Documents) StoreDocument(ctx context.Context, holder ratelimit.Key, hash, text string) error {
	p := s.partitionOf(hash)
	most := max(1, s.options.Documents/len(s.db.Partitions()))
	err := s.db.Do(ctx, rdb.Call{
		Script: script.StoreDocument,
		Keys:   []string{p.Document(hash), p.Documents(), p.DocumentsOf(holder)},
		Args:   []any{hash, text, int(s.options.DocumentTTL.Seconds()), most, max(1, most/4), p.Prefix(rdb.DocumentKeys)},
	}).Err()
	if err != nil {
		return fmt.Errorf("store a document: %w", err)
	}
	return nil
}

// partitionOf returns the partition of a document. Hashes spread evenly.
func (s *Documents) partitionOf(hash string) rdb.Partition {
	number := 0
	if b, err := hex.DecodeString(hash[:min(len(hash), 4)]); err == nil {
		for _, digit := range b {
			number = number<<8 | int(digit)
		}
	}
	return s.db.Partition(number % len(s.db.Partitions()))
}
