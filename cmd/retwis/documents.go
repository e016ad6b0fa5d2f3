package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"retwis/graph"
	"retwis/graph/limits"
)

// documentSettings configure trusted documents.
type documentSettings struct {
	TrustedDocuments string `env:"RETWIS_TRUSTED_DOCUMENTS" placeholder:"FILE" help:"Manifest of trusted documents, which clients request by documentId: a JSON object of ids and documents, or a manifest of Apollo."`
	TrustedOnly      bool   `env:"RETWIS_TRUSTED_ONLY" help:"Refuse all documents except those of --trusted-documents."`
}

// maxManifest is the maximum size of a manifest, in bytes.
const maxManifest = 16 << 20

func (s documentSettings) check() error {
	if s.TrustedOnly && s.TrustedDocuments == "" {
		return errors.New("--trusted-only (RETWIS_TRUSTED_ONLY) refuses all documents: set --trusted-documents (RETWIS_TRUSTED_DOCUMENTS) too")
	}
	_, err := s.trusted()
	return err
}

// trusted reads and validates the documents of the manifest.
func (s documentSettings) trusted() (limits.TrustedDocuments, error) {
	if s.TrustedDocuments == "" {
		return limits.TrustedDocuments{}, nil
	}
	byID, err := readManifest(s.TrustedDocuments)
	var trusted limits.TrustedDocuments
	if err == nil {
		trusted, err = limits.TrustDocuments(graph.Schema(), byID, s.TrustedOnly)
	}
	if err != nil {
		// Errors of GraphQL end with a line break.
		err = fmt.Errorf("--trusted-documents (RETWIS_TRUSTED_DOCUMENTS) %s: %s", s.TrustedDocuments, strings.TrimSpace(err.Error()))
	}
	return trusted, err
}

func readManifest(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxManifest+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxManifest {
		return nil, fmt.Errorf("it is larger than %d bytes", maxManifest)
	}
	return limits.ParseManifest(text)
}
