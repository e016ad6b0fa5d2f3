package outbox_test

import (
	"testing"

	"retwis/internal/outbox"
)

func TestEarlier_OrdersByNumberNotText(t *testing.T) {
	t.Parallel()
	inOrder := []string{"0", "0-1", "999-7", "1767225600000-0", "1767225600000-9", "1767225600000-10", "1767225600001-0"}
	for i, a := range inOrder {
		for j, b := range inOrder {
			if got, want := outbox.Earlier(a, b), i < j; got != want {
				t.Errorf("Earlier(%s, %s) = %t, want %t", a, b, got, want)
			}
		}
	}
}

func TestNextID(t *testing.T) {
	t.Parallel()
	if got, want := outbox.NextID("1767225600000-9"), "1767225600000-10"; got != want {
		t.Errorf("NextID(1767225600000-9) = %s, want %s", got, want)
	}
}
