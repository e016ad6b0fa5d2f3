package check_test

import (
	"testing"

	"retwis/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }
