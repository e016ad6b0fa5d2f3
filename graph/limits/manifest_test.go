package limits_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"retwis/graph/limits"
)

func TestParseManifest_ReadsBothFormats(t *testing.T) {
	t.Parallel()
	for _, manifest := range []string{
		`{"one": "{ a }", "two": "{ b }"}`,
		`{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [
			{"id": "one", "name": "A", "type": "query", "body": "{ a }"}, {"id": "two", "name": "B", "type": "query", "body": "{ b }"}]}`,
	} {
		byID, err := limits.ParseManifest([]byte(manifest))
		if diff := cmp.Diff(map[string]string{"one": "{ a }", "two": "{ b }"}, byID); diff != "" || err != nil {
			t.Errorf("%v: %s", err, diff)
		}
	}
}

func TestParseManifest_ReportsBadManifests(t *testing.T) {
	t.Parallel()
	bad := map[string]string{
		`[]`:            "the manifest must be a JSON object of documents by id",
		`{"a": 1}`:      "the manifest must be a JSON object of documents by id",
		`{"a": "{ b }"`: "the manifest must be a JSON object of documents by id",
		``:              "the manifest must be a JSON object of documents by id",
		`{}`:            "the manifest contains no document",
		`{"": "{ a }"}`: "a document has no id",
		`{"format": "apollo-persisted-query-manifest", "version": 2, "operations": []}`:                                                   "version 2: want",
		`{"format": "apollo-persisted-query-manifest", "version": 1, "operations": []}`:                                                   "the manifest contains no document",
		`{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id": "a", "body": "x"}, {"id": "a", "body": "y"}]}`: "duplicate id a",
	}
	for _, manifest := range slices.Sorted(maps.Keys(bad)) {
		if _, err := limits.ParseManifest([]byte(manifest)); err == nil || !strings.Contains(err.Error(), bad[manifest]) {
			t.Errorf("%s: got %v, want %s", manifest, err, bad[manifest])
		}
	}
}
