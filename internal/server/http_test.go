package server

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	acceptNew = "Accept: application/graphql-response+json"
	acceptOld = "Accept: application/json"
	typeJSON  = "Content-Type: application/json"
)

// Each row is one rule of the GraphQL-over-HTTP specification, by the id that the
// server audits of the graphql-http package give it.
func TestGraphQLOverHTTP(t *testing.T) {
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
		media           string // of the response; not checked when empty
		contains, lacks string // of its body
	}
	post := func(id, body string, status int, headers ...string) audit {
		return audit{id: id, body: body, headers: append(headers, typeJSON), status: status}
	}
	tests := []audit{
		{id: "22EB", body: typename, headers: []string{typeJSON, acceptNew}, status: 200, media: mediaGraphQL},
		{id: "4655", body: typename, headers: []string{typeJSON, acceptOld}, status: 200, media: mediaJSON},
		{id: "47DE", body: typename, headers: []string{typeJSON, "Accept: */*"}, status: 200, media: mediaJSON},
		{id: "80D8", body: typename, headers: []string{typeJSON}, status: 200, media: mediaJSON},
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
		{id: "13EE", body: typename, headers: []string{typeJSON, acceptOld}, status: 200, lacks: "errors"},
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
		{id: "1B7A", body: `{"query":"{ __typename }","extensions":{"some":"value"}}`, headers: []string{typeJSON, acceptOld}, status: 200, lacks: "errors"},
		post("BCF8", `{ "not a JSON`, 400, acceptOld),
		post("B7N8", `{ "not a JSON`, 400, acceptNew),
		post("3E3A", `{"qeury":"{ __typename }"}`, 400),
		post("572B", `{"query":"{"}`, 200, acceptOld),
		post("FDE2", `{"query":"{ nosuchfield }"}`, 200, acceptOld),
		post("7B9B", `{"query":"query CoerceFailure($id: ID!){ __typename }","variables":{"id":null}}`, 200, acceptOld),
		{id: "D586", body: `{"query":"{"}`, headers: []string{typeJSON, acceptNew}, status: 400, contains: "errors", lacks: `"data"`},
		{id: "5E5B", body: `{"query":"{ nosuchfield }"}`, headers: []string{typeJSON, acceptNew}, status: 400, contains: "errors", lacks: `"data"`},
		post("86EE", `{"query":"query CoerceFailure($id: ID!){ __typename }","variables":{"id":null}}`, 400, acceptNew),
	}
	onTCP(t, nil, func(h *harness) {
		for _, tt := range tests {
			h.Run(tt.id, func(t *testing.T) {
				method := http.MethodPost
				if tt.query != "" {
					method = http.MethodGet
				}
				w, body := h.do(method, tt.query, tt.body, tt.headers...)
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

func TestRequestsThatAreRefused(t *testing.T) {
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
		{"subscription by POST", "POST", "", `{"query":"subscription { count(to: 1) }"}`, []string{typeJSON}, 400, "", ""},
		{"another method", "PUT", "", hello, []string{typeJSON}, 405, "Allow", "GET, POST, OPTIONS"},
		{"form", "POST", "", "query={hello}", []string{"Content-Type: application/x-www-form-urlencoded"}, 415, "", ""},
		{"multipart", "POST", "", hello, []string{"Content-Type: multipart/form-data; boundary=x"}, 415, "", ""},
		{"no content type", "POST", "", hello, nil, 415, "", ""},
		{"another charset", "POST", "", hello, []string{typeJSON + "; charset=utf-16"}, 415, "", ""},
		{"compressed", "POST", "", packed.String(), []string{typeJSON, "Content-Encoding: gzip"}, 415, "Accept-Encoding", "identity"},
		{"too large", "POST", "", `{"query":"{ hello } #` + strings.Repeat("x", maxBody) + `"}`, []string{typeJSON}, 413, "", ""},
		{"a list", "POST", "", `[` + hello + `]`, []string{typeJSON}, 400, "", ""},
		{"very many values", "POST", "", `{"query":"{ hello }","variables":{"a":[` + strings.Repeat("0,", maxValues) + `0]}}`, []string{typeJSON}, 400, "", ""},
		{"two requests", "POST", "", hello + hello, []string{typeJSON}, 400, "", ""},
		{"not UTF-8", "POST", "", "{\"query\":\"{ hello } # \xff\"}", []string{typeJSON}, 400, "", ""},
		{"GET without query", "GET", "operationName=A", "", nil, 400, "", ""},
		{"GET with bad variables", "GET", "query={hello}&variables=[]", "", nil, 400, "", ""},
		{"a documentId that is no string", "POST", "", `{"documentId":1}`, []string{typeJSON}, 400, "", ""},
		{"GET with a bad query string", "GET", "query=%zz", "", nil, 400, "", ""},
		{"nothing acceptable", "POST", "", hello, []string{typeJSON, "Accept: text/html"}, 406, "", ""},
		{"foreign page", "POST", "", hello, []string{typeJSON, "Origin: https://evil.example"}, 403, "", ""},
		{"foreign page, modern browser", "POST", "", hello, []string{typeJSON, "Sec-Fetch-Site: cross-site"}, 403, "", ""},
		{"sandboxed page", "POST", "", hello, []string{typeJSON, "Origin: null"}, 403, "", ""},
		{"bad token", "POST", "", hello, []string{typeJSON, "Authorization: Bearer nonsense"}, 401, "WWW-Authenticate", "Bearer"},
		{"empty token", "POST", "", hello, []string{typeJSON, "Authorization: Bearer"}, 401, "WWW-Authenticate", "Bearer"},
	}
	onTCP(t, nil, func(h *harness) {
		for _, tt := range tests {
			h.Run(tt.name, func(t *testing.T) {
				w, body := h.do(tt.method, tt.query, tt.body, tt.headers...)
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

func TestSubscriptionWithTheOldMediaTypeIsRefusedToo(t *testing.T) {
	onTCP(t, nil, func(h *harness) {
		w, body := h.do("GET", "query=subscription%7Bcount(to:1)%7D", "", acceptOld)
		if w.StatusCode != http.StatusBadRequest || strings.Contains(body, "data") {
			h.Errorf("got status %d: %s", w.StatusCode, body)
		}
	})
}

func TestBodyWithoutLengthIsLimited(t *testing.T) {
	onTCP(t, nil, func(h *harness) {
		body := io.MultiReader(strings.NewReader(`{"query":"`), strings.NewReader(strings.Repeat("x", maxBody)))
		r, err := http.NewRequestWithContext(h.Context(), http.MethodPost, h.url+"/graphql", body)
		if err != nil {
			h.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		w, err := h.client.Do(r)
		if err != nil {
			h.Fatal(err)
		}
		defer w.Body.Close()
		if w.StatusCode != http.StatusRequestEntityTooLarge {
			h.Errorf("got status %d", w.StatusCode)
		}
	})
}

func TestExecutionErrorsAreOK(t *testing.T) {
	onTCP(t, nil, func(h *harness) {
		for _, accept := range []string{acceptNew, acceptOld} {
			w, body := h.do("POST", "", `{"query":"{ fail }"}`, typeJSON, accept)
			if want := `{"errors":[{"message":"no luck"}],"data":null}`; w.StatusCode != http.StatusOK || body != want {
				h.Errorf("got status %d, %s", w.StatusCode, body)
			}
			if w.Header.Get("Cache-Control") != "no-store" {
				h.Error("a response may be cached")
			}
		}
	})
}

func TestPanicIsAServerError(t *testing.T) {
	onTCP(t, nil, func(h *harness) {
		w, body := h.do("POST", "", `{"query":"{ panics }"}`, typeJSON)
		if w.StatusCode != http.StatusInternalServerError || !strings.Contains(body, "INTERNAL_SERVER_ERROR") || strings.Contains(body, "cheese") {
			h.Errorf("got status %d, %s", w.StatusCode, body)
		}
		if !strings.Contains(h.log.String(), "out of cheese") {
			h.Error("the log does not say what happened")
		}
	})
}

func TestLargeNumbersKeepTheirDigits(t *testing.T) {
	onTCP(t, nil, func(h *harness) {
		_, body := h.do("POST", "", `{"query":"query($n: Int!) { echo(value: $n) }","variables":{"n":9007199254740993}}`, typeJSON)
		if !strings.Contains(body, "9007199254740993") {
			h.Errorf("got %s", body)
		}
	})
}

func TestWhoAsks(t *testing.T) {
	const query = `{"query":"{ whoami }"}`
	onTCP(t, nil, func(h *harness) {
		one, two := h.login(1), h.login(2)
		tests := []struct {
			name    string
			headers []string
			want    string
			cookie  string // set by the response
		}{
			{"nobody", nil, "0", ""},
			{"bearer", []string{"Authorization: Bearer " + one}, "1", ""},
			{"bearer in lower case", []string{"authorization: bearer " + one}, "1", ""},
			{"cookie", []string{"Cookie: retwis_session=" + two}, "2", ""},
			{"bearer wins", []string{"Cookie: retwis_session=" + two, "Authorization: Bearer " + one}, "1", ""},
			{"another scheme", []string{"Authorization: Basic eDp5", "Cookie: retwis_session=" + two}, "2", ""},
			{"cookie of TLS without TLS", []string{"Cookie: __Host-retwis_session=" + two}, "0", ""},
			{"stale cookie", []string{"Cookie: retwis_session=old"}, "0", "retwis_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"},
			{"proxy that is not trusted", []string{"X-Forwarded-Proto: https", "Cookie: __Host-retwis_session=" + two}, "0", ""},
		}
		for _, tt := range tests {
			h.Run(tt.name, func(t *testing.T) {
				w, body := h.do("POST", "", query, append(tt.headers, typeJSON)...)
				if want := `{"data":{"whoami":"` + tt.want + `"}}`; body != want {
					t.Errorf("got %s, want %s", body, want)
				}
				if got := w.Header.Get("Set-Cookie"); got != tt.cookie {
					t.Errorf("got cookie %q", got)
				}
			})
		}
	})
}

func TestSessionCookieIsSet(t *testing.T) {
	const login = `{"query":"mutation { login(token: \"fresh\") }"}`
	onTCP(t, func(o *Options) {
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}, func(h *harness) {
		tests := []struct {
			name    string
			headers []string
			want    []string
		}{
			{"plain", nil, []string{"retwis_session=fresh; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax"}},
			{"over TLS", []string{"X-Forwarded-Proto: https"}, []string{"__Host-retwis_session=fresh; Path=/; Max-Age=2592000; HttpOnly; Secure; SameSite=Lax"}},
			{"instead of a stale one", []string{"Cookie: retwis_session=old"}, []string{"retwis_session=fresh; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax"}},
		}
		for _, tt := range tests {
			h.Run(tt.name, func(t *testing.T) {
				w, _ := h.do("POST", "", login, append(tt.headers, typeJSON)...)
				if diff := cmp.Diff(tt.want, w.Header["Set-Cookie"]); diff != "" {
					t.Error(diff)
				}
			})
		}
		token := h.login(3)
		_, body := h.do("POST", "", `{"query":"{ whoami }"}`, typeJSON, "X-Forwarded-Proto: https", "Cookie: __Host-retwis_session="+token)
		if body != `{"data":{"whoami":"3"}}` {
			h.Errorf("cookie over TLS: got %s", body)
		}
	})
}

func TestSessionsThatCannotBeReadAreNotBadOnes(t *testing.T) {
	onTCP(t, nil, func(h *harness) {
		h.accounts.set(errors.New("redis is down"), nil)
		for _, shown := range []string{"Authorization: Bearer x", "Cookie: retwis_session=x"} {
			w, body := h.do("POST", "", `{"query":"{ whoami }"}`, typeJSON, shown)
			if w.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "INTERNAL_SERVER_ERROR") || strings.Contains(body, "redis") {
				h.Errorf("got status %d, %s", w.StatusCode, body)
			}
			if w.Header.Get("Set-Cookie") != "" || w.Header.Get("Retry-After") == "" {
				h.Errorf("got header %v", w.Header)
			}
		}
		if !strings.Contains(h.log.String(), "redis is down") {
			h.Error("the log does not say what happened")
		}
	})
}

func TestCORS(t *testing.T) {
	const page = "Origin: https://app.example"
	onTCP(t, func(o *Options) { o.AllowedOrigins = []string{"https://App.example:443"} }, func(h *harness) {
		own := "Origin: " + h.url
		tests := []struct {
			name, method string
			headers      []string
			status       int
			origin       string // that the response allows
		}{
			{"allowed page", "POST", []string{typeJSON, page, "Sec-Fetch-Site: cross-site"}, 200, "https://app.example"},
			{"own page", "POST", []string{typeJSON, own}, 200, ""},
			{"no page", "POST", []string{typeJSON}, 200, ""},
			{"GET by a foreign page", "GET", []string{"Origin: https://evil.example"}, 200, ""},
			{"preflight of an allowed page", "OPTIONS", []string{page, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type"}, 204, "https://app.example"},
			{"preflight of a foreign page", "OPTIONS", []string{"Origin: https://evil.example", "Access-Control-Request-Method: POST"}, 403, ""},
			{"preflight of a page on another port", "OPTIONS", []string{"Origin: https://app.example:8443", "Access-Control-Request-Method: POST"}, 403, ""},
			{"preflight over http", "OPTIONS", []string{"Origin: http://app.example", "Access-Control-Request-Method: POST"}, 403, ""},
			{"options without preflight", "OPTIONS", nil, 204, ""},
		}
		for _, tt := range tests {
			h.Run(tt.name, func(t *testing.T) {
				body, query := "", ""
				switch tt.method {
				case "POST":
					body = `{"query":"{ hello }"}`
				case "GET":
					query = "query={hello}"
				}
				w, _ := h.do(tt.method, query, body, tt.headers...)
				got := w.Header.Get("Access-Control-Allow-Origin")
				if w.StatusCode != tt.status || got != tt.origin {
					t.Errorf("got status %d, allowed origin %q", w.StatusCode, got)
				}
				if w.Header.Get("Vary") != "Origin" {
					t.Errorf("got Vary %q", w.Header.Get("Vary"))
				}
				if credentials := w.Header.Get("Access-Control-Allow-Credentials"); (credentials == "true") != (tt.origin != "") {
					t.Errorf("got credentials %q", credentials)
				}
				if allowed := w.Header.Get("Access-Control-Allow-Headers"); tt.status == 204 && tt.origin != "" && !strings.Contains(allowed, "Authorization, Content-Type") {
					t.Errorf("got allowed headers %q", allowed)
				}
			})
		}
	})
}

func TestWebsocketOrigins(t *testing.T) {
	onTCP(t, func(o *Options) { o.AllowedOrigins = []string{"https://app.example"} }, func(h *harness) {
		tests := []struct {
			name, origin string
			want         bool
		}{
			{"missing", "", true},
			{"own", h.url, true},
			{"allowed", "https://app.example", true},
			{"foreign", "https://evil.example", false},
			{"null", "null", false},
			{"own host as a suffix", "https://app.example.evil.example", false},
			{"own host, another port", "http://127.0.0.1:1", false},
			{"nonsense", "%zz", false},
		}
		for _, tt := range tests {
			h.Run(tt.name, func(t *testing.T) {
				ws, status, err := h.upgrade("Origin: " + tt.origin)
				if err == nil {
					ws.Close()
				}
				if got := err == nil; got != tt.want {
					t.Errorf("got %v, want %v", got, tt.want)
				}
				if !tt.want && status != http.StatusForbidden {
					t.Errorf("got status %d", status)
				}
			})
		}
	})
}

func TestOriginsThatNeverMatchAreRefused(t *testing.T) {
	for _, origin := range []string{"*", "app.example", "https://app.example/", "ftp://app.example", "https://", "null", ""} {
		if _, err := parseOrigins([]string{origin}); err == nil {
			t.Errorf("accepted %q", origin)
		}
	}
}

func TestNewWantsAnExecutor(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("made a server of nothing")
	}
	if _, err := New(Options{Executor: newBackend().executor(), Accounts: &accounts{}, AllowedOrigins: []string{"*"}}); err == nil {
		t.Error("accepted an origin that never matches")
	}
}
