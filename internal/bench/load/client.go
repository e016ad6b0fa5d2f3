package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client sends GraphQL operations over HTTP.
type Client struct {
	endpoint string
	http     *http.Client
	plain    bool
}

// AcceptOnlyPlain makes the client ask for responses without compression.
func (c *Client) AcceptOnlyPlain() { c.plain = true }

// NewClient returns a client of a server that keeps a number of connections open. The URL of the
// server has no path.
func NewClient(server string, connections int, timeout time.Duration) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is not the URL of a server: give one like http://127.0.0.1:8080, without a path", server)
	}
	return &Client{
		endpoint: strings.TrimSuffix(server, "/") + "/graphql",
		http: &http.Client{
			Transport: &http.Transport{
				DialContext:         (&net.Dialer{Timeout: timeout}).DialContext,
				MaxIdleConns:        connections,
				MaxIdleConnsPerHost: connections,
			},
			Timeout: timeout,
		},
	}, nil
}

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Request is an operation, encoded once.
type Request struct{ body []byte }

// NewRequest returns the request for a query. The variables are of types that JSON can encode.
func NewRequest(query string, variables map[string]any) Request {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		panic(err) // a defect of the caller
	}
	return Request{body}
}

// maxResponse bounds how much of a response is read, in bytes.
const maxResponse = 16 << 20

// errLimited means that the server's rate limits refused an operation.
var errLimited = errors.New("limited by the server")

// failure is an operation that failed. Its kind groups similar failures in a report.
type failure struct {
	kind, text string
	cause      error // of a failed connection
}

func (f *failure) Error() string { return f.text }

func (f *failure) Unwrap() error { return f.cause }

// Do carries out an operation. It decodes the data into the last argument unless that is nil. GraphQL
// errors and user errors of a mutation are errors too.
func (c *Client) Do(ctx context.Context, token string, r Request, into any) error {
	_, err := c.exchange(ctx, token, r, into)
	return err
}

// exchange is [Client.Do] that also returns the header of the response, if there was one.
func (c *Client) exchange(ctx context.Context, token string, r Request, into any) (http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.plain {
		request.Header.Set("Accept-Encoding", "identity")
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, connectionFailure(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return nil, connectionFailure(err)
	}
	if response.StatusCode == http.StatusTooManyRequests {
		return response.Header, errLimited
	}
	// A response without errors is not parsed unless its data is wanted: parsing would be most of the
	// work of the test.
	if into == nil && response.StatusCode == http.StatusOK && !bytes.Contains(raw, []byte(`"code"`)) && !bytes.Contains(raw, []byte(`"errors"`)) {
		return response.Header, nil
	}
	return response.Header, parse(response.StatusCode, raw, into)
}

func parse(status int, raw []byte, into any) error {
	var response struct {
		Data   map[string]json.RawMessage
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	if err := json.Unmarshal(raw, &response); err != nil {
		kind := fmt.Sprintf("status %d", status)
		return &failure{kind: kind, text: fmt.Sprintf("%s: %.200s", kind, bytes.TrimSpace(raw))}
	}
	for _, e := range response.Errors {
		return codedFailure(e.Extensions.Code, e.Message)
	}
	for _, field := range response.Data {
		var payload struct {
			UserErrors []struct{ Code, Message string }
		}
		if json.Unmarshal(field, &payload) == nil && len(payload.UserErrors) > 0 {
			return codedFailure(payload.UserErrors[0].Code, payload.UserErrors[0].Message)
		}
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(raw, &struct{ Data any }{into})
}

func codedFailure(code, message string) error {
	if code == "RATE_LIMITED" {
		return errLimited
	}
	return &failure{kind: code, text: code + ": " + message}
}

func connectionFailure(err error) error {
	kind := "connection failed"
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		kind = "timeout"
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err
	}
	return &failure{kind, kind + ": " + err.Error(), err}
}

// kindOf returns the kind of a failure.
func kindOf(err error) string {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.kind
	}
	return err.Error()
}
