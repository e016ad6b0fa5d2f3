package auth

import (
	"net/netip"
	"slices"
	"testing"
)

func TestRequest_TravelsInContext(t *testing.T) {
	t.Parallel()
	if r := RequestOf(t.Context()); r.Address.IsValid() || r.UserAgent != "" {
		t.Errorf("a context without a request has %+v", r)
	}
	want := Request{Address: netip.MustParseAddr("192.0.2.1"), UserAgent: agent}
	if got := RequestOf(WithRequest(t.Context(), want)); got.Address != want.Address || got.UserAgent != want.UserAgent {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSetSessionCookie_CallsTheTransport(t *testing.T) {
	t.Parallel()
	Request{}.SetSessionCookie("ignored by a transport without cookies")
	var got []string
	r := Request{SetCookie: func(token string) { got = append(got, token) }}
	r.SetSessionCookie("token")
	r.SetSessionCookie("")
	if want := []string{"token", ""}; !slices.Equal(got, want) {
		t.Errorf("the cookie was set to %q, want %q", got, want)
	}
}
