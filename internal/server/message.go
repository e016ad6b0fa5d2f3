package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// subprotocol is the only one spoken: GraphQL over WebSocket, as the graphql-ws
// library defines it.
const subprotocol = "graphql-transport-ws"

// message is what clients send, checked so far that id and payload have the form that
// the type calls for.
type message struct {
	Type    string          `json:"type"`
	ID      *string         `json:"id"`
	Payload json.RawMessage `json:"payload"`
}

// parseMessage reads a message. Its errors become close reasons.
func parseMessage(text []byte) (message, error) {
	var m message
	if err := decodeJSON(text, &m); err != nil {
		return message{}, err
	}
	if bytes.Equal(m.Payload, []byte("null")) {
		m.Payload = nil
	}
	switch m.Type {
	case "connection_init", "ping", "pong":
		if len(m.Payload) > 0 && m.Payload[0] != '{' {
			return message{}, fmt.Errorf("the payload of %s is not an object", m.Type)
		}
	case "subscribe", "complete":
		switch {
		case m.ID == nil || *m.ID == "":
			return message{}, fmt.Errorf("%s needs an id", m.Type)
		case len(*m.ID) > maxOperationID:
			return message{}, fmt.Errorf("an id may have %d bytes at most", maxOperationID)
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

// The messages to clients. The id stands last, so that the rest is the same for all who
// are sent the same thing.

func ackMessage() []byte { return []byte(`{"type":"connection_ack"}`) }

func pongMessage(payload json.RawMessage) []byte {
	if len(payload) == 0 {
		return []byte(`{"type":"pong"}`)
	}
	return fmt.Appendf(nil, `{"type":"pong","payload":%s}`, payload)
}

func nextMessage(id []byte, r *graphql.Response) ([]byte, error) {
	b := make([]byte, 0, len(r.Data)+len(id)+64)
	b = append(b, `{"type":"next","payload":`...)
	b, err := appendResponse(b, r)
	if err != nil {
		return nil, err
	}
	return appendID(b, id), nil
}

func errorMessage(id []byte, errs gqlerror.List) ([]byte, error) {
	text, err := json.Marshal(errs)
	if err != nil {
		return nil, fmt.Errorf("encode errors: %w", err)
	}
	b := make([]byte, 0, len(text)+len(id)+32)
	b = append(b, `{"type":"error","payload":`...)
	return appendID(append(b, text...), id), nil
}

func completeMessage(id []byte) []byte { return appendID([]byte(`{"type":"complete"`), id) }

func appendID(b, id []byte) []byte {
	b = append(b, `,"id":`...)
	b = append(b, id...)
	return append(b, '}')
}

// authorizationOf returns the authorization of an init payload, under a key in any
// case, and whether there is one. Null and the empty string are none.
func authorizationOf(payload json.RawMessage) (value string, ok bool) {
	var fields struct {
		Authorization any `json:"authorization"` // matches in any case
	}
	if len(payload) == 0 || json.Unmarshal(payload, &fields) != nil {
		return "", false
	}
	switch v := fields.Authorization.(type) {
	case nil:
		return "", false
	case string:
		return v, v != ""
	default:
		return "", true // certainly no token
	}
}
