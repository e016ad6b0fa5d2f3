package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// Attack: clients that disconnect at once, or that ask for the health only.
func TestOverflow_DelaysItsAnswers(t *testing.T) {
	t.Parallel()
	ready := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }
	for status, refuse := range map[int]http.HandlerFunc{
		http.StatusTooManyRequests: refuseNetwork, http.StatusServiceUnavailable: refuseDescriptors,
	} {
		for path, want := range map[string]int{"/": status, "/graphql": status, "/healthz": http.StatusOK, "/readyz": http.StatusOK} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				start, response := time.Now(), httptest.NewRecorder()
				newOverflow(nil, 1, refuse).handler(ready).ServeHTTP(response, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
				if took := time.Since(start); took != overflowDelay || response.Code != want {
					t.Errorf("%s: status %d after %s, want %d after %s", path, response.Code, took, want, overflowDelay)
				}
			})
		}
	}
}
