package store_test

import (
	"fmt"
	"slices"
	"testing"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// registerAs registers a user with a display name.
func (e *engine) registerAs(username, displayName string) retwis.UserID {
	e.T.Helper()
	user, err := e.Accounts.Register(e.T.Context(), retwis.Registration{Username: username, DisplayName: displayName, PasswordHash: "hash"})
	if err != nil {
		e.T.Fatal(err)
	}
	return user.ID
}

// finds fails the test unless the people search finds these usernames, in their order.
func (e *engine) finds(query string, want ...string) {
	e.T.Helper()
	users, err := e.Accounts.FindUsers(e.T.Context(), query, 10)
	if err != nil {
		e.T.Fatal(err)
	}
	var got []string
	for _, user := range users {
		got = append(got, user.Username)
	}
	if !slices.Equal(got, want) {
		e.T.Errorf("%q finds %q, want %q", query, got, want)
	}
}

func TestFindUsers_MatchesUsernamesAndDisplayNames(t *testing.T) {
	t.Parallel()
	for _, partitions := range []int{1, 16} {
		t.Run(fmt.Sprint(partitions, " partitions"), func(t *testing.T) {
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				e := newEngine(t, store.Options{URL: url, Partitions: partitions})
				e.registerAs("kath", "Kathryn Kennedy")
				e.registerAs("kennedy", "Somebody Else")
				e.registerAs("jfk", "John F. Kennedy")
				e.registerAs("zz_top", "Kennedy")
				e.registerAs("Zoe", "Zoë Müller-Weiß")
				e.registerAs("li_xl", "李 小龍")
				e.registerAs("___", "🌱")

				e.finds("kennedy", "kennedy", "zz_top", "jfk", "kath")
				e.finds("KENN", "jfk", "kath", "kennedy", "zz_top")
				e.finds("kathryn ken", "kath")
				e.finds("kennedy kathryn", "kath")
				e.finds("@kath", "kath")
				e.finds("zz_top", "zz_top")
				e.finds("top", "zz_top")
				e.finds("muller weiss", "Zoe")
				e.finds("ZOË", "Zoe")
				e.finds("小", "li_xl")
				e.finds("___", "___")
				e.finds("enned")
				e.finds("kathryn jfk")
				e.finds("🌱")
				e.finds("  ")
			})
		})
	}
}

func TestFindUsers_FollowsRenamesAndDeletions(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		e.Work(fanout.Options{})
		ann, bob := e.registerAs("ann", "Ann Before"), e.registerAs("bob", "Bob")
		rename := func(id retwis.UserID, name string) {
			t.Helper()
			if _, err := e.Accounts.UpdateProfile(t.Context(), id, retwis.ProfileChange{DisplayName: &name}); err != nil {
				t.Fatal(err)
			}
		}
		e.finds("before", "ann")
		rename(ann, "Ann After")
		e.finds("before")
		e.finds("after", "ann")
		rename(ann, "Something Else")
		e.finds("ann", "ann") // by the username
		bio := "after"
		if _, err := e.Accounts.UpdateProfile(t.Context(), bob, retwis.ProfileChange{Bio: &bio}); err != nil {
			t.Fatal(err)
		}
		e.finds("bob", "bob")
		e.finds("after")
		e.IsSound()

		if err := e.Accounts.DeleteAccount(t.Context(), ann, "hash"); err != nil {
			t.Fatal(err)
		}
		e.finds("something")
		e.finds("ann")
		e.Drain()
		words := enginetest.Keys(t, enginetest.Client(t, url), "*:words")
		if len(words) != 1 {
			t.Errorf("the indexes are %q, want that of bob alone", words)
		}
		e.IsSound()
	})
}

func TestFindUsers_ReadsABoundedNumberOfEntries(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL(), Partitions: 1})
	for i := range 120 {
		e.registerAs(fmt.Sprintf("user%03d", i), fmt.Sprintf("Common Name%03d", i))
	}
	e.registerAs("com", "Last Of All")
	users, err := e.Accounts.FindUsers(t.Context(), "com", 20)
	if err != nil || len(users) != 20 || users[0].Username != "com" {
		t.Errorf("found %d users, the first %+v: %v", len(users), users[0], err)
	}
	e.finds("common name119", "user119")
}
