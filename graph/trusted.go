package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"retwis/internal/retwis"
)

// trustedDocuments are those that the service was given beforehand.
type trustedDocuments struct {
	only   bool // nothing else is run
	byID   map[string]string
	hashes map[string]bool // of their texts
}

// find returns a document by its id; that of a hash is found with its prefix or without.
func (t *trustedDocuments) find(id string) (string, bool) {
	if text, ok := t.byID[id]; ok {
		return text, true
	}
	if bare, ok := strings.CutPrefix(id, hashPrefix); ok {
		id = bare
	} else {
		id = hashPrefix + id
	}
	text, ok := t.byID[id]
	return text, ok
}

// admit refuses a document that is not trusted where only those are run.
func (t *trustedDocuments) admit(query string) *gqlerror.Error {
	if !t.only || t.hashes[hashOf(query)] {
		return nil
	}
	err := gqlerror.Errorf("only documents that this service was given beforehand are run: send the documentId of one")
	errcode.Set(err, string(retwis.CodeForbidden))
	return err
}

// TrustDocuments makes clients find these documents, by their ids; and, if so wished, no
// others. Each is validated. It is to be called before the first operation.
func (e *Executor) TrustDocuments(byID map[string]string, only bool) error {
	hashes := make(map[string]bool, len(byID))
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		text := byID[id]
		hash, isHash := strings.CutPrefix(id, hashPrefix)
		if isHash && hash != hashOf(text) {
			return fmt.Errorf("the id %s is not the SHA-256 of its document, which is %s", id, hashOf(text))
		}
		if err := e.validate(text); err != nil {
			return fmt.Errorf("the document %s: %w", id, err)
		}
		hashes[hashOf(text)] = true
	}
	e.persisted.trusted = trustedDocuments{only: only, byID: byID, hashes: hashes}
	return nil
}

func (e *Executor) validate(text string) error {
	doc, err := parseDocument(text)
	if err != nil {
		return err
	}
	if len(doc.Operations) == 0 {
		return errors.New("it holds no operation")
	}
	if errs := validator.ValidateWithRules(e.schema, doc, rules.NewDefaultRules()); len(errs) > 0 {
		return errs
	}
	return nil
}

// ParseManifest reads the documents of a manifest: a JSON object with the documents by
// their ids, as relay-compiler and graphql-codegen write it, or the one of Apollo's
// generate-persisted-query-manifest.
func ParseManifest(manifest []byte) (map[string]string, error) {
	var kind struct {
		Format     *string `json:"format"`
		Version    int     `json:"version"`
		Operations []struct{ ID, Body string }
	}
	var byID map[string]string
	if json.Unmarshal(manifest, &kind) == nil && kind.Format != nil {
		if *kind.Format != "apollo-persisted-query-manifest" || kind.Version != 1 {
			return nil, fmt.Errorf("it is a manifest of the format %q, version %d: want apollo-persisted-query-manifest, version 1", *kind.Format, kind.Version)
		}
		byID = make(map[string]string, len(kind.Operations))
		for _, operation := range kind.Operations {
			if _, twice := byID[operation.ID]; twice {
				return nil, fmt.Errorf("the id %s is there twice", operation.ID)
			}
			byID[operation.ID] = operation.Body
		}
	} else if err := json.Unmarshal(manifest, &byID); err != nil {
		return nil, fmt.Errorf(`it has to be a JSON object of documents by their ids, like {"sha256:…": "query …"}: %w`, err)
	}
	if len(byID) == 0 {
		return nil, errors.New("it names no document")
	}
	if _, ok := byID[""]; ok {
		return nil, errors.New("a document has no id")
	}
	return byID, nil
}
