package limits

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/retwis"
)

// TrustedDocuments are documents that the service knows before any client sends them. The zero value has no trusted
// documents and allows all documents.
type TrustedDocuments struct {
	only   bool // no other document runs
	byID   map[string]string
	hashes map[string]bool // of the texts
}

// TrustDocuments returns trusted documents by their ids, after validating each. If only is set, no other document may
// run.
func TrustDocuments(schema *ast.Schema, byID map[string]string, only bool) (TrustedDocuments, error) {
	hashes := make(map[string]bool, len(byID))
	validator := NewValidator(schema, true)
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		text := byID[id]
		hash, isHash := strings.CutPrefix(id, hashPrefix)
		if isHash && hash != hashOf(text) {
			return TrustedDocuments{}, fmt.Errorf("the id %s is not the SHA-256 of its document, which is %s", id, hashOf(text))
		}
		if err := validate(validator, text); err != nil {
			return TrustedDocuments{}, fmt.Errorf("the document %s: %w", id, err)
		}
		hashes[hashOf(text)] = true
	}
	return TrustedDocuments{only: only, byID: byID, hashes: hashes}, nil
}

func validate(validator *Validator, text string) error {
	document, err := ReadDocument(text)
	if err != nil {
		return err
	}
	doc, err := document.Parse()
	if err != nil {
		return err
	}
	if errs := validator.Validate(doc); len(errs) > 0 {
		return errs
	}
	return nil
}

// find returns a document by its id. An id that is a hash may have the prefix sha256: or not.
func (t *TrustedDocuments) find(id string) (string, bool) {
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

// admit refuses a document that is not trusted, if only trusted ones may run.
func (t *TrustedDocuments) admit(query string) *gqlerror.Error {
	if !t.only || t.hashes[hashOf(query)] {
		return nil
	}
	err := gqlerror.Errorf("only trusted documents are allowed: send a documentId")
	errcode.Set(err, string(retwis.CodeForbidden))
	return err
}
