package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/cost"
)

// wireParams are the parameters of a GraphQL request as clients send them.
type wireParams struct {
	Query         *string        `json:"query"`
	DocumentID    *string        `json:"documentId"`
	OperationName string         `json:"operationName"`
	Variables     map[string]any `json:"variables"`
	Extensions    map[string]any `json:"extensions"`
}

var errNoQuery = errors.New("the request has neither a query nor a documentId")

// Limits of a request.
const (
	MaxBody   = 256 << 10 // bytes of a request, and of a websocket message
	maxValues = 5_000     // JSON values, nested ones included

	maxExtensions = 20 // JSON values in the extensions, nested ones included; clients send up to 7
	maxParameters = 20 // in a query string, also unknown ones
	maxKeys       = 20 // of the object, also unknown ones
)

// DecodeParams reads the parameters from a JSON object. The client is shown its errors.
func DecodeParams(body []byte) (*graphql.RawParams, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("the request is not UTF-8")
	}
	switch trimmed := bytes.TrimLeft(body, " \t\r\n"); {
	case len(trimmed) == 0:
		return nil, errors.New("the request is empty")
	case trimmed[0] == '[':
		return nil, errors.New("batches are not supported: send one operation per request")
	case trimmed[0] != '{':
		return nil, errors.New("the request is not a JSON object")
	}
	if err := checkValues(body); err != nil {
		return nil, err
	}
	var p wireParams
	if err := DecodeJSON(body, &p, "query", "documentId", "operationName", "variables", "extensions"); err != nil {
		return nil, err
	}
	if err := checkExtensions(p.Extensions); err != nil {
		return nil, err
	}
	// A persisted query is named by its hash in the extensions.
	if p.Query == nil && p.DocumentID == nil && p.Extensions == nil {
		return nil, errNoQuery
	}
	params := &graphql.RawParams{
		OperationName: p.OperationName,
		Variables:     p.Variables,
		Extensions:    p.Extensions,
	}
	if p.Query != nil {
		params.Query = *p.Query
	}
	if p.DocumentID != nil {
		setDocumentID(params, *p.DocumentID)
	}
	return params, nil
}

// decodeQuery reads the parameters from the query string of a GET request. The client is
// shown its errors.
func decodeQuery(raw string) (*graphql.RawParams, error) {
	if strings.Count(raw, "&") >= maxParameters {
		return nil, fmt.Errorf("the query string has more than %d parameters", maxParameters)
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, errors.New("the query string is malformed")
	}
	for name, given := range values {
		if len(given) > 1 {
			return nil, fmt.Errorf("the parameter %s is given twice", shortened(name))
		}
	}
	params := &graphql.RawParams{
		Query:         values.Get("query"),
		OperationName: values.Get("operationName"),
	}
	for name, into := range map[string]*map[string]any{
		"variables":  &params.Variables,
		"extensions": &params.Extensions,
	} {
		text := values.Get(name)
		if text == "" {
			continue
		}
		if err := checkValues([]byte(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := DecodeJSON([]byte(text), into); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := checkExtensions(params.Extensions); err != nil {
		return nil, err
	}
	if values.Has("documentId") {
		setDocumentID(params, values.Get("documentId"))
	}
	if !values.Has("query") && params.Extensions == nil {
		return nil, errNoQuery
	}
	return params, nil
}

// documentIDExtension is the extension of a request that carries its documentId.
const documentIDExtension = "documentId"

func setDocumentID(params *graphql.RawParams, id string) {
	if params.Extensions == nil {
		params.Extensions = map[string]any{}
	}
	params.Extensions[documentIDExtension] = id
}

// checkExtensions refuses extensions with many values. Unlike those of variables, they are in no price.
func checkExtensions(extensions map[string]any) error {
	if cost.CountValues(extensions, maxExtensions+1)-1 > maxExtensions { // the object itself is no value among them
		return fmt.Errorf("the extensions contain more than %d values", maxExtensions)
	}
	return nil
}

// checkValues refuses JSON with so many values that decoding and validating them would take
// longer than most operations. No argument takes a list of more than a hundred.
func checkValues(text []byte) error {
	values, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && (c == ',' || c == '[' || c == '{'):
			values++
		}
	}
	if values > maxValues {
		return fmt.Errorf("the request contains more than %d values", maxValues)
	}
	return nil
}

// DecodeJSON decodes one JSON value and refuses anything after it. Numbers keep their
// digits: ids and cursors may exceed the precision of a float64. Keys are compared with
// their case, and two equal keys of an object are refused; known are the keys that the value
// may have. The client is shown its errors.
func DecodeJSON(text []byte, into any, known ...string) error {
	if err := checkKeys(text, known); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err := d.Decode(into)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		return errors.New("there is more than one JSON value")
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return fmt.Errorf("%s is not allowed here", wrong.Value)
		}
		return fmt.Errorf("%s cannot be of type %s", wrong.Field, wrong.Value)
	}
	return errors.New("the JSON is malformed")
}
