package server_test

import (
	"testing"

	"retwis/internal/server"
	"retwis/internal/server/servertest"
)

func TestNew_RefusesInvalidOptions(t *testing.T) {
	if _, err := server.New(server.Options{}); err == nil {
		t.Error("created a server without options")
	}
	if _, err := server.New(server.Options{Executor: servertest.NewBackend().Executor(), Accounts: &servertest.Accounts{}, AllowedOrigins: []string{"*"}}); err == nil {
		t.Error("accepted an origin that never matches")
	}
}
