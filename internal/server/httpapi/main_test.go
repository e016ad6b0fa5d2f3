package httpapi_test

import (
	"testing"

	"retwis/internal/redistest"
)

func TestMain(m *testing.M) { redistest.VerifyNoLeaks(m) }
