package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"retwis/internal/auth"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/seed"
	"retwis/internal/store"
	"retwis/internal/store/bulk"
)

// person holds the fields of a user that are the same in each run.
type person struct {
	Name, DisplayName, Bio string
	Following              []string
	Posts                  []string // oldest first
}

// network reads all users of a population, with their follows and posts.
func network(t *testing.T, db *store.Store, p seed.Population) []person {
	t.Helper()
	users := members(t, db, p)
	names := map[retwis.UserID]string{}
	for _, user := range users {
		names[user.ID] = user.Username
	}
	all := make([]person, len(users))
	for i, user := range users {
		all[i] = person{Name: user.Username, DisplayName: user.DisplayName, Bio: user.Bio}
		for after := retwis.Cursor(""); ; {
			page, err := db.Follows.FollowPage(t.Context(), retwis.FollowConnection{Kind: retwis.Following, User: user.ID}, retwis.Page{First: retwis.MaxPageSize, After: after})
			if err != nil {
				t.Fatal(err)
			}
			for _, follow := range page.Follows {
				all[i].Following = append(all[i].Following, names[follow.User.ID])
				after = follow.Cursor
			}
			if !page.HasNextPage {
				break
			}
		}
		slices.Sort(all[i].Following)
		for after := retwis.Cursor(""); ; {
			page, err := db.Timelines.Page(t.Context(), retwis.Profile(user.ID), retwis.Page{First: retwis.MaxPageSize, After: after})
			if err != nil {
				t.Fatal(err)
			}
			for _, edge := range page.Edges {
				all[i].Posts = append(all[i].Posts, edge.Post.Text)
				after = edge.Cursor
			}
			if !page.HasNextPage {
				break
			}
		}
		slices.Reverse(all[i].Posts)
	}
	return all
}

func TestSeed_ContinuesAfterInterruptions(t *testing.T) {
	t.Parallel()
	p := seed.Population{Seed: 7, People: 600, Follows: 10, Posts: 4000, Readers: 40}
	args := []string{"seed", "--seed", "7", "--users", "600", "--avg-follows", "10", "--posts", "4000", "--star", "40"}

	whole := environment("RETWIS_REDIS_URL=" + redistest.Server(t).URL())
	if code, stdout, stderr := invoke(t, whole, args...); code != 0 {
		t.Fatalf("code %d, printed\n%s%s", code, stdout, stderr)
	}
	want := network(t, openTestStore(t, redisOf(whole)), p)

	broken := environment("RETWIS_REDIS_URL=" + redistest.Server(t).URL())
	number := rand.Uint64()
	t.Logf("seed of the interruptions: %d", number)
	random := rand.New(rand.NewPCG(number, 0))
	interrupted := 0
	for try := range 10 {
		running := launch(t, broken, append(args, "--parallel", fmt.Sprint(1+random.IntN(8)))...)
		timer := time.NewTimer(time.Duration(random.Int64N(int64(500 * time.Millisecond))))
		select {
		case <-timer.C:
		case <-running.ended:
		}
		timer.Stop()
		signal := syscall.SIGKILL
		if try%3 == 0 {
			signal = syscall.SIGINT
		}
		running.signal(signal)
		running.code()
		if !strings.Contains(running.stdout.String(), "Seeded") {
			interrupted++
		}
	}
	if interrupted == 0 {
		t.Error("no run was interrupted")
	}
	if code, stdout, stderr := invoke(t, broken, args...); code != 0 {
		t.Fatalf("the last run: code %d, printed\n%s%s", code, stdout, stderr)
	}
	if diff := cmp.Diff(want, network(t, openTestStore(t, redisOf(broken)), p)); diff != "" {
		t.Errorf("after %d interruptions the data differs from that of one run:\n%s", interrupted, diff)
	}
	sound(t, broken)

	// Another run changes nothing.
	code, stdout, _ := invoke(t, broken, args...)
	if code != 0 || !strings.Contains(stdout, "0 new accounts, 641 existing accounts; 0 new follows; 0 new posts;") {
		t.Errorf("again: code %d, printed\n%s", code, stdout)
	}
}

// lateImporter registers accounts right after a seeder found their names free, as the last commands of a killed run do.
type lateImporter struct{ *bulk.Importer }

func (i lateImporter) RegisterAll(ctx context.Context, all []retwis.Registration) ([]retwis.UserID, error) {
	if _, err := i.Importer.RegisterAll(ctx, all); err != nil {
		return nil, err
	}
	return i.Importer.RegisterAll(ctx, all)
}

func TestSeed_UsesAccountsThatAKilledRunRegistersMeanwhile(t *testing.T) {
	t.Parallel()
	db := openTestStore(t, redistest.Server(t).URL())
	accounts, err := auth.NewAccounts(db.Accounts, db.Sessions, auth.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seeder := seed.New(seed.Population{Seed: 7, People: 20}, lateImporter{bulk.New(db)}, accounts, seed.Options{})
	if err := besideWorker(t.Context(), fanout.New(db.Outbox, db.Tasks, fanout.Options{}), seeder.Run); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(seed.Result{Reused: 20}, seeder.Result()); diff != "" {
		t.Errorf("the seeder used other accounts than those registered meanwhile (-want +got):\n%s", diff)
	}
}

func TestSeed_AddsPostsToExistingHomes(t *testing.T) {
	t.Parallel()
	env := environment("RETWIS_REDIS_URL=" + redistest.Server(t).URL())
	args := []string{"seed", "--users", "60", "--avg-follows", "6", "--posts"}
	for _, posts := range []string{"100", "400"} {
		if code, stdout, stderr := invoke(t, env, append(args, posts)...); code != 0 || !strings.Contains(stdout, "all posts are delivered") {
			t.Fatalf("code %d, printed\n%s%s", code, stdout, stderr)
		}
	}
	db := openTestStore(t, redisOf(env))
	posts := 0
	for _, user := range members(t, db, seed.Population{Seed: 1, People: 60}) {
		posts += user.PostCount
		if user.CreatedAt.After(time.Now().Add(-seed.Span)) {
			t.Errorf("%s registered at %s, within the time span of the posts", user.Username, user.CreatedAt)
		}
	}
	if posts != 400 {
		t.Errorf("there are %d posts, want 400", posts)
	}
	public, err := db.Timelines.Page(t.Context(), retwis.Public(), retwis.Page{First: retwis.MaxPageSize})
	if err != nil || len(public.Edges) != retwis.MaxPageSize {
		t.Fatalf("the public timeline has %d posts: %v", len(public.Edges), err)
	}
	sound(t, env)
}
