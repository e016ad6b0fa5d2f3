package graph

import (
	"testing"
	"time"

	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

func TestAuthors_ShowOwnChangesAtOnce(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		a := newReal(t, url)
		user, err := a.store.Accounts.Register(t.Context(), retwis.Registration{Username: "alice", DisplayName: "before", PasswordHash: "hash"})
		if err != nil {
			t.Fatal(err)
		}
		shown := func() string {
			authors, err := a.store.Accounts.Authors(t.Context(), []retwis.UserID{user.ID})
			if err != nil {
				t.Fatal(err)
			}
			return authors[0].DisplayName
		}
		for _, name := range []string{"after", "later"} {
			shown()
			if _, err := a.store.Accounts.UpdateProfile(t.Context(), user.ID, retwis.ProfileChange{DisplayName: &name}); err != nil {
				t.Fatal(err)
			}
			if got := shown(); got != name {
				t.Errorf("the process of the change shows %q, want %q", got, name)
			}
		}
	})
}

func TestAuthors_ShowChangesOfOtherProcesses(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	db, err := store.Open(t.Context(), store.Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	user, err := db.Accounts.Register(t.Context(), retwis.Registration{Username: "alice", DisplayName: "Alice", PasswordHash: "hash"})
	if err != nil {
		t.Fatal(err)
	}
	client := server.Client()
	heard := client.Subscribe(t.Context(), "retwis:authors")
	defer func() { _ = heard.Close() }()
	if _, err := heard.Receive(t.Context()); err != nil { // the subscription is confirmed
		t.Fatal(err)
	}
	messages := heard.Channel()
	wantHeard := func(of string) {
		t.Helper()
		select {
		case m := <-messages:
			if m.Payload != user.ID.String() {
				t.Errorf("%s: the announcement names %q, want %s", of, m.Payload, user.ID)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s: no announcement", of)
		}
	}

	bio := "new"
	if _, err := db.Accounts.UpdateProfile(t.Context(), user.ID, retwis.ProfileChange{Bio: &bio}); err != nil {
		t.Fatal(err)
	}
	wantHeard("another profile")
	if err := db.Accounts.DeleteAccount(t.Context(), user.ID, "hash"); err != nil {
		t.Fatal(err)
	}
	wantHeard("the end of the account")
}
