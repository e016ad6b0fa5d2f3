package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

func TestOverflow_DelaysRefusals(t *testing.T) {
	t.Parallel()
	for status, refuse := range map[int]http.HandlerFunc{
		http.StatusTooManyRequests: refuseNetwork, http.StatusServiceUnavailable: refuseDescriptors,
	} {
		synctest.Test(t, func(t *testing.T) {
			o := newOverflow(nil, 1, refuse)
			start, response := time.Now(), httptest.NewRecorder()
			o.serveRefusal(response, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
			if took := time.Since(start); took != overflowDelay || response.Code != status {
				t.Errorf("status %d after %s, want %d after %s", response.Code, took, status, overflowDelay)
			}
		})
	}
}
