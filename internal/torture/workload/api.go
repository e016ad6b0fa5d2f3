// Package workload drives the service through its public API and records what clients did and observed.
package workload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// callTime bounds one request. It is above the deadlines of the service, so most failures are responses of the service.
const callTime = 10 * time.Second

// errRefused means that the service refused the request, which had no effect.
var errRefused = errors.New("refused")

// API calls the service at one of several addresses. A request goes to any of them.
type API struct {
	// Endpoints returns the base URLs of the API processes that are expected to run.
	Endpoints func() []string
	http      http.Client
}

// NewAPI returns an API over the addresses that endpoints returns at each call.
func NewAPI(endpoints func() []string) *API {
	return &API{Endpoints: endpoints, http: http.Client{Timeout: callTime}}
}

// endpoint picks an address. Different choices reach different processes.
func (a *API) endpoint(choice uint64) string {
	all := a.Endpoints()
	return all[choice%uint64(len(all))]
}

// call executes an operation and decodes its data. After an error that wraps errRefused the operation had no effect;
// after any other error the effect is unknown.
func (a *API) call(ctx context.Context, choice uint64, token, query string, variables map[string]any, into any) error {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.endpoint(choice)+"/graphql", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("create the request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := a.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, 16<<20))
	if err != nil {
		return err
	}
	return decode(response.StatusCode, raw, into)
}

func decode(status int, raw []byte, into any) error {
	var answer struct {
		Data   map[string]json.RawMessage
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return fmt.Errorf("status %d: %.200s", status, raw)
	}
	if len(answer.Errors) > 0 {
		e := answer.Errors[0]
		switch e.Extensions.Code {
		case "BAD_USER_INPUT", "UNAUTHENTICATED", "FORBIDDEN", "NOT_FOUND", "RATE_LIMITED", "GRAPHQL_VALIDATION_FAILED", "COMPLEXITY_LIMIT_EXCEEDED":
			return fmt.Errorf("%w: %s: %s", errRefused, e.Extensions.Code, e.Message)
		}
		return fmt.Errorf("%s: %s", e.Extensions.Code, e.Message)
	}
	for _, field := range answer.Data {
		var payload struct {
			UserErrors []struct{ Code, Message string }
		}
		if json.Unmarshal(field, &payload) == nil && len(payload.UserErrors) > 0 {
			return fmt.Errorf("%w: %s: %s", errRefused, payload.UserErrors[0].Code, payload.UserErrors[0].Message)
		}
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(raw, &struct{ Data any }{into})
}
