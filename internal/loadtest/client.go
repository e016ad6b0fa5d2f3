package loadtest

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

// client speaks GraphQL over HTTP.
type client struct {
	endpoint string
	http     *http.Client
}

func newClient(server string, connections int, timeout time.Duration) (*client, error) {
	u, err := url.Parse(server)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is no URL of a server: it looks like http://127.0.0.1:8080, without a path", server)
	}
	return &client{
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

// request is an operation, its body made once.
type request struct{ body []byte }

func newRequest(query string, variables map[string]any) request {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		panic(err) // only of values that this package makes
	}
	return request{body}
}

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 16 << 20

// errLimited is that the server limits how much clients may do.
var errLimited = errors.New("limited by the server")

// failure is an answer that is no success. Kind tells failures apart, without what is
// special about one.
type failure struct {
	kind, text string
	cause      error // of a connection that failed
}

func (f *failure) Error() string { return f.text }

func (f *failure) Unwrap() error { return f.cause }

// do carries an operation out. Into, where it is not nil, gets the data.
func (c *client) do(ctx context.Context, token string, r request, into any) error {
	_, err := c.exchange(ctx, token, r, into)
	return err
}

// exchange is [client.do] that returns the header of the answer too, if there was one.
func (c *client) exchange(ctx context.Context, token string, r request, into any) (http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, connectionFailure(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, connectionFailure(err)
	}
	if response.StatusCode == http.StatusTooManyRequests {
		return response.Header, errLimited
	}
	// An answer without errors is not taken apart where nobody asks for what is in it: that
	// would be most of the work of the test.
	if into == nil && response.StatusCode == http.StatusOK && !bytes.Contains(raw, []byte(`"code"`)) && !bytes.Contains(raw, []byte(`"errors"`)) {
		return response.Header, nil
	}
	return response.Header, parse(response.StatusCode, raw, into)
}

func parse(status int, raw []byte, into any) error {
	var answer struct {
		Data   map[string]json.RawMessage
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		kind := fmt.Sprintf("status %d", status)
		return &failure{kind: kind, text: fmt.Sprintf("%s: %.200s", kind, bytes.TrimSpace(raw))}
	}
	for _, e := range answer.Errors {
		return coded(e.Extensions.Code, e.Message)
	}
	for _, field := range answer.Data {
		var payload struct {
			UserErrors []struct{ Code, Message string }
		}
		if json.Unmarshal(field, &payload) == nil && len(payload.UserErrors) > 0 {
			return coded(payload.UserErrors[0].Code, payload.UserErrors[0].Message)
		}
	}
	if into == nil {
		return nil
	}
	whole := struct{ Data any }{into}
	return json.Unmarshal(raw, &whole)
}

func coded(code, message string) error {
	if code == "RATE_LIMITED" {
		return errLimited
	}
	return &failure{kind: code, text: code + ": " + message}
}

func connectionFailure(err error) error {
	kind := "connection failed"
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		kind = "no answer in time"
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err
	}
	return &failure{kind, kind + ": " + err.Error(), err}
}

// kindOf names a failure in a report.
func kindOf(err error) string {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.kind
	}
	return err.Error()
}
