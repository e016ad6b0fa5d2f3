package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"retwis/internal/auth"
	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/server/clients"
	"retwis/internal/server/operation"
)

const allowedMethods = "GET, POST, OPTIONS"

// ReadParams reads the operation of the request.
func (x *Exchange) ReadParams() (*graphql.RawParams, *Refusal) {
	var params *graphql.RawParams
	var err error
	switch x.R.Method {
	case http.MethodGet:
		if x.R.ContentLength != 0 {
			return nil, refuse(http.StatusBadRequest, retwis.CodeBadUserInput, "a GET request has no body: send the operation in the query string, or use POST")
		}
		x.read = len(x.R.URL.RawQuery)
		if refusal := x.admit(x.read, 0); refusal != nil { // it was charged with the header
			return nil, refusal
		}
		defer x.takeTurn(x.read).End()
		params, err = decodeQuery(x.R.URL.RawQuery)
	case http.MethodPost:
		// A body of this type needs a preflight to be sent across origins; the check of the
		// origin is a second line of defence.
		if !x.api.Origins.MayPost(x.R, x.TLS) {
			return nil, refuse(http.StatusForbidden, retwis.CodeForbidden, "this origin is not allowed to use the API")
		}
		body, release, refusal := x.readBody()
		defer release() // a refusal may wait, with all that has arrived
		x.read = len(body)
		if refusal != nil {
			return nil, refusal
		}
		if refusal := x.admit(len(body), cost.Received(len(body))); refusal != nil {
			return nil, refusal
		}
		if len(body) > cost.FreeBytes { // others are decoded as fast as their header, which had a turn
			defer x.takeTurn(len(body)).End()
		}
		params, err = DecodeParams(body)
	default:
		x.W.Header().Set("Allow", allowedMethods)
		return nil, refuse(http.StatusMethodNotAllowed, retwis.CodeBadUserInput, "use POST, or GET for queries")
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, retwis.CodeBadUserInput, "%s", err)
	}
	return params, nil
}

// admit charges the network of the client for the parameters before they are decoded. If the network has no budget, which others may have
// used up, the session is read, and its user is charged. Without budget, parameters of more than the free bytes are refused.
func (x *Exchange) admit(bytes, price int) *Refusal {
	if price == 0 && bytes <= cost.FreeBytes {
		return nil
	}
	ctx := x.R.Context()
	if !x.api.Runner.Executor.Afford(ctx) {
		if who, _, err := clients.Authenticate(ctx, x.api.Accounts, x.Credentials); err == nil {
			ctx = auth.WithIdentity(ctx, who)
		}
	}
	if err := x.api.Runner.Admit(ctx, bytes, cost.FreeBytes+1, price); err != nil {
		return &Refusal{http.StatusTooManyRequests, err}
	}
	return nil
}

// RefuseMutation refuses a mutation that was sent by GET.
func (x *Exchange) RefuseMutation() *Refusal {
	x.W.Header().Set("Allow", http.MethodPost)
	return refuse(http.StatusMethodNotAllowed, retwis.CodeBadUserInput, "GET is for queries only: use POST")
}

// readBody returns the JSON of a POST request. The returned function has to be called when it is no longer needed.
func (x *Exchange) readBody() (body []byte, release func(), refusal *Refusal) {
	release = func() {}
	media, params, err := parseMediaType(x.R.Header.Get("Content-Type"))
	if errors.Is(err, errLongMedia) {
		return nil, release, refuse(http.StatusUnsupportedMediaType, retwis.CodeBadUserInput, "%s", err)
	}
	if err != nil || media != mediaJSON {
		return nil, release, refuse(http.StatusUnsupportedMediaType, retwis.CodeBadUserInput, "the body must be %s", mediaJSON)
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return nil, release, refuse(http.StatusUnsupportedMediaType, retwis.CodeBadUserInput, "the body must be UTF-8")
	}
	if coding := x.R.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		x.W.Header().Set("Accept-Encoding", "identity")
		return nil, release, refuse(http.StatusUnsupportedMediaType, retwis.CodeBadUserInput, "the body must not be compressed")
	}
	tooLarge := func() *Refusal {
		return refuse(http.StatusRequestEntityTooLarge, retwis.CodeBadUserInput,
			"the body must not exceed %d bytes", MaxBody)
	}
	if x.R.ContentLength > MaxBody {
		x.W.Header().Set("Connection", "close") // the body will not be read
		return nil, release, tooLarge()
	}
	// A large body may arrive slowly, so few of them may arrive at once.
	arriving := http.MaxBytesReader(x.W, x.R.Body, MaxBody)
	body, err = io.ReadAll(io.LimitReader(arriving, operation.LargeRequest))
	if err == nil && len(body) == operation.LargeRequest {
		var ok bool
		if release, ok = x.api.Shares.Receive(clients.ClientOf(x.R.Context()), MaxBody); !ok {
			x.W.Header().Set("Connection", "close") // the rest will not be read
			x.api.Runner.Pay(x.R.Context(), cost.PerRequest+cost.Received(len(body)))
			return nil, release, &Refusal{http.StatusTooManyRequests, operation.RateLimited(1, "too many large requests of your network are arriving").Errors[0]}
		}
		all := bytes.NewBuffer(append(make([]byte, 0, MaxBody+bytes.MinRead), body...)) // it never grows to more than is counted
		_, err = all.ReadFrom(arriving)
		body = all.Bytes()
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return body, release, tooLarge()
	}
	if err != nil {
		return body, release, refuse(http.StatusBadRequest, retwis.CodeBadUserInput, "%s", fmt.Errorf("the body ended early: %w", err))
	}
	return body, release, nil
}
