package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
)

// search returns the names of the users found.
func (e *engine) search(prefix string, count int) (names []string, page retwis.FollowPage) {
	e.T.Helper()
	page, err := e.Accounts.SearchUsers(e.T.Context(), prefix, retwis.Page{First: count})
	if err != nil {
		e.T.Fatal(err)
	}
	for _, f := range page.Follows {
		names = append(names, f.User.Username)
		if !f.FollowedAt.IsZero() || f.Cursor == "" {
			e.T.Errorf("%s has the follow time %s and the cursor %q", f.User.Username, f.FollowedAt, f.Cursor)
		}
	}
	return names, page
}

func TestSearchUsers_FindsPrefixesInAnyCase(t *testing.T) {
	t.Parallel()
	for _, partitions := range []int{1, 16} {
		t.Run(fmt.Sprint(partitions, " partitions"), func(t *testing.T) {
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				e := newEngine(t, store.Options{URL: url, Partitions: partitions})
				names := []string{
					"Ann", "ann_", "ann0", "anna", "ANNABELLE", "Annabel_", "anton", "bob", "Bob_1", "__x", "zzz", "zzz9",
					"a2345678901234567890", "a234567890123456789",
				}
				e.Register(names...)
				slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
				for _, name := range slices.Concat(names, []string{"x", "annac", "zzzz"}) {
					for n := 1; n <= len(name); n++ {
						prefix := name[:n]
						var want []string
						for _, other := range names {
							if strings.HasPrefix(strings.ToLower(other), strings.ToLower(prefix)) {
								want = append(want, other)
							}
						}
						for _, count := range []int{1, 2, 50} {
							for _, prefix := range []string{prefix, strings.ToUpper(prefix)} {
								got, page := e.search(prefix, count)
								if diff := cmp.Diff(want[:min(count, len(want))], got); diff != "" && len(want) > 0 {
									t.Errorf("the first %d with %q (-want +got):\n%s", count, prefix, diff)
								}
								if page.TotalCount != len(want) || page.HasNextPage != (len(want) > count) || page.HasPreviousPage {
									t.Errorf("the first %d of %d with %q: %+v", count, len(want), prefix, page)
								}
							}
						}
					}
				}
			})
		})
	}
}

func TestSearchUsers_ContinuesPastNamesWithoutUsers(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		client := enginetest.Client(t, url)
		names := []string{"ann", "ann0", "Ann_", "anna", "annA1", "annab", "annz"}
		people := e.Register(slices.Concat(names, []string{"am0", "ao0"})...)
		for count := 1; count <= len(names)+1; count++ {
			e.wantSearch(names, "an", count, false)
			e.wantSearch(names, "an", count, true)
		}

		// Names without users neither shorten a page nor end the search.
		users, err := e.Accounts.Users(t.Context(), people[1:4])
		if err != nil {
			t.Fatal(err)
		}
		for _, user := range users {
			breakOff(t, client, user, false)
		}
		for count := 1; count <= len(names); count++ {
			e.wantSearch([]string{"ann", "annA1", "annab", "annz"}, "an", count, false)
			e.wantSearch([]string{"ann", "annA1", "annab", "annz"}, "an", count, true)
		}

		page, err := e.Accounts.SearchUsers(t.Context(), "an", retwis.Page{First: 2, After: retwis.NameCursor("annaa")})
		if err != nil || len(page.Follows) != 2 || page.Follows[0].User.Username != "annab" || !page.HasPreviousPage {
			t.Errorf("after a name that is gone: %+v, %v", page, err)
		}
		for _, cursor := range []retwis.Cursor{
			"nonsense", retwis.NameCursor("bob"), retwis.UserSetPosition{Set: retwis.NewestUsers()}.Cursor(),
		} {
			if _, err := e.Accounts.SearchUsers(t.Context(), "an", retwis.Page{First: 2, After: cursor}); !errors.Is(err, retwis.ErrBadCursor) {
				t.Errorf("after %q: %v", cursor, err)
			}
		}
	})
}

// wantSearch reads a search to its end, from the first name or from the last.
func (e *engine) wantSearch(want []string, prefix string, count int, backward bool) {
	e.T.Helper()
	var got []string
	for at := retwis.Cursor(""); ; {
		page := retwis.Page{First: count, After: at}
		if backward {
			page = retwis.Page{Last: count, Before: at}
		}
		found, err := e.Accounts.SearchUsers(e.T.Context(), prefix, page)
		if err != nil {
			e.T.Fatal(err)
		}
		ahead, behind := found.HasNextPage, found.HasPreviousPage
		if backward {
			ahead, behind = behind, ahead
			slices.Reverse(found.Follows)
		}
		if behind != (at != "") {
			e.T.Errorf("after %d of %d: a page behind: %t", len(got), len(want), behind)
		}
		for _, f := range found.Follows {
			got = append(got, f.User.Username)
			at = f.Cursor
		}
		if len(found.Follows) < count && ahead {
			e.T.Errorf("a page of %d has %d, and more follow", count, len(found.Follows))
		}
		if !ahead || len(got) > len(want) {
			break
		}
	}
	if backward {
		slices.Reverse(got)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		e.T.Errorf("%q by pages of %d (-want +got):\n%s", prefix, count, diff)
	}
}

// An interrupted registration is not found. Once finished, its user is found.
func TestFinishRegistration_ListsTheUser(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, PendingGrace: time.Nanosecond})
		client := enginetest.Client(t, url)
		people := e.Register("before", "broken", "broken2")
		want := func(listed []retwis.UserID, found ...string) {
			t.Helper()
			page, err := e.Accounts.NewestUsers(t.Context(), retwis.Page{First: 10})
			if err != nil {
				t.Fatal(err)
			}
			got := idsOf(page.Follows)
			slices.Sort(got)
			if diff := cmp.Diff(listed, got); diff != "" {
				t.Errorf("newest users (-want +got):\n%s", diff)
			}
			if got, _ := e.search("brok", 10); !slices.Equal(got, found) {
				t.Errorf("found %q, want %q", got, found)
			}
		}
		all := slices.Sorted(slices.Values(people))
		want(all, "broken", "broken2")

		// Crashes before the name is claimed, and before the account is activated.
		users, err := e.Accounts.Users(t.Context(), people[1:])
		if err != nil {
			t.Fatal(err)
		}
		breakOff(t, client, users[0], true)
		breakOff(t, client, users[1], false)
		want(people[:1])
		for range 2 {
			for _, user := range users {
				if settled, err := e.Tasks.FinishRegistration(t.Context(), user.ID, user.Username); !settled || err != nil {
					t.Errorf("settling %s: %t, %v", user.Username, settled, err)
				}
			}
		}
		want(all, "broken", "broken2")

		// The name of another user stays with that user.
		breakOff(t, client, users[1], true)
		if settled, err := e.Tasks.FinishRegistration(t.Context(), users[1].ID, users[0].Username); !settled || err != nil {
			t.Errorf("settling: %t, %v", settled, err)
		}
		want(slices.DeleteFunc(all, func(id retwis.UserID) bool { return id == users[1].ID }), users[0].Username)
	})
}

// A registration may still be in progress, unless it is old, or from the time when the clock of Redis was ahead.
func TestFinishRegistration_WaitsForARecentOne(t *testing.T) {
	t.Parallel()
	url := redistest.Server(t).URL()
	e := newEngine(t, store.Options{URL: url})
	client := enginetest.Client(t, url)
	users, err := e.Accounts.Users(t.Context(), e.Register("broken"))
	if err != nil {
		t.Fatal(err)
	}
	breakOff(t, client, users[0], false)
	key := enginetest.Keys(t, client, "*:user:"+users[0].ID.String())[0]
	for _, tt := range []struct {
		age     time.Duration
		settled bool
	}{{0, false}, {10 * time.Minute, true}, {-time.Hour, true}} {
		if err := client.HSet(t.Context(), key, "state", "pending", "created", time.Now().Add(-tt.age).UnixMilli()).Err(); err != nil {
			t.Fatal(err)
		}
		if settled, err := e.Tasks.FinishRegistration(t.Context(), users[0].ID, "broken"); settled != tt.settled || err != nil {
			t.Errorf("settling a registration of %s ago: %t, %v, want %t", tt.age, settled, err, tt.settled)
		}
	}
}

// breakOff turns an account into one whose registration was interrupted.
func breakOff(t *testing.T, client redis.UniversalClient, user *retwis.User, unclaimed bool) {
	t.Helper()
	ctx, id, name := t.Context(), user.ID, user.Username
	key := enginetest.Keys(t, client, "*:user:"+id.String())[0]
	partition, _, _ := strings.Cut(key, ":")
	commands := []redis.Cmder{
		client.HSet(ctx, key, "state", "pending"),
		client.Del(ctx, partition+":home:"+id.String()),
		client.ZRem(ctx, partition+":newest_users", id.String()),
	}
	if unclaimed {
		key := enginetest.Keys(t, client, "*:name:"+name)[0]
		partition, _, _ := strings.Cut(key, ":")
		commands = append(commands, client.Del(ctx, key), client.ZRem(ctx, partition+":names", name+" "+id.String()))
	}
	for _, command := range commands {
		if command.Err() != nil {
			t.Fatal(command.Err())
		}
	}
}

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

// Attack: one search compared the names of 500 users of a partition with its words at once, and Redis served nobody else for 2.5 ms.
func TestFindUsers_ComparesFewNamesAtOnce(t *testing.T) {
	t.Parallel()
	server := redistest.Server(t)
	e := newEngine(t, store.Options{URL: server.URL(), Partitions: 1})
	client := enginetest.Client(t, server.URL())
	e.registerAs("zoe", "Anna Berta")
	e.finds("anna berta", "zoe") // it is cached from now on
	keys := enginetest.Keys(t, client, "*:words")
	if len(keys) != 1 {
		t.Fatalf("keys of the words: %v", keys)
	}
	add := func(from, to int) {
		for i := from; i < to; i++ {
			for _, word := range []string{"anna", "berta"} { // before those of zoe
				if err := client.ZAdd(t.Context(), keys[0], redis.Z{Member: fmt.Sprintf("%s %d", word, i)}).Err(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	scripts := func() int {
		return workOf(t, func(ctx context.Context) {
			if _, err := e.Accounts.FindUsers(ctx, "anna berta", 10); err != nil {
				t.Error(err)
			}
		}).Scripts
	}
	few := scripts()
	add(1000, 1300)
	e.finds("anna berta", "zoe")
	if n := scripts(); n != few+2 {
		t.Errorf("a search among 300 users runs %d scripts, and one among few %d, want 2 more", n, few)
	}
	add(1300, 1700)
	e.finds("anna berta") // the user is behind the first 500
	if n := scripts(); n > few+3 {
		t.Errorf("a search among 700 users runs %d scripts, and one among few %d, want at most 3 more", n, few)
	}
}
