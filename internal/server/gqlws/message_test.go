package gqlws

import (
	"encoding/json"
	"testing"

	"retwis/internal/server/httpapi"
)

func TestAuthorizationOf_ReadsThePayload(t *testing.T) {
	tests := []struct {
		payload, want string
		ok            bool
	}{
		{`{"authorization":"Bearer x"}`, "Bearer x", true},
		{`{"Authorization":"Bearer x"}`, "Bearer x", true},
		{`{"AUTHORIZATION":"Bearer x"}`, "Bearer x", true},
		{`{"authorization":1}`, "", true},
		{`{"authorization":["Bearer x"]}`, "", true},
		{`{"authorization":"Bearer \u0078"}`, "Bearer x", true},
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
			if len("Invalid message: "+err.Error()) > 4096 {
				t.Errorf("the reason is too long: %v", err)
			}
			return
		}
		switch m.Type {
		case "subscribe":
			if params, err := httpapi.DecodeParams(m.Payload); err == nil && params == nil {
				t.Error("no parameters and no error")
			}
			op := newSubscriber(nil, *m.ID)
			if reply := completeMessage(op.tail); !json.Valid(reply) {
				t.Errorf("the reply is not JSON: %s", reply)
			}
		case "ping":
			if reply := pongMessage(m.Payload); !json.Valid(reply) {
				t.Errorf("the reply is not JSON: %s", reply)
			}
		case "connection_init":
			authorizationOf(m.Payload)
		}
	})
}
