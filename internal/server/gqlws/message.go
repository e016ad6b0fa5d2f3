package gqlws

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"retwis/internal/server/httpapi"
	"retwis/internal/server/operation"
)

// subprotocol is the name of the protocol.
const subprotocol = "graphql-transport-ws"

// maxID is the length of an operation's id, in bytes.
const maxID = 256

// maxPingPayload is the length of the payload of a ping or a pong, in bytes: that of a control frame.
const maxPingPayload = 125

// nextHead precedes the response in a "next" message.
const nextHead = `{"type":"next","payload":`

// message is a message of a client. Its id and payload have the form that its type
// requires.
type message struct {
	Type    string          `json:"type"`
	ID      *string         `json:"id"`
	Payload json.RawMessage `json:"payload"`
}

// parseMessage reads a message. Its errors are close reasons.
func parseMessage(text []byte) (message, error) {
	var m message
	if err := httpapi.DecodeJSON(text, &m, "type", "id", "payload"); err != nil {
		return message{}, err
	}
	if bytes.Equal(m.Payload, []byte("null")) {
		m.Payload = nil
	}
	switch m.Type {
	case "connection_init", "ping", "pong":
		switch {
		case len(m.Payload) > 0 && m.Payload[0] != '{':
			return message{}, fmt.Errorf("the payload of %s is not an object", m.Type)
		case len(m.Payload) > maxPingPayload && m.Type != "connection_init":
			return message{}, fmt.Errorf("the payload of %s can have up to %d bytes", m.Type, maxPingPayload)
		}
	case "subscribe", "complete":
		switch {
		case m.ID == nil || *m.ID == "":
			return message{}, fmt.Errorf("%s needs an id", m.Type)
		case len(*m.ID) > maxID:
			return message{}, fmt.Errorf("an id can have up to %d bytes", maxID)
		case m.Type == "subscribe" && len(m.Payload) == 0:
			return message{}, errors.New("subscribe needs a payload")
		}
	case "":
		return message{}, errors.New("the type is missing")
	default:
		return message{}, errors.New("unknown type")
	}
	return m, nil
}

// The messages to clients. The id is last, so that the rest of a message is the same for all
// members of a render group. The tail of a message is the id and the closing brace.

func ackMessage() []byte { return []byte(`{"type":"connection_ack"}`) }

func pongMessage(payload json.RawMessage) []byte {
	if len(payload) == 0 {
		return []byte(`{"type":"pong"}`)
	}
	return fmt.Appendf(nil, `{"type":"pong","payload":%s}`, payload)
}

func nextMessage(tail []byte, r *graphql.Response) ([]byte, error) {
	b := make([]byte, 0, len(r.Data)+len(tail)+64)
	b, err := operation.AppendResponse(append(b, nextHead...), r)
	if err != nil {
		return nil, err
	}
	return append(b, tail...), nil
}

func errorMessage(tail []byte, errs gqlerror.List) ([]byte, error) {
	text, err := json.Marshal(errs)
	if err != nil {
		return nil, fmt.Errorf("encode errors: %w", err)
	}
	b := make([]byte, 0, len(text)+len(tail)+32)
	b = append(b, `{"type":"error","payload":`...)
	return append(append(b, text...), tail...), nil
}

func completeMessage(tail []byte) []byte { return append([]byte(`{"type":"complete"`), tail...) }

// authorizationOf returns the authorization of a connection_init payload, whose key may be
// in any case, and whether there is one. Null and the empty string are none.
func authorizationOf(payload json.RawMessage) (value string, ok bool) {
	var fields struct {
		Authorization json.RawMessage `json:"authorization"` // matches in any case
	}
	if len(payload) == 0 || json.Unmarshal(payload, &fields) != nil {
		return "", false
	}
	switch text := fields.Authorization; {
	case len(text) == 0 || bytes.Equal(text, []byte("null")):
		return "", false
	case text[0] != '"':
		return "", true // certainly no token
	default:
		err := json.Unmarshal(text, &value)
		return value, err == nil && value != ""
	}
}
