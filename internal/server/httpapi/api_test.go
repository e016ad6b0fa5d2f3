package httpapi_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"retwis/internal/cost"
	"retwis/internal/retwis"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/servertest"
)

const (
	acceptNew = "Accept: application/graphql-response+json"
	acceptOld = "Accept: application/json"
)

// Each case is a rule of the GraphQL-over-HTTP specification, with its id in the server audits
// of the graphql-http package.
func TestAPI_FollowsGraphQLOverHTTP(t *testing.T) {
	const typename = `{"query":"{ __typename }"}`
	get := func(values ...string) string {
		q := url.Values{}
		for i := 0; i < len(values); i += 2 {
			q.Set(values[i], values[i+1])
		}
		return q.Encode()
	}
	type audit struct {
		id, query, body string
		headers         []string
		status          int
		media           string // of the response; not checked if empty
		contains, lacks string // of its body
	}
	post := func(id, body string, status int, headers ...string) audit {
		return audit{id: id, body: body, headers: append(headers, servertest.JSON), status: status}
	}
	tests := []audit{
		{id: "22EB", body: typename, headers: []string{servertest.JSON, acceptNew}, status: 200, media: "application/graphql-response+json"},
		{id: "4655", body: typename, headers: []string{servertest.JSON, acceptOld}, status: 200, media: "application/json"},
		{id: "47DE", body: typename, headers: []string{servertest.JSON, "Accept: */*"}, status: 200, media: "application/json"},
		{id: "80D8", body: typename, headers: []string{servertest.JSON}, status: 200, media: "application/json"},
		post("BF61", `{"query":"{ __type(name: \"Run🏃Swim🏊\") { name } }"}`, 200, "Content-Type: application/json; charset=utf-8"),
		{id: "5A70", query: get("query", "{ __typename }"), status: 200},
		{id: "9C48", query: get("query", "mutation { __typename }"), headers: []string{acceptNew}, status: 405},
		{id: "9ABE", body: typename, headers: []string{"Content-Type: text/plain;charset=UTF-8"}, status: 415},
		post("A5BF", "", 400),
		post("423L", `{"notquery":"{ __typename }"}`, 400, acceptNew),
		post("LKJ0", `{"query":{"an":"object"}}`, 400),
		post("LKJ1", `{"query":0}`, 400),
		post("LKJ2", `{"query":false}`, 400),
		post("LKJ3", `{"query":["array"]}`, 400),
		post("34A2", typename, 200, acceptNew),
		{id: "13EE", body: typename, headers: []string{servertest.JSON, acceptOld}, status: 200, lacks: "errors"},
		post("6C00", `{"query":"{ __typename }","operationName":{"an":"object"}}`, 400),
		post("6C01", `{"query":"{ __typename }","operationName":0}`, 400),
		post("6C02", `{"query":"{ __typename }","operationName":false}`, 400),
		post("6C03", `{"query":"{ __typename }","operationName":["array"]}`, 400),
		post("8161", `{"query":"query Query { __typename }","operationName":"Query"}`, 200, acceptNew),
		post("94B0", `{"query":"{ __typename }","variables":null}`, 200, acceptNew),
		post("94B1", `{"query":"{ __typename }","operationName":null}`, 200, acceptNew),
		post("94B2", `{"query":"{ __typename }","extensions":null}`, 200, acceptNew),
		post("4760", `{"query":"{ __typename }","variables":"string"}`, 400),
		post("4761", `{"query":"{ __typename }","variables":0}`, 400),
		post("4762", `{"query":"{ __typename }","variables":false}`, 400),
		post("4763", `{"query":"{ __typename }","variables":["array"]}`, 400),
		post("2EA1", `{"query":"query Type($name: String!) { __type(name: $name) { name } }","variables":{"name":"sometype"}}`, 200, acceptNew),
		{id: "6A70", query: get("query", "query Type($name: String!) { __type(name: $name) { name } }", "variables", `{"name":"sometype"}`), headers: []string{acceptOld}, status: 200, lacks: "errors"},
		post("58B0", `{"query":"{ __typename }","extensions":"string"}`, 400),
		post("58B3", `{"query":"{ __typename }","extensions":["array"]}`, 400),
		{id: "1B7A", body: `{"query":"{ __typename }","extensions":{"some":"value"}}`, headers: []string{servertest.JSON, acceptOld}, status: 200, lacks: "errors"},
		post("BCF8", `{ "not a JSON`, 400, acceptOld),
		post("B7N8", `{ "not a JSON`, 400, acceptNew),
		post("3E3A", `{"qeury":"{ __typename }"}`, 400),
		post("572B", `{"query":"{"}`, 200, acceptOld),
		post("FDE2", `{"query":"{ nosuchfield }"}`, 200, acceptOld),
		post("7B9B", `{"query":"query CoerceFailure($id: ID!){ __typename }","variables":{"id":null}}`, 200, acceptOld),
		{id: "D586", body: `{"query":"{"}`, headers: []string{servertest.JSON, acceptNew}, status: 400, contains: "errors", lacks: `"data"`},
		{id: "5E5B", body: `{"query":"{ nosuchfield }"}`, headers: []string{servertest.JSON, acceptNew}, status: 400, contains: "errors", lacks: `"data"`},
		post("86EE", `{"query":"query CoerceFailure($id: ID!){ __typename }","variables":{"id":null}}`, 400, acceptNew),
	}
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		for _, tt := range tests {
			h.Run(tt.id, func(t *testing.T) {
				method := http.MethodPost
				if tt.query != "" {
					method = http.MethodGet
				}
				w, body := h.Do(method, tt.query, tt.body, tt.headers...)
				if w.StatusCode != tt.status {
					t.Errorf("got status %d, want %d: %s", w.StatusCode, tt.status, body)
				}
				if got := w.Header.Get("Content-Type"); tt.media != "" && got != tt.media+"; charset=utf-8" {
					t.Errorf("got content type %q", got)
				}
				if !strings.Contains(body, tt.contains) || (tt.lacks != "" && strings.Contains(body, tt.lacks)) {
					t.Errorf("got body %s", body)
				}
			})
		}
	})
}

// manyKeys returns so many members of an object, each after a comma.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	return b.String()
}

func TestAPI_RefusesInvalidRequests(t *testing.T) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = zip.Write([]byte(`{"query":"{ hello }"}`))
	_ = zip.Close()
	const hello = `{"query":"{ hello }"}`

	tests := []struct {
		name, method, query, body string
		headers                   []string
		status                    int
		header, value             string // of the response
	}{
		{"mutation by GET", "GET", "query=mutation%7Bhello%7D", "", nil, 405, "Allow", "POST"},
		{"subscription by GET", "GET", "query=subscription%7Bcount(to:1)%7D", "", []string{acceptNew}, 400, "", ""},
		{"subscription by POST", "POST", "", `{"query":"subscription { count(to: 1) }"}`, []string{servertest.JSON}, 400, "", ""},
		{"another method", "PUT", "", hello, []string{servertest.JSON}, 405, "Allow", "GET, POST, OPTIONS"},
		{"form", "POST", "", "query={hello}", []string{"Content-Type: application/x-www-form-urlencoded"}, 415, "", ""},
		{"multipart", "POST", "", hello, []string{"Content-Type: multipart/form-data; boundary=x"}, 415, "", ""},
		{"no content type", "POST", "", hello, nil, 415, "", ""},
		{"another charset", "POST", "", hello, []string{servertest.JSON + "; charset=utf-16"}, 415, "", ""},
		{"a long media type", "POST", "", hello, []string{servertest.JSON + strings.Repeat("; a=b", 60)}, 415, "", ""},
		{"compressed", "POST", "", packed.String(), []string{servertest.JSON, "Content-Encoding: gzip"}, 415, "Accept-Encoding", "identity"},
		{"too large", "POST", "", `{"query":"{ hello } #` + strings.Repeat("x", httpapi.MaxBody) + `"}`, []string{servertest.JSON}, 413, "", ""},
		{"a list", "POST", "", `[` + hello + `]`, []string{servertest.JSON}, 400, "", ""},
		{"very many values", "POST", "", `{"query":"{ hello }","variables":{"a":[` + strings.Repeat("0,", httpapi.MaxValues) + `0]}}`, []string{servertest.JSON}, 400, "", ""},
		{"many values in the extensions", "POST", "", `{"query":"{ hello }","extensions":{"a":[` + strings.Repeat("0,", httpapi.MaxExtensions-1) + `0]}}`, []string{servertest.JSON}, 400, "", ""},
		{"GET with many values in the extensions", "GET", `query={hello}&extensions={"a":{"b":[` + strings.Repeat("0,", httpapi.MaxExtensions-2) + `0]}}`, "", nil, 400, "", ""},
		{"GET with many parameters", "GET", "query={hello}" + strings.Repeat("&", 20), "", nil, 400, "", ""},
		{"many keys", "POST", "", `{"query":"{ hello }"` + manyKeys(20) + `}`, []string{servertest.JSON}, 400, "", ""},
		{"a key in another case", "POST", "", `{"Query":"{ hello }"}`, []string{servertest.JSON}, 400, "", ""},
		{"a key twice", "POST", "", `{"query":"{ hello }","query":"{ hello }"}`, []string{servertest.JSON}, 400, "", ""},
		{"a nested key twice", "POST", "", `{"query":"{ hello }","variables":{"a":[{"b":1,"b":2}]}}`, []string{servertest.JSON}, 400, "", ""},
		{"a key with an escape", "POST", "", `{"query":"{ hello }","variables":{"\u0062":2}}`, []string{servertest.JSON}, 400, "", ""},
		{"GET with a parameter twice", "GET", "query={hello}&query={hello}", "", nil, 400, "", ""},
		{"GET with a key twice", "GET", `query={hello}&variables={"a":1,"a":2}`, "", nil, 400, "", ""},
		{"two requests", "POST", "", hello + hello, []string{servertest.JSON}, 400, "", ""},
		{"not UTF-8", "POST", "", "{\"query\":\"{ hello } # \xff\"}", []string{servertest.JSON}, 400, "", ""},
		{"GET without query", "GET", "operationName=A", "", nil, 400, "", ""},
		{"GET with bad variables", "GET", "query={hello}&variables=[]", "", nil, 400, "", ""},
		{"a documentId of another type", "POST", "", `{"documentId":1}`, []string{servertest.JSON}, 400, "", ""},
		{"GET with a bad query string", "GET", "query=%zz", "", nil, 400, "", ""},
		{"nothing acceptable", "POST", "", hello, []string{servertest.JSON, "Accept: text/html"}, 406, "", ""},
		{"page of another origin", "POST", "", hello, []string{servertest.JSON, "Origin: https://evil.example"}, 403, "", ""},
		{"foreign page, modern browser", "POST", "", hello, []string{servertest.JSON, "Sec-Fetch-Site: cross-site"}, 403, "", ""},
		{"sandboxed page", "POST", "", hello, []string{servertest.JSON, "Origin: null"}, 403, "", ""},
		{"bad token", "POST", "", hello, []string{servertest.JSON, "Authorization: Bearer nonsense"}, 401, "WWW-Authenticate", "Bearer"},
		{"empty token", "POST", "", hello, []string{servertest.JSON, "Authorization: Bearer"}, 401, "WWW-Authenticate", "Bearer"},
	}
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		for _, tt := range tests {
			h.Run(tt.name, func(t *testing.T) {
				before := h.Backend.Charged.Load()
				w, body := h.Do(tt.method, tt.query, tt.body, tt.headers...)
				if charged, least := h.Backend.Charged.Load()-before, cost.Refused(min(len(tt.body), httpapi.MaxBody)); charged < int64(least) {
					t.Errorf("charged %d, want %d", charged, least)
				}
				if w.StatusCode != tt.status || w.Header.Get(tt.header) != tt.value {
					t.Errorf("got status %d, %s %q: %s", w.StatusCode, tt.header, w.Header.Get(tt.header), body)
				}
				if !strings.HasPrefix(body, `{"errors":[{"message":"`) || strings.Contains(body, `"data"`) || !strings.Contains(body, `"code":"`) {
					t.Errorf("got body %s", body)
				}
			})
		}
	})
}

// Apollo's clients name themselves and a persisted query.
func TestAPI_AcceptsTheExtensionsOfClients(t *testing.T) {
	t.Parallel()
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		const extensions = `{"persistedQuery":{"version":1,"sha256Hash":"x"},"clientLibrary":{"name":"@apollo/client","version":"4.0.0"},"cost":true}`
		for name, tt := range map[string]struct{ method, query, body string }{
			"POST":               {"POST", "", `{"query":"{ hello }","extensions":` + extensions + `}`},
			"GET":                {"GET", "query={hello}&extensions=" + url.QueryEscape(extensions), ""},
			"as many as allowed": {"POST", "", `{"query":"{ hello }","extensions":{"a":[` + strings.Repeat("0,", httpapi.MaxExtensions-2) + `0]}}`},
		} {
			if w, body := h.Do(tt.method, tt.query, tt.body, servertest.JSON); w.StatusCode != http.StatusOK || !strings.Contains(body, `"hello"`) {
				h.Errorf("%s: status %d: %s", name, w.StatusCode, body)
			}
		}
	})
}

// Malformed requests are charged by their length, and large ones are not decoded for a client without budget.
func TestAPI_ChargesRefusedBytes(t *testing.T) {
	t.Parallel()
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		large := `{"query":"{ hello }","x":"` + strings.Repeat("x", 200<<10) + `"`
		if w, body := h.Do("POST", "", large, servertest.JSON); w.StatusCode != http.StatusBadRequest {
			h.Errorf("a malformed request: status %d: %s", w.StatusCode, body)
		}
		want := int64(cost.PerConnection + cost.Received(len(large)) + cost.Refused(len(large)))
		if n := h.Backend.Charged.Load(); n != want {
			h.Errorf("charged %d, want %d", n, want)
		}
		if w, _ := h.Do("POST", "", large+"}", servertest.JSON); w.StatusCode != http.StatusOK || h.Backend.Charged.Load() != want+int64(cost.PerRequest+cost.Received(len(large)+1)) {
			h.Errorf("a valid request: status %d, %d charged in all", w.StatusCode, h.Backend.Charged.Load())
		}
		const hello = `{"query":"{ hello }"}`
		chunked := "POST /graphql HTTP/1.1\r\nHost: x\r\n" + servertest.JSON + "\r\nTransfer-Encoding: chunked\r\n\r\n"
		for _, c := range strings.Repeat(" ", 1000) + hello {
			chunked += "1\r\n" + string(c) + "\r\n"
		}
		before, c := h.Backend.Charged.Load(), h.Connect()
		_, _ = io.WriteString(c, chunked+"0\r\n\r\n")
		if line, _ := bufio.NewReader(c).ReadString('\n'); !strings.Contains(line, " 200 ") {
			h.Errorf("chunks of one byte: %s", line)
		}
		want = before + int64(cost.PerConnection+cost.Unknown(6*1000)) // when the request has ended
		servertest.Within(t, func() bool { return h.Backend.Charged.Load() >= want }, func() {
			t.Errorf("chunks of one byte: charged %d", h.Backend.Charged.Load()-before)
		})
		if n := h.Backend.Charged.Load() - before; n > int64(cost.PerConnection+cost.PerRequest+cost.Unknown(len(chunked)+5)) {
			t.Errorf("chunks of one byte: charged %d", n)
		}
		spent := error(&retwis.Error{Code: retwis.CodeRateLimited, Message: "too much", RetryAfterSeconds: 7})
		h.Backend.Spent.Store(&spent)
		for name, text := range map[string]string{"malformed": large, "valid": large + "}"} {
			w, body := h.Do("POST", "", text, servertest.JSON)
			if w.StatusCode != http.StatusTooManyRequests || w.Header.Get("Retry-After") != "7" || !strings.Contains(body, "RATE_LIMITED") {
				h.Errorf("a %s large request without budget: status %d, Retry-After %q: %s", name, w.StatusCode, w.Header.Get("Retry-After"), body)
			}
		}
	})
}

// Attack: without budget, requests of up to 16 KB were decoded before they were refused.
func TestAPI_DecodesOnlySmallRequestsWithoutBudget(t *testing.T) {
	t.Parallel()
	servertest.InBubble(t, nil, func(h *servertest.Harness) {
		const hello = `{"query":"{ hello }"}`
		token, poor := "Authorization: Bearer "+h.Login(7), "Authorization: Bearer "+h.Login(8)
		h.Backend.Admitted.Store(7)
		spent := error(&retwis.Error{Code: retwis.CodeRateLimited, Message: "too much", RetryAfterSeconds: 7})
		h.Backend.Spent.Store(&spent)
		padding := func(n int) string { return strings.Repeat(" ", n) }
		for name, tt := range map[string]struct {
			method, query, body string
			headers             []string
			status              int
		}{
			"small":                       {"POST", "", hello + padding(cost.FreeBytes-len(hello)), nil, http.StatusOK},
			"larger":                      {"POST", "", hello + padding(cost.FreeBytes), nil, http.StatusTooManyRequests},
			"larger, malformed":           {"POST", "", padding(cost.FreeBytes + 1), nil, http.StatusTooManyRequests},
			"GET":                         {"GET", "query={hello}", "", nil, http.StatusOK},
			"larger GET":                  {"GET", "query={hello}" + strings.Repeat("+", cost.FreeBytes), "", nil, http.StatusTooManyRequests},
			"larger stream":               {"POST", "", hello + padding(cost.FreeBytes), []string{"Accept: text/event-stream"}, http.StatusTooManyRequests},
			"larger, of a user":           {"POST", "", hello + padding(cost.FreeBytes), []string{token}, http.StatusOK},
			"larger, without budget":      {"POST", "", hello + padding(cost.FreeBytes), []string{poor}, http.StatusTooManyRequests},
			"larger, of an unknown token": {"POST", "", hello + padding(cost.FreeBytes), []string{"Authorization: Bearer old"}, http.StatusTooManyRequests},
		} {
			w, body := h.Do(tt.method, tt.query, tt.body, append(tt.headers, servertest.JSON)...)
			if w.StatusCode != tt.status || strings.Contains(body, "RATE_LIMITED") != (tt.status == http.StatusTooManyRequests) {
				h.Errorf("%s: status %d: %s", name, w.StatusCode, body)
			}
		}
	})
}

// The server reads what follows the header of a GET request after the response, when nobody pays for it any more.
func TestAPI_RefusesBodiesOfGET(t *testing.T) {
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		w, body := h.Do("GET", "query={hello}", "{}")
		if w.StatusCode != http.StatusBadRequest || !strings.Contains(body, "BAD_USER_INPUT") {
			h.Errorf("got status %d: %s", w.StatusCode, body)
		}
	})
}

func TestAPI_RefusesSubscriptionsAsJSON(t *testing.T) {
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		w, body := h.Do("GET", "query=subscription%7Bcount(to:1)%7D", "", acceptOld)
		if w.StatusCode != http.StatusBadRequest || strings.Contains(body, "data") {
			h.Errorf("got status %d: %s", w.StatusCode, body)
		}
	})
}

func TestAPI_ReturnsExecutionErrorsWithStatusOK(t *testing.T) {
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		for _, accept := range []string{acceptNew, acceptOld} {
			w, body := h.Do("POST", "", `{"query":"{ fail }"}`, servertest.JSON, accept)
			if want := `{"errors":[{"message":"no luck"}],"data":null}`; w.StatusCode != http.StatusOK || body != want {
				h.Errorf("got status %d, %s", w.StatusCode, body)
			}
			if w.Header.Get("Cache-Control") != "no-store" {
				h.Error("a response may be cached")
			}
		}
	})
}

func TestAPI_HidesPanics(t *testing.T) {
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		w, body := h.Do("POST", "", `{"query":"{ panics }"}`, servertest.JSON)
		if w.StatusCode != http.StatusInternalServerError || !strings.Contains(body, "INTERNAL_SERVER_ERROR") || strings.Contains(body, "cheese") {
			h.Errorf("got status %d, %s", w.StatusCode, body)
		}
		if !strings.Contains(h.Logs.String(), "out of cheese") {
			h.Error("the log lacks the cause")
		}
	})
}

func TestAPI_KeepsTheDigitsOfLargeNumbers(t *testing.T) {
	servertest.OnTCP(t, nil, func(h *servertest.Harness) {
		_, body := h.Do("POST", "", `{"query":"query($n: Int!) { echo(value: $n) }","variables":{"n":9007199254740993}}`, servertest.JSON)
		if !strings.Contains(body, "9007199254740993") {
			h.Errorf("got %s", body)
		}
	})
}
