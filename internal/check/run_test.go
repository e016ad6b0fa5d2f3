package check_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"retwis/internal/check"
	"retwis/internal/embedded"
	"retwis/internal/enginetest"
	"retwis/internal/fanout"
	"retwis/internal/record"
	"retwis/internal/redistest"
	"retwis/internal/retwis"
	"retwis/internal/store"
	"retwis/internal/store/inspect"

	"github.com/redis/go-redis/v9"
)

func TestRun_FindsNothingInABusyDatabase(t *testing.T) {
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
			onBusyDatabases(t, redistest.Size(1, 8), tt.options, func(e *engine, _ *enginetest.Model, _ *rand.Rand, stop func()) {
				for range redistest.Size(8, 10) {
					e.IsSound()
				}
				if report := e.Check(check.Options{Inspections: 1}); report.Findings() > 0 {
					e.T.Errorf("a single inspection reports %v, want no findings", report.Counts)
				} else {
					e.T.Logf("%d entries, %d unsettled differences", report.Entries, report.Unsettled)
				}
				stop()
				e.Drain()
				e.IsSound()
			})
		})
	}
}

// onBusyDatabases runs a test with a number of databases of each kind of Redis, one after the other, whose users act until stop is called. A
// database grows meanwhile, and takes longer to check: several of them are checked more often than one in the same time.
func onBusyDatabases(t *testing.T, databases int, options store.Options,
	test func(e *engine, m *enginetest.Model, r *rand.Rand, stop func()),
) {
	t.Helper()
	for range databases {
		redistest.OnEachRedis(t, func(t *testing.T, url string) {
			options := options
			options.URL = url
			e := newEngine(t, options)
			e.Work(fanout.Options{})
			r := redistest.Rand(t)
			m := enginetest.NewModel(e.Crowd("user", 40))
			test(e, m, r, m.KeepBusy(e.Engine, r))
		})
	}
}

// outage is a database whose reads fail now and then, as during a failover.
type outage struct {
	check.Database
	reads, failures atomic.Int32
}

func (o *outage) read() error {
	if o.reads.Add(1)%5 > 0 {
		return nil
	}
	o.failures.Add(1)
	return io.ErrUnexpectedEOF
}

func (o *outage) ProfileRecord(ctx context.Context, id retwis.UserID) ([]retwis.Element, int, error) {
	if err := o.read(); err != nil {
		return nil, 0, err
	}
	return o.Database.ProfileRecord(ctx, id)
}

func (o *outage) TimelineRecord(ctx context.Context, id retwis.TimelineID) (record.Timeline, error) {
	if err := o.read(); err != nil {
		return record.Timeline{}, err
	}
	return o.Database.TimelineRecord(ctx, id)
}

// A check of a large database takes long enough for a failover.
func TestRun_RepeatsReadsThatFail(t *testing.T) {
	t.Parallel()
	e := newEngine(t, store.Options{URL: redistest.Server(t).URL()})
	e.Work(fanout.Options{})
	users := e.Crowd("user", 12)
	for _, user := range users[1:] {
		e.Follow(user, users[0])
	}
	e.Post(users[0], "x")
	e.Drain()
	db := &outage{Database: inspect.New(e.Store)}
	report, err := check.Run(t.Context(), db, check.Options{})
	if err != nil || report.Findings() > 0 || db.failures.Load() == 0 {
		t.Errorf("after %d failures: %v, found %v", db.failures.Load(), err, report.Counts)
	}
}

// failedRepairs is a database whose repairs fail once each.
type failedRepairs struct {
	check.Database

	edges, rebuilds int
}

func (f *failedRepairs) RepairEdge(ctx context.Context, timeline retwis.TimelineID, author retwis.UserID) error {
	if f.edges++; f.edges == 1 {
		return context.DeadlineExceeded
	}
	return f.Database.RepairEdge(ctx, timeline, author)
}

func (f *failedRepairs) RecreateIfStored(ctx context.Context, id retwis.TimelineID) (bool, error) {
	if f.rebuilds++; f.rebuilds == 1 {
		return false, retwis.ErrNotReplicated
	}
	return f.Database.RecreateIfStored(ctx, id)
}

func TestRun_RepeatsRepairsThatFail(t *testing.T) {
	t.Parallel()
	d := newDamage(t, redistest.Server(t).URL())
	d.must(d.LRem(t.Context(), d.only(":home:"+d.reader.String()), 0, d.posts[4].String()).Err())
	d.must(d.ZRem(t.Context(), d.only(":list:"+d.list.String()+":members"), d.author.String()).Err())
	db := &failedRepairs{Database: inspect.New(d.Store)}
	report, err := check.Run(t.Context(), db, check.Options{Repair: true})
	if err != nil || report.Findings() == 0 || report.Repaired != report.Findings() || db.edges < 2 || db.rebuilds < 2 {
		t.Errorf("%d of %v were repaired in %d and %d tries: %v", report.Repaired, report.Counts, db.edges, db.rebuilds, err)
	}
	d.IsSound()
}

func TestRun_FindsAndRepairsDamage(t *testing.T) {
	t.Parallel()
	home := func(d *damage) string { return d.only(":home:" + d.reader.String()) }
	profile := func(d *damage) string { return d.only(":profile:" + d.author.String()) }
	swap := func(d *damage, key string, a, b retwis.PostID) {
		entries := d.LRange(d.T.Context(), key, 0, -1).Val()
		i, j := slices.Index(entries, a.String()), slices.Index(entries, b.String())
		d.must(d.LSet(d.T.Context(), key, int64(i), b.String()).Err())
		d.must(d.LSet(d.T.Context(), key, int64(j), a.String()).Err())
	}
	tests := []struct {
		name    string
		corrupt func(ctx context.Context, d *damage) error
		want    map[check.Kind]int
	}{
		{"entry removed", func(ctx context.Context, d *damage) error {
			return d.LRem(ctx, home(d), 0, d.posts[4].String()).Err()
		}, map[check.Kind]int{check.Missing: 1}},
		{"oldest entry removed", func(ctx context.Context, d *damage) error {
			return d.LRem(ctx, home(d), 0, d.posts[11].String()).Err()
		}, map[check.Kind]int{check.Missing: 1}},
		{"entry of a list timeline removed", func(ctx context.Context, d *damage) error {
			return d.LRem(ctx, d.only(":list:"+d.list.String()+":posts"), 0, d.posts[4].String()).Err()
		}, map[check.Kind]int{check.Missing: 1}},
		{"extra entry", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, d.only(":home:"+d.other.String()), d.Post(d.lone, "alone").String()).Err()
		}, map[check.Kind]int{check.Extra: 1}},
		{"entry without a post", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, home(d), "123456000000").Err()
		}, map[check.Kind]int{check.Extra: 1}},
		{"entry that is not a post id", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, home(d), "nonsense").Err()
		}, map[check.Kind]int{check.Extra: 1}},
		{"entry held twice", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, home(d), d.posts[3].String()).Err()
		}, map[check.Kind]int{check.Duplicate: 1}},
		{"entry held three times", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, home(d), d.posts[3].String(), d.posts[3].String()).Err()
		}, map[check.Kind]int{check.Duplicate: 2}},
		{"two entries swapped", func(_ context.Context, d *damage) error {
			swap(d, home(d), d.posts[2], d.posts[3])
			return nil
		}, map[check.Kind]int{check.OutOfOrder: 1}},
		{"mention held twice", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, d.only(":mentions:"+d.reader.String()), d.posts[3].String()).Err()
		}, map[check.Kind]int{check.Duplicate: 1}},
		{"mentions that do not mention the user", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, d.only(":mentions:"+d.reader.String()), d.Post(d.lone, "hm").String(), 123456000000).Err()
		}, map[check.Kind]int{check.Extra: 2}},
		{"two entries of a profile swapped", func(_ context.Context, d *damage) error {
			swap(d, profile(d), d.posts[2], d.posts[3])
			return nil
		}, map[check.Kind]int{check.ProfileOrder: 1}},
		{"entry of a profile held twice", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, profile(d), d.posts[2].String()).Err()
		}, map[check.Kind]int{check.ProfileDuplicate: 1, check.Count: 1}},
		{"post of another user on a profile", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, profile(d), d.Post(d.lone, "hm").String()).Err()
		}, map[check.Kind]int{check.ProfileExtra: 1, check.Count: 1}},
		{"post missing on its profile", func(ctx context.Context, d *damage) error {
			return d.LRem(ctx, profile(d), 0, d.posts[5].String()).Err()
		}, map[check.Kind]int{check.ProfileMissing: 1, check.Count: 1}},
		{"follow without the follower's edge", func(ctx context.Context, d *damage) error {
			following := d.only(":following:" + d.reader.String())
			return d.ZRem(ctx, in(following, "fans:"+d.author.String()), d.reader.String()).Err()
		}, map[check.Kind]int{check.OneWayEdge: 1, check.FollowerPartitionCount: 1}},
		{"follower without the follow's edge", func(ctx context.Context, d *damage) error {
			return d.ZRem(ctx, d.only(":following:"+d.reader.String()), d.author.String()).Err()
		}, map[check.Kind]int{check.OneWayEdge: 1, check.Count: 1, check.Extra: 12}},
		{"different times of a follow", func(ctx context.Context, d *damage) error {
			return d.ZIncrBy(ctx, d.only(":following:"+d.reader.String()), 5, d.author.String()).Err()
		}, map[check.Kind]int{check.OneWayEdge: 1}},
		{"follow of a user who does not exist", func(ctx context.Context, d *damage) error {
			return d.ZAdd(ctx, d.only(":following:"+d.reader.String()), redis.Z{Score: 77, Member: "12345"}).Err()
		}, map[check.Kind]int{check.OneWayEdge: 1, check.DanglingEdge: 1, check.Count: 1}},
		{"list member without the author's edge", func(ctx context.Context, d *damage) error {
			return d.ZRem(ctx, d.only(":listed:"+d.author.String()), d.list.String()).Err()
		}, map[check.Kind]int{check.OneWayEdge: 1}},
		{"author's edge without the list member", func(ctx context.Context, d *damage) error {
			return d.ZRem(ctx, d.only(":list:"+d.list.String()+":members"), d.author.String()).Err()
		}, map[check.Kind]int{check.OneWayEdge: 1, check.Extra: 12}},
		{"wrong count of posts", func(ctx context.Context, d *damage) error {
			return d.HIncrBy(ctx, d.only(":user:"+d.author.String()), "posts", 3).Err()
		}, map[check.Kind]int{check.Count: 1}},
		{"wrong counts of follows and followers", func(ctx context.Context, d *damage) error {
			return d.HSet(ctx, d.only(":user:"+d.reader.String()), "following", -1, "followers", 7).Err()
		}, map[check.Kind]int{check.Count: 2}},
		{"wrong count in a follower partition", func(ctx context.Context, d *damage) error {
			partitions := d.only(":follower_partitions:" + d.author.String())
			for partition, value := range d.HGetAll(ctx, partitions).Val() {
				version, _, _ := strings.Cut(value, ":")
				if !strings.HasPrefix(partition, "l") {
					return d.HSet(ctx, partitions, partition, version+":9").Err()
				}
			}
			return errors.New("no follower partition")
		}, map[check.Kind]int{check.FollowerPartitionCount: 1, check.Count: 1}},
		{"missing follower partition", func(ctx context.Context, d *damage) error {
			return d.Del(ctx, d.only(":follower_partitions:"+d.other.String())).Err()
		}, map[check.Kind]int{check.FollowerPartition: 1, check.Count: 1}},
		{"missing partition of lists", func(ctx context.Context, d *damage) error {
			partitions := d.only(":follower_partitions:" + d.author.String())
			return d.HDel(ctx, partitions, fmt.Sprint("l", d.Outbox.PartitionOfUser(d.reader))).Err()
		}, map[check.Kind]int{check.FollowerPartition: 1}},
		{"name not claimed", func(ctx context.Context, d *damage) error {
			return d.Del(ctx, d.only(":name:author")).Err()
		}, map[check.Kind]int{check.NameMissing: 1}},
		{"name missing in the search index", func(ctx context.Context, d *damage) error {
			name := d.only(":name:author")
			return d.ZRem(ctx, in(name, "names"), "author "+d.author.String()).Err()
		}, map[check.Kind]int{check.NameMissing: 1}},
		{"name claimed by another user", func(ctx context.Context, d *damage) error {
			return d.Set(ctx, d.only(":name:author"), "1025", 0).Err()
		}, map[check.Kind]int{check.NameTaken: 2}},
		{"word of a name missing in the people search", func(ctx context.Context, d *damage) error {
			return d.ZRem(ctx, in(d.only(":user:"+d.lone.String()), "words"), "lone "+d.lone.String()).Err()
		}, map[check.Kind]int{check.SearchWords: 1}},
		{"words of another display name", func(ctx context.Context, d *damage) error {
			return d.HSet(ctx, d.only(":user:"+d.lone.String()), "display", "Renamed").Err()
		}, map[check.Kind]int{check.SearchWords: 1}},
		{"people search finds a user who does not exist", func(ctx context.Context, d *damage) error {
			return d.ZAdd(ctx, in(d.only(":user:"+d.lone.String()), "words"), redis.Z{Member: "ghost 12345"}).Err()
		}, map[check.Kind]int{check.SearchExtra: 1}},
		{"people search finds a deleted user", func(ctx context.Context, d *damage) error {
			gone := d.Register("gone")[0]
			words := in(d.only(":user:"+gone.String()), "words")
			d.DeleteAccount(gone)
			return d.ZAdd(ctx, words, redis.Z{Member: "gone " + gone.String()}).Err()
		}, map[check.Kind]int{check.SearchExtra: 1}},
		{"people search finds a user by words of other names, and by none", func(ctx context.Context, d *damage) error {
			words := in(d.only(":user:"+d.lone.String()), "words")
			return d.ZAdd(ctx, words, redis.Z{Member: "alone " + d.lone.String()}, redis.Z{Member: d.lone.String()}, redis.Z{Member: "two words 77"}).Err()
		}, map[check.Kind]int{check.SearchExtra: 3}},
		{"newest user not listed", func(ctx context.Context, d *damage) error {
			user := d.only(":user:" + d.lone.String())
			d.must(d.HIncrBy(ctx, user, "created", 1000).Err()) // certainly the newest of the partition
			return d.ZRem(ctx, in(user, "newest_users"), d.lone.String()).Err()
		}, map[check.Kind]int{check.NewestMissing: 1}},
		{"newest users list a user who does not exist", func(ctx context.Context, d *damage) error {
			return d.ZAdd(ctx, in(d.only(":user:"+d.lone.String()), "newest_users"), redis.Z{Score: 99, Member: "12345"}).Err()
		}, map[check.Kind]int{check.NewestExtra: 1}},
		{"marker that is not an element", func(ctx context.Context, d *damage) error {
			return d.HSet(ctx, d.only(":user:"+d.reader.String()), "marker", "newest").Err()
		}, map[check.Kind]int{check.Marker: 1}},
		{"marker of a post that was never created", func(ctx context.Context, d *damage) error {
			return d.HSet(ctx, d.only(":user:"+d.reader.String()), "mentions_marker", (d.posts[0] + 1e15).String()).Err()
		}, map[check.Kind]int{check.Marker: 1}},
		{"marker that is not the element of its post", func(ctx context.Context, d *damage) error {
			list := d.only(":list:" + d.list.String())
			return d.HSet(ctx, list, "marker", d.posts[3].String()+":"+d.author.String()+":"+d.reader.String()).Err()
		}, map[check.Kind]int{check.Marker: 1}},
		{"post held three times on the public timeline", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, d.only(":public"), d.posts[3].String(), d.posts[3].String()).Err()
		}, map[check.Kind]int{check.Duplicate: 2}},
		{"entry without a post on the public timeline", func(ctx context.Context, d *damage) error {
			return d.LPush(ctx, d.only(":public"), "123456000000").Err()
		}, map[check.Kind]int{check.Extra: 1}},
	}
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		whole := newDamage(t, url)
		whole.IsSound()
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				d := whole.in(t)
				before := d.Read(retwis.Home(d.reader))
				d.must(tt.corrupt(t.Context(), d))
				d.Drain()
				found := d.Check(check.Options{})
				if !maps.Equal(found.Counts, tt.want) {
					t.Errorf("found %v, want %v: %v", found.Counts, tt.want, found.Examples)
				}
				d.Check(check.Options{Repair: true})
				d.Drain()
				d.IsSound()
				if after := d.Read(retwis.Home(d.reader)); !slices.Equal(enginetest.Newest(after), enginetest.Newest(before)) {
					t.Errorf("home after the repair: %v, want %v", after, before)
				}
			})
		}
	})
}

func TestRun_WorksWithAnInProcessRedis(t *testing.T) {
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
	d.IsSound()
	home := d.only(":home:" + d.reader.String())
	d.must(d.LRem(t.Context(), home, 0, d.posts[4].String()).Err())
	d.must(d.LPush(t.Context(), home, d.posts[3].String()).Err())
	found := d.Check(check.Options{Repair: true})
	if !maps.Equal(found.Counts, map[check.Kind]int{check.Missing: 1, check.Duplicate: 1}) {
		t.Errorf("found %v: %v", found.Counts, found.Examples)
	}
	d.IsSound()
}

func TestRun_KeepsThePlaceOfAMarker(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		d := newDamage(t, url)
		ctx, mentions := t.Context(), retwis.Mentions(d.reader)
		unread := func() int {
			got, err := d.Timelines.Unread(ctx, mentions, retwis.MaxUnread)
			d.must(err)
			return got.Count
		}
		reader := d.only(":user:" + d.reader.String())
		wrong := d.posts[3].String() + ":" + d.author.String() + ":" + d.other.String()
		for _, tt := range []struct {
			name, marker string
			want         int
		}{
			{"another element of a post", wrong, 4},
			{"a post that was never created", (d.posts[0] + 1e15).String(), 0},
			{"not an element", "newest", 12},
		} {
			d.must(d.HSet(ctx, reader, "mentions_marker", tt.marker).Err())
			if report := d.Check(check.Options{Repair: true}); report.Repaired != 1 {
				t.Errorf("%s: repaired %d findings, want 1: %v", tt.name, report.Repaired, report.Examples)
			}
			if got := unread(); got != tt.want {
				t.Errorf("%s: %d mentions are unread after the repair, want %d", tt.name, got, tt.want)
			}
		}
		d.must(d.HSet(ctx, reader, "mentions_marker", (d.posts[0] + 1e15).String()).Err())
		d.Check(check.Options{Repair: true})
		d.Post(d.author, "later, for @reader")
		d.Drain()
		if got := unread(); got != 1 {
			t.Errorf("%d mentions are unread after a mention, want 1", got)
		}
	})
}

// The test damages and repairs homes while users post, follow and read. At the end the
// database equals the model.
func TestRun_RepairsABusyDatabase(t *testing.T) {
	t.Parallel()
	options := store.Options{DeletedAccountTTL: enginetest.ShortAccountTTL}
	onBusyDatabases(t, redistest.Size(1, 5), options, func(e *engine, m *enginetest.Model, r *rand.Rand, stop func()) {
		client := enginetest.Client(e.T, e.URL)
		repaired, rounds := 0, redistest.Size(3, 10)
		for range rounds {
			time.Sleep(50 * time.Millisecond)
			for _, home := range enginetest.Keys(e.T, client, "*:home:*") {
				entries, err := client.LRange(e.T.Context(), home, 0, -1).Result()
				switch n := len(entries); {
				case err != nil || n < 3:
				case r.IntN(3) == 0:
					err = client.LRem(e.T.Context(), home, 1, entries[r.IntN(n-1)]).Err()
				case r.IntN(2) == 0:
					err = client.LInsertBefore(e.T.Context(), home, entries[0], entries[r.IntN(n-1)]).Err()
				}
				if err != nil {
					e.T.Fatal(err)
				}
			}
			repaired += e.Check(check.Options{Repair: true}).Repaired
		}
		stop()
		e.Drain()
		repaired += e.Check(check.Options{Repair: true}).Repaired
		if repaired == 0 {
			e.T.Error("no finding was repaired")
		}
		e.T.Logf("%d findings were repaired", repaired)
		e.Drain()
		// A check cannot distinguish an entry that was removed from the end of a trimmed list from one that a late
		// post displaced, and leaves it to the pages. Each round removes at most one entry of a home.
		const lateness = 256
		m.Verify(e.Engine, 1000, lateness+rounds)
	})
}

func TestRun_SampleIsRepeatable(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		d := newDamage(t, url)
		for _, user := range []retwis.UserID{d.reader, d.author, d.other, d.lone} {
			d.must(d.HSet(t.Context(), d.only(":user:"+user.String()), "posts", 99).Err())
		}
		one := func(seed uint64) retwis.UserID {
			report := d.Check(check.Options{Sample: 1, Seed: seed})
			if report.Users != 1 || report.Findings() != 1 {
				t.Fatalf("report %+v, want one user and one finding", report)
			}
			return report.Examples[0].User
		}
		chosen := map[retwis.UserID]bool{}
		for seed := range uint64(40) {
			user := one(seed)
			chosen[user] = true
			if one(seed) != user {
				t.Errorf("two checks with seed %d chose different users", seed)
			}
		}
		if len(chosen) != 4 {
			t.Errorf("40 seeds chose %d of 4 users, want all", len(chosen))
		}
	})
}

func TestRun_WithoutAWorkerReportsUnsettledDifferences(t *testing.T) {
	t.Parallel()
	redistest.OnEachRedis(t, func(t *testing.T, url string) {
		e := newEngine(t, store.Options{URL: url})
		_, stop := e.Work(fanout.Options{})
		people := e.Register("reader", "author")
		e.Follow(people[0], people[1])
		e.Drain()
		stop()
		e.Post(people[1], "hello")
		report := e.Check(check.Options{SettleTimeout: 50 * time.Millisecond})
		if report.Findings() != 0 || report.Unsettled != 1 {
			t.Errorf("report %+v, want no findings and one unsettled difference", report)
		}
	})
}
