package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// Attack: clients that disconnect at once, that ask for the health only, or whose malformed requests net/http refuses without a delay.
func TestOverflow_ServesFewConnectionsASecond(t *testing.T) {
	t.Parallel()
	ready := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }
	const end = " HTTP/1.1\r\nHost: a\r\n\r\n"
	for refused, refuse := range map[int]http.HandlerFunc{
		http.StatusTooManyRequests: refuseNetwork, http.StatusServiceUnavailable: refuseDescriptors,
	} {
		for first, want := range map[string]int{
			"GET /" + end: refused, "POST /graphql" + end: refused,
			"GET /healthz" + end: http.StatusOK, "GET /readyz" + end: http.StatusOK, "nonsense\r\n\r\n": http.StatusBadRequest, "": 0,
		} {
			synctest.Test(t, func(t *testing.T) {
				o := newOverflow(nil, 1, refuse)
				srv := &http.Server{Handler: o.handler(ready), ReadHeaderTimeout: time.Second}
				srv.SetKeepAlivesEnabled(false)
				go func() { _ = srv.Serve(o.places()) }()
				status := func(request string) int {
					client, server := net.Pipe()
					defer func() { _ = client.Close() }()
					o.take(server)
					synctest.Wait()
					if request == "" {
						return 0
					}
					if _, err := io.WriteString(client, request); err != nil {
						t.Fatal(err)
					}
					response, err := http.ReadResponse(bufio.NewReader(client), nil)
					if err != nil {
						t.Fatal(err)
					}
					_ = response.Body.Close()
					return response.StatusCode
				}
				start := time.Now()
				if got := status(first); got != want || time.Since(start) != 0 {
					t.Errorf("%q: status %d after %v, want %d at once", first, got, time.Since(start), want)
				}
				if got := status("GET /healthz" + end); got != http.StatusOK || time.Since(start) != overflowTime {
					t.Errorf("the connection after %q: status %d after %v, want %d after %v", first, got, time.Since(start), http.StatusOK, overflowTime)
				}
				_ = srv.Close()
				time.Sleep(time.Second)
			})
		}
	}
}
