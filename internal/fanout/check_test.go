package fanout_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"retwis/internal/check"
	"retwis/internal/embedded"
	"retwis/internal/fanout"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/inspect"
)

// check compares the whole database with its definition.
func (e *engine) check(options check.Options) check.Report {
	e.t.Helper()
	report, err := check.Run(e.t.Context(), inspect.New(e.Store), options)
	if err != nil {
		e.t.Fatal(err)
	}
	return report
}

// isSound fails the test if the checker finds anything wrong.
func (e *engine) isSound() {
	e.t.Helper()
	report := e.check(check.Options{})
	if report.Findings() > 0 || report.Unsettled > 0 {
		e.t.Errorf("the checker finds %v, and cannot tell of %d", report.Counts, report.Unsettled)
		for _, f := range report.Examples {
			e.t.Errorf("%s: %s", f.Kind, f.Text)
		}
	}
}

// keepBusy has people act until stop is called, which waits for the last of them.
func (m *model) keepBusy(e *engine, r *rand.Rand) (stop func()) {
	ctx, cancel := context.WithCancel(e.t.Context())
	const goroutines = 4
	var wg sync.WaitGroup
	for g := range goroutines {
		own := rand.New(rand.NewPCG(r.Uint64(), uint64(g)))
		wg.Go(func() {
			for ctx.Err() == nil {
				if waiting, err := e.Outbox.OutboxLength(ctx); err == nil && waiting > 200 {
					time.Sleep(time.Millisecond)
					continue
				}
				user := m.people[own.IntN(len(m.people)/goroutines)*goroutines+g]
				if err := m.act(e, own, user); err != nil {
					e.t.Error(err)
					return
				}
			}
		})
	}
	return func() { cancel(); wg.Wait() }
}

func TestCheckOfABusyDatabaseGivesNoFalseAlarm(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		options store.Options
	}{
		{"room for all", store.Options{}},
		{"small homes", store.Options{HomeCap: 60, Slack: 20, Chunk: 5}},
		{"large authors", store.Options{HomeCap: 200, PullAbove: 6, Chunk: 5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			redistest.OnEachRedis(t, func(t *testing.T, url string) {
				options := tt.options
				options.URL = url
				e := newEngine(t, options)
				e.work(fanout.Options{})
				r := redistest.Rand(t)
				stop := newModel(e.crowd("user", 40)).keepBusy(e, r)
				for range redistest.Size(8, 80) {
					e.isSound()
				}
				if report := e.check(check.Options{Inspections: 1}); report.Findings() > 0 {
					t.Errorf("one look alone is enough for %v", report.Counts)
				} else {
					t.Logf("%d entries, of which at first sight %d seem to be wrong", report.Entries, report.Unsettled)
				}
				stop()
				e.drain()
				e.isSound()
			})
		})
	}
}

// damage is a database in which things can be broken by hand.
type damage struct {
	*engine
	redis.UniversalClient

	reader, author, other, lone retwis.UserID
	list                        retwis.ListID
	posts                       []retwis.PostID // of the author, newest first
}

// only returns the one key that ends in what is given.
func (d *damage) only(end string) string {
	d.t.Helper()
	found := keys(d.t, d.UniversalClient, "*"+end)
	if len(found) != 1 {
		d.t.Fatalf("keys that end in %s: %v", end, found)
	}
	return found[0]
}

func (d *damage) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// in returns the key of something else in the partition of a key.
func in(key, rest string) string { return key[:strings.Index(key, "}")+1] + ":" + rest }

func newDamage(t *testing.T, url string) *damage {
	e := newEngine(t, store.Options{URL: url})
	e.work(fanout.Options{})
	people := e.register("reader", "author", "other", "lone")
	d := &damage{engine: e, UniversalClient: raw(t, url), reader: people[0], author: people[1], other: people[2], lone: people[3]}
	for i := range 12 {
		d.posts = append(d.posts, e.post(d.author, fmt.Sprint("post ", i, " for @reader")))
		e.post(d.other, "hello")
	}
	slices.Reverse(d.posts)
	e.follow(d.reader, d.author)
	e.follow(d.reader, d.other)
	e.follow(d.other, d.author)
	list, err := e.Lists.CreateList(t.Context(), d.reader, "some", e.key())
	d.must(err)
	d.list = list.ID
	d.must(e.Lists.AddListMember(t.Context(), d.reader, d.list, d.author))
	e.drain()
	return d
}

// in returns the same database for a part of the test.
func (d *damage) in(t *testing.T) *damage {
	part := *d
	part.engine = &engine{Store: d.Store, url: d.url, t: t, keys: d.keys}
	d.keys += 1000 // no two parts have the same keys
	return &part
}

func TestCheckFindsAndMendsWhatIsBroken(t *testing.T) {
	t.Parallel()
	home := func(d *damage) string { return d.only(":home:" + d.reader.String()) }
	profile := func(d *damage) string { return d.only(":profile:" + d.author.String()) }
	swap := func(d *damage, key string, a, b retwis.PostID) {
		entries := d.LRange(d.t.Context(), key, 0, -1).Val()
		i, j := slices.Index(entries, a.String()), slices.Index(entries, b.String())
		d.must(d.LSet(d.t.Context(), key, int64(i), b.String()).Err())
		d.must(d.LSet(d.t.Context(), key, int64(j), a.String()).Err())
	}
	tests := []struct {
		name    string
		corrupt func(ctx context.Context, d *damage) error
		want    map[check.Kind]int
	}{
		{"an entry removed", func(ctx context.Context, d *damage) error {
			return d.LRem(ctx, home(d), 0, d.posts[4].String()).Err()
		}, map[check.Kind]int{check.Missing: 1}},
		{"the oldest entries removed", func(ctx context.Context, d *damage) error {
			return d.LRem(ctx, home(d), 0, d.posts[11].String()).Err()
		}, map[check.Kind]int{check.Missing: 1}},
		{"an entry of a list removed", func(ctx context.Context, d *damage) error {
			return d.LRem(ctx, d.only(":list:"+d.list.String()+":posts"), 0, d.posts[4].String()).Err()
		}, map[check.Kind]int{check.Missing: 1}},
		{"an extra entry", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, d.only(":home:"+d.other.String()), d.post(d.lone, "alone").String()).Err()
		}, map[check.Kind]int{check.Extra: 1}},
		{"an entry that is no post", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, home(d), "123456000000").Err()
		}, map[check.Kind]int{check.Extra: 1}},
		{"an entry that is nothing", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, home(d), "nonsense").Err()
		}, map[check.Kind]int{check.Extra: 1}},
		{"an entry doubled", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, home(d), d.posts[3].String()).Err()
		}, map[check.Kind]int{check.Duplicate: 1}},
		{"an entry three times", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, home(d), d.posts[3].String(), d.posts[3].String()).Err()
		}, map[check.Kind]int{check.Duplicate: 2}},
		{"two entries swapped", func(_ context.Context, d *damage) error {
			swap(d, home(d), d.posts[2], d.posts[3])
			return nil
		}, map[check.Kind]int{check.OutOfOrder: 1}},
		{"mentions doubled", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, d.only(":mentions:"+d.reader.String()), d.posts[3].String()).Err()
		}, map[check.Kind]int{check.Duplicate: 1}},
		{"mentions that are none", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, d.only(":mentions:"+d.reader.String()), d.post(d.lone, "hm").String(), 123456000000).Err()
		}, map[check.Kind]int{check.Extra: 2}},
		{"a profile swapped", func(_ context.Context, d *damage) error {
			swap(d, profile(d), d.posts[2], d.posts[3])
			return nil
		}, map[check.Kind]int{check.ProfileOrder: 1}},
		{"a profile doubled", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, profile(d), d.posts[2].String()).Err()
		}, map[check.Kind]int{check.ProfileDuplicate: 1, check.Count: 1}},
		{"another's post on a profile", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, profile(d), d.post(d.lone, "hm").String()).Err()
		}, map[check.Kind]int{check.ProfileExtra: 1, check.Count: 1}},
		{"a post off its profile", func(ctx context.Context, d *damage) error {
			return d.LRem(ctx, profile(d), 0, d.posts[5].String()).Err()
		}, map[check.Kind]int{check.ProfileMissing: 1, check.Count: 1}},
		{"a follow without a follower", func(ctx context.Context, d *damage) error {
			following := d.only(":following:" + d.reader.String())
			return d.ZRem(ctx, in(following, "fans:"+d.author.String()), d.reader.String()).Err()
		}, map[check.Kind]int{check.OneWayEdge: 1, check.FollowerPartitionCount: 1}},
		{"a follower without a follow", func(ctx context.Context, d *damage) error {
			return d.ZRem(ctx, d.only(":following:"+d.reader.String()), d.author.String()).Err()
		}, map[check.Kind]int{check.OneWayEdge: 1, check.Count: 1, check.Extra: 12}},
		{"another time of a follow", func(ctx context.Context, d *damage) error {
			return d.ZIncrBy(ctx, d.only(":following:"+d.reader.String()), 5, d.author.String()).Err()
		}, map[check.Kind]int{check.OneWayEdge: 1}},
		{"a follow of nobody", func(ctx context.Context, d *damage) error {
			return d.ZAdd(ctx, d.only(":following:"+d.reader.String()), z(77, "12345")).Err()
		}, map[check.Kind]int{check.OneWayEdge: 1, check.DanglingEdge: 1, check.Count: 1}},
		{"a member that is not listed", func(ctx context.Context, d *damage) error {
			return d.ZRem(ctx, d.only(":listed:"+d.author.String()), d.list.String()).Err()
		}, map[check.Kind]int{check.OneWayEdge: 1}},
		{"one listed that is no member", func(ctx context.Context, d *damage) error {
			return d.ZRem(ctx, d.only(":list:"+d.list.String()+":members"), d.author.String()).Err()
		}, map[check.Kind]int{check.OneWayEdge: 1, check.Extra: 12}},
		{"a wrong count of posts", func(ctx context.Context, d *damage) error {
			return d.HIncrBy(ctx, d.only(":user:"+d.author.String()), "posts", 3).Err()
		}, map[check.Kind]int{check.Count: 1}},
		{"wrong counts of follows and followers", func(ctx context.Context, d *damage) error {
			return d.HSet(ctx, d.only(":user:"+d.reader.String()), "following", -1, "followers", 7).Err()
		}, map[check.Kind]int{check.Count: 2}},
		{"a wrong reach", func(ctx context.Context, d *damage) error {
			reach := d.only(":follower_partitions:" + d.author.String())
			for partition, value := range d.HGetAll(ctx, reach).Val() {
				version, _, _ := strings.Cut(value, ":")
				if !strings.HasPrefix(partition, "l") {
					return d.HSet(ctx, reach, partition, version+":9").Err()
				}
			}
			return fmt.Errorf("no reach")
		}, map[check.Kind]int{check.FollowerPartitionCount: 1, check.Count: 1}},
		{"no reach", func(ctx context.Context, d *damage) error {
			return d.Del(ctx, d.only(":follower_partitions:"+d.other.String())).Err()
		}, map[check.Kind]int{check.FollowerPartition: 1, check.Count: 1}},
		{"no reach of lists", func(ctx context.Context, d *damage) error {
			reach := d.only(":follower_partitions:" + d.author.String())
			return d.HDel(ctx, reach, fmt.Sprint("l", d.Outbox.PartitionOfUser(d.reader))).Err()
		}, map[check.Kind]int{check.FollowerPartition: 1}},
		{"a name nobody has", func(ctx context.Context, d *damage) error {
			return d.Del(ctx, d.only(":name:author")).Err()
		}, map[check.Kind]int{check.NameMissing: 1}},
		{"a name no search finds", func(ctx context.Context, d *damage) error {
			name := d.only(":name:author")
			return d.ZRem(ctx, in(name, "names"), "author "+d.author.String()).Err()
		}, map[check.Kind]int{check.NameMissing: 1}},
		{"a name of nobody", func(ctx context.Context, d *damage) error {
			return d.Set(ctx, d.only(":name:author"), "1025", 0).Err()
		}, map[check.Kind]int{check.NameTaken: 2}},
		{"the newest user off the newest", func(ctx context.Context, d *damage) error {
			user := d.only(":user:" + d.lone.String())
			d.must(d.HIncrBy(ctx, user, "created", 1000).Err()) // surely the newest of the partition
			return d.ZRem(ctx, in(user, "newest_users"), d.lone.String()).Err()
		}, map[check.Kind]int{check.NewestMissing: 1}},
		{"nobody among the newest", func(ctx context.Context, d *damage) error {
			return d.ZAdd(ctx, in(d.only(":user:"+d.lone.String()), "newest_users"), z(99, "12345")).Err()
		}, map[check.Kind]int{check.NewestExtra: 1}},
		{"a post doubled on the public timeline", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, d.only(":public"), d.posts[3].String(), d.posts[3].String()).Err()
		}, map[check.Kind]int{check.Duplicate: 2}},
		{"no post on the public timeline", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, d.only(":public"), "123456000000").Err()
		}, map[check.Kind]int{check.Extra: 1}},
	}
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		whole := newDamage(t, url)
		whole.isSound()
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				d := whole.in(t)
				before := d.read(retwis.Home(d.reader))
				d.must(tt.corrupt(t.Context(), d))
				d.drain()
				found := d.check(check.Options{})
				if !maps.Equal(found.Counts, tt.want) {
					t.Errorf("found %v, want %v: %v", found.Counts, tt.want, found.Examples)
				}
				d.check(check.Options{Repair: true})
				d.drain()
				d.isSound()
				if after := d.read(retwis.Home(d.reader)); !slices.Equal(newest(after), newest(before)) {
					t.Errorf("the home holds %v, before %v", after, before)
				}
			})
		}
	})
}

func TestCheckOfARedisInsideTheProcess(t *testing.T) {
	t.Parallel()
	own, err := embedded.Start(t.Context(), embedded.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := own.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	d := newDamage(t, own.URL())
	d.isSound()
	home := d.only(":home:" + d.reader.String())
	d.must(d.LRem(t.Context(), home, 0, d.posts[4].String()).Err())
	d.must(d.LPush(t.Context(), home, d.posts[3].String()).Err())
	found := d.check(check.Options{Repair: true})
	if !maps.Equal(found.Counts, map[check.Kind]int{check.Missing: 1, check.Duplicate: 1}) {
		t.Errorf("found %v: %v", found.Counts, found.Examples)
	}
	d.isSound()
}

// Homes are broken and mended while people post, follow and read. Nothing of that shows at
// the end.
func TestRepairOfABusyDatabase(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url, GoneGrace: shortGrace})
		e.work(fanout.Options{})
		client := raw(t, url)
		r := redistest.Rand(t)
		m := newModel(e.crowd("user", 40))
		stop := m.keepBusy(e, r)
		mended := 0
		for range redistest.Size(3, 50) {
			time.Sleep(50 * time.Millisecond)
			for _, home := range keys(t, client, "*:home:*") {
				var err error
				switch length := client.LLen(t.Context(), home).Val(); {
				case length < 3:
				case r.IntN(3) == 0:
					err = client.LRem(t.Context(), home, 1, client.LIndex(t.Context(), home, r.Int64N(length-1)).Val()).Err()
				case r.IntN(2) == 0:
					err = client.LInsertBefore(t.Context(), home, client.LIndex(t.Context(), home, 0).Val(), client.LIndex(t.Context(), home, r.Int64N(length-1)).Val()).Err()
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			mended += e.check(check.Options{Repair: true}).Repaired
		}
		stop()
		e.drain()
		mended += e.check(check.Options{Repair: true}).Repaired
		if mended == 0 {
			t.Error("nothing was mended")
		}
		t.Logf("%d findings were mended", mended)
		e.drain()
		m.verify(e, 1000, 100)
	})
}

func TestCheckOfASampleIsRepeatable(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		d := newDamage(t, url)
		for _, user := range []retwis.UserID{d.reader, d.author, d.other, d.lone} {
			d.must(d.HSet(t.Context(), d.only(":user:"+user.String()), "posts", 99).Err())
		}
		one := func(seed uint64) retwis.UserID {
			report := d.check(check.Options{Sample: 1, Seed: seed})
			if report.Users != 1 || report.Findings() != 1 {
				t.Fatalf("%+v", report)
			}
			return report.Examples[0].User
		}
		chosen := map[retwis.UserID]bool{}
		for seed := range uint64(40) {
			user := one(seed)
			chosen[user] = true
			if one(seed) != user {
				t.Errorf("seed %d chooses one user, then another", seed)
			}
		}
		if len(chosen) != 4 {
			t.Errorf("40 seeds choose %d of 4 users", len(chosen))
		}
	})
}

func TestCheckWithoutAWorkerSaysThatItCannotTell(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		_, stop := e.work(fanout.Options{})
		people := e.register("reader", "author")
		e.follow(people[0], people[1])
		e.drain()
		stop()
		e.post(people[1], "hello")
		report := e.check(check.Options{SettleTimeout: 50 * time.Millisecond})
		if report.Findings() != 0 || report.Unsettled != 1 {
			t.Errorf("%+v", report)
		}
	})
}
