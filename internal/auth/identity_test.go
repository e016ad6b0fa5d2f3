package auth

import (
	"errors"
	"testing"

	"retwis/internal/retwis"
)

func TestIdentity_TravelsInContext(t *testing.T) {
	t.Parallel()
	if who := IdentityOf(t.Context()); who != (Identity{}) {
		t.Errorf("the identity without a login is %+v", who)
	}
	if id, err := Viewer(t.Context()); id != 0 || !errors.Is(err, retwis.ErrUnauthenticated) {
		t.Errorf("the viewer without a login is %s, %v", id, err)
	}
	want := Identity{User: 1025, Session: retwis.SessionKey{Bucket: 1, Hash: "ab"}}
	ctx := WithIdentity(t.Context(), want)
	if who := IdentityOf(ctx); who != want {
		t.Errorf("the identity is %+v, want %+v", who, want)
	}
	if id, err := Viewer(ctx); id != 1025 || err != nil {
		t.Errorf("the viewer is %s, %v", id, err)
	}
	if id, err := Viewer(WithIdentity(ctx, Identity{})); id != 0 || !errors.Is(err, retwis.ErrUnauthenticated) {
		t.Errorf("the anonymous viewer is %s, %v", id, err)
	}
}
