package httpapi

import (
	"strings"
	"testing"
)

func TestNegotiate_SelectsTheMediaType(t *testing.T) {
	tests := []struct {
		accept string
		want   string // empty if none is acceptable
	}{
		{"", mediaJSON},
		{"*/*", mediaJSON},
		{"application/*", mediaJSON},
		{"application/json", mediaJSON},
		{"application/graphql-response+json", mediaGraphQL},
		{"Application/GraphQL-Response+JSON", mediaGraphQL},
		{"application/graphql-response+json, application/json;q=0.9", mediaGraphQL},
		{"application/graphql-response+json;q=0.5, application/json", mediaJSON},
		{"application/json, application/graphql-response+json", mediaGraphQL},
		{"application/graphql-response+json, */*", mediaGraphQL},
		{"application/graphql-response+json;q=0, */*", mediaJSON},
		{"application/json;q=0, */*", mediaGraphQL},
		{"application/*;q=0.1, application/json;q=0.2", mediaJSON},
		{"text/html, application/xhtml+xml, */*;q=0.8", mediaJSON},
		{"application/json; charset=utf-8", mediaJSON},
		{"application/json; charset=UTF-8; q=1", mediaJSON},
		{"application/json; charset=latin1", ""},
		{"application/json; charset*0=utf; charset*1=-8", ""},
		{"application/json; charset*=utf-8''utf-8", ""},
		{"application/json" + strings.Repeat(" ", 250), ""},
		{"text/html", ""},
		{"text/*", ""},
		{"application/json;q=0", ""},
		{"application/json;q=2", ""},
		{"application/json;q=x", ""},
		{"/", ""},
		{"text/event-stream", ""},
		{strings.Repeat("a/b,", maxRanges-1) + "application/json", mediaJSON},
		{strings.Repeat("a/b,", maxRanges) + "application/json", ""},
		{"a/" + strings.Repeat("b", maxAcceptBytes-18) + ",application/json", mediaJSON},
		{"a/" + strings.Repeat("b", maxAcceptBytes-17) + ",application/json", ""},
	}
	for _, tt := range tests {
		t.Run(tt.accept, func(t *testing.T) {
			got, ok := negotiate([]string{tt.accept})
			if got != tt.want || ok != (tt.want != "") {
				t.Errorf("got %q, %v", got, ok)
			}
		})
	}
	if got, _ := negotiate([]string{"text/html", "application/json"}); got != mediaJSON {
		t.Errorf("of two headers: got %q", got)
	}
}

func FuzzNegotiate(f *testing.F) {
	f.Add("application/json;q=0.5, */*")
	f.Add(`text/plain; a="b,c"`)
	f.Fuzz(func(t *testing.T, accept string) {
		got, ok := negotiate([]string{accept})
		if ok != (got == mediaJSON || got == mediaGraphQL) {
			t.Errorf("got %q, %v", got, ok)
		}
	})
}
