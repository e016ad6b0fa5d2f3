package limits

import (
	"encoding/json"
	"errors"
	"fmt"
)

const apolloFormat = "apollo-persisted-query-manifest"

// ParseManifest reads the documents of a manifest by their ids. A manifest is a JSON object of documents by their ids, as
// relay-compiler and graphql-codegen write it, or the output of Apollo's generate-persisted-query-manifest.
func ParseManifest(manifest []byte) (map[string]string, error) {
	var apollo struct {
		Format     *string `json:"format"`
		Version    int     `json:"version"`
		Operations []struct{ ID, Body string }
	}
	var byID map[string]string
	if json.Unmarshal(manifest, &apollo) == nil && apollo.Format != nil {
		if *apollo.Format != apolloFormat || apollo.Version != 1 {
			return nil, fmt.Errorf("the manifest has the format %q, version %d: want %s, version 1",
				*apollo.Format, apollo.Version, apolloFormat)
		}
		byID = make(map[string]string, len(apollo.Operations))
		for _, operation := range apollo.Operations {
			if _, ok := byID[operation.ID]; ok {
				return nil, fmt.Errorf("duplicate id %s", operation.ID)
			}
			byID[operation.ID] = operation.Body
		}
	} else if err := json.Unmarshal(manifest, &byID); err != nil {
		return nil, fmt.Errorf(`the manifest must be a JSON object of documents by id, like {"sha256:…": "query …"}: %w`, err)
	}
	if len(byID) == 0 {
		return nil, errors.New("the manifest contains no document")
	}
	if _, ok := byID[""]; ok {
		return nil, errors.New("a document has no id")
	}
	return byID, nil
}
