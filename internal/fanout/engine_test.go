package fanout_test

import (
	"testing"

	"retwis/internal/enginetest"
	"retwis/internal/store"
)

// engine adds the readers and expectations of this package to the shared one.
type engine struct{ *enginetest.Engine }

func newEngine(t *testing.T, options store.Options) *engine {
	t.Helper()
	return &engine{enginetest.New(t, options)}
}
