package operation

import (
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

func TestAppendResponse_EncodesFields(t *testing.T) {
	tests := []struct {
		name     string
		response graphql.Response
		want     string
	}{
		{"data", graphql.Response{Data: []byte(`{"a":1}`)}, `{"data":{"a":1}}`},
		{"null", graphql.Response{Data: []byte(`null`)}, `{"data":null}`},
		{"request error", graphql.Response{Errors: gqlerror.List{{Message: "no"}}}, `{"errors":[{"message":"no"}]}`},
		{"all", graphql.Response{
			Errors:     gqlerror.List{{Message: "no"}},
			Data:       []byte(`{}`),
			Extensions: map[string]any{"x": 1},
		}, `{"errors":[{"message":"no"}],"data":{},"extensions":{"x":1}}`},
		{"nothing", graphql.Response{}, `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := AppendResponse(nil, &tt.response)
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
}

func TestAppendResponse_FailsForUnencodableValues(t *testing.T) {
	r := graphql.Response{Extensions: map[string]any{"x": make(chan int)}}
	if _, err := AppendResponse(nil, &r); err == nil {
		t.Error("encoded a channel")
	}
}
