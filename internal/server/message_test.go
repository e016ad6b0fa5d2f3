package server

import (
	"encoding/json"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

func TestAppendResponse(t *testing.T) {
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
			got, err := appendResponse(nil, &tt.response)
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
}

func TestResponseThatHasNoJSON(t *testing.T) {
	r := graphql.Response{Extensions: map[string]any{"x": make(chan int)}}
	if _, err := appendResponse(nil, &r); err == nil {
		t.Error("encoded a channel")
	}
}

func TestAuthorizationOf(t *testing.T) {
	tests := []struct {
		payload, want string
		ok            bool
	}{
		{`{"authorization":"Bearer x"}`, "Bearer x", true},
		{`{"Authorization":"Bearer x"}`, "Bearer x", true},
		{`{"AUTHORIZATION":"Bearer x"}`, "Bearer x", true},
		{`{"authorization":1}`, "", true},
		{`{"authorization":null}`, "", false},
		{`{"authorization":""}`, "", false},
		{`{"token":"x"}`, "", false},
		{`{}`, "", false},
		{``, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.payload, func(t *testing.T) {
			got, ok := authorizationOf(json.RawMessage(tt.payload))
			if got != tt.want || ok != tt.ok {
				t.Errorf("got %q, %v", got, ok)
			}
		})
	}
}

func FuzzParseMessage(f *testing.F) {
	f.Add([]byte(`{"type":"subscribe","id":"1","payload":{"query":"{hello}","variables":{"a":1}}}`))
	f.Add([]byte(`{"type":"connection_init","payload":{"authorization":"Bearer x"}}`))
	f.Add([]byte(`[{}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseMessage(text)
		if err != nil {
			if len(shorten("Invalid message: "+err.Error())) > maxCloseReason {
				t.Errorf("reason is too long: %v", err)
			}
			return
		}
		switch m.Type {
		case "subscribe":
			if params, err := decodeParams(m.Payload); err == nil && params == nil {
				t.Error("no parameters and no error")
			}
			op := newOperation(nil, *m.ID)
			if reply := completeMessage(op.wireID); !json.Valid(reply) {
				t.Errorf("reply is no JSON: %s", reply)
			}
		case "ping":
			if reply := pongMessage(m.Payload); !json.Valid(reply) {
				t.Errorf("reply is no JSON: %s", reply)
			}
		case "connection_init":
			authorizationOf(m.Payload)
		}
	})
}
