package store

import (
	"context"
	"encoding/hex"
	"fmt"

	"retwis/internal/retwis"
)

// Document returns a document that was kept, by its SHA-256 in hexadecimal digits, or
// [retwis.ErrNotFound]. One in use lives on.
func (s *Store) Document(ctx context.Context, hash string) (string, error) {
	p := s.ofDocument(hash)
	text, err := s.do(ctx, call{
		s.scripts.findDocument,
		[]string{p.document(hash), p.documents()},
		[]any{hash, int(s.options.DocumentTTL.Seconds())},
	}).Text()
	if err != nil {
		return "", fmt.Errorf("find a document: %w", err)
	}
	if text == "" {
		return "", retwis.ErrNotFound
	}
	return text, nil
}

// KeepDocument keeps a document for some time after it was used last. Where there are too
// many, the one unused for longest makes room.
func (s *Store) KeepDocument(ctx context.Context, hash, text string) error {
	p := s.ofDocument(hash)
	err := s.do(ctx, call{
		s.scripts.keepDocument,
		[]string{p.document(hash), p.documents()},
		[]any{hash, text, int(s.options.DocumentTTL.Seconds()), max(1, s.options.Documents/len(s.partitions)), p.documentPrefix()},
	}).Err()
	if err != nil {
		return fmt.Errorf("keep a document: %w", err)
	}
	return nil
}

// ofDocument returns the partition that keeps a document: hashes are spread evenly.
func (s *Store) ofDocument(hash string) partition {
	number := 0
	if b, err := hex.DecodeString(hash[:min(len(hash), 4)]); err == nil {
		for _, digit := range b {
			number = number<<8 | int(digit)
		}
	}
	return s.partitions[number%len(s.partitions)]
}
