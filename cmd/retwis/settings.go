package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"retwis/internal/cli"
	"retwis/internal/logsample"
	"retwis/internal/server/requestid"
	"retwis/internal/store"
	"retwis/internal/store/rdb"
)

// logSettings configure the log.
type logSettings struct {
	LogFormat string `env:"RETWIS_LOG_FORMAT" enum:"text,json" default:"text" placeholder:"FORMAT" help:"Format of the log: text or json."`
	LogLevel  string `env:"RETWIS_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" placeholder:"LEVEL" help:"Lowest level that is logged: debug, info, warn or error."`
}

func (s logSettings) logger(w *os.File) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		level = slog.LevelInfo // unreachable: the flag accepts only levels
	}
	options := &slog.HandlerOptions{Level: level}
	var handler slog.Handler = slog.NewTextHandler(w, options)
	if s.LogFormat == "json" {
		handler = slog.NewJSONHandler(w, options)
	}
	log := slog.New(logsample.New(requestid.LogHandler(handler)))
	rdb.LogDriver(log)
	return log
}

// redisSettings name the Redis.
type redisSettings struct {
	RedisURL string `name:"redis-url" env:"RETWIS_REDIS_URL" placeholder:"URL" help:"URL of Redis: redis://user:password@host:6379/0, rediss:// for TLS, or unix:///path; for a cluster, several URLs separated by commas. The value memory runs a Redis inside this process, which loses its data when the process ends. By default, redis-server, or else valkey-server, is started as a child process that keeps its data in the data directory; if it is not installed, the default is memory."`
}

// checkPersistent returns an error for a Redis that loses the work of a command when it ends.
func (s redisSettings) checkPersistent() error {
	if s.RedisURL == inMemory {
		return errors.New("a Redis inside this process loses its data when the process ends: " + giveRedis + ", or omit it to use the data directory")
	}
	return nil
}

// dataSettings name the data directory.
type dataSettings struct {
	DataDir string `env:"RETWIS_DATA_DIR" default:"data" placeholder:"DIR" help:"Data directory of a redis-server that runs as a child process."`
}

// check returns an error if the directory is needed and missing.
func (s dataSettings) check(redis redisSettings) error {
	if s.DataDir == "" && redis.RedisURL == "" {
		return errors.New("--data-dir (RETWIS_DATA_DIR) is empty: choose a directory, or set --redis-url (RETWIS_REDIS_URL)")
	}
	return nil
}

// storeSettings are the limits of a database. All processes on one database should use the same.
type storeSettings struct {
	Partitions  *int `env:"RETWIS_PARTITIONS" placeholder:"N" help:"Number of partitions: a power of two from 1 to 512. It is fixed when the database is created, by default at 16. Later it may be omitted, and must not differ."`
	HomeCap     int  `env:"RETWIS_HOME_CAP" default:"1000" placeholder:"N" help:"Posts that a home, mentions, list, hashtag or public timeline stores. Older posts of homes and lists are read from profiles."`
	ProfileCap  int  `env:"RETWIS_PROFILE_CAP" default:"20000" placeholder:"N" help:"Posts that a profile lists."`
	FollowLimit int  `env:"RETWIS_FOLLOW_LIMIT" default:"5000" placeholder:"N" help:"Users that a user may follow."`
	IdleHomes   int  `name:"idle-home-days" env:"RETWIS_IDLE_HOME_DAYS" default:"30" placeholder:"N" help:"Days after which a home timeline that its owner does not read is evicted; the next read rebuilds it. 0 keeps all."`
	PullAbove   int  `env:"RETWIS_PULL_ABOVE" default:"1000000" placeholder:"N" help:"Followers above which an author's posts are not delivered to home timelines, but merged when a timeline is read."`
}

// check returns an error that says which flag to change.
func (s storeSettings) check() error {
	if n := s.Partitions; n != nil && (*n < 1 || *n > 512 || *n&(*n-1) != 0) {
		return fmt.Errorf("--partitions (RETWIS_PARTITIONS) is %d: choose a power of two from 1 to 512", *n)
	}
	for _, bound := range []struct {
		flag             string
		value, low, high int
	}{
		{"home-cap", s.HomeCap, 100, 10_000},
		{"profile-cap", s.ProfileCap, 100, 1_000_000},
		{"follow-limit", s.FollowLimit, 1, 100_000},
		{"idle-home-days", s.IdleHomes, 0, 36_500},
		{"pull-above", s.PullAbove, 1, 1_000_000_000},
	} {
		if err := checkNumber(bound.flag, bound.value, bound.low, bound.high); err != nil {
			return err
		}
	}
	return nil
}

func checkNumber(flag string, value, low, high int) error {
	if value < low || value > high {
		return fmt.Errorf("--%s (%s) is %d: choose %d to %d", flag, variableOf(flag), value, low, high)
	}
	return nil
}

func (s storeSettings) options(log *slog.Logger) store.Options {
	options := store.Options{
		HomeCap:     s.HomeCap,
		ProfileCap:  s.ProfileCap,
		FollowLimit: s.FollowLimit,
		PullAbove:   s.PullAbove,
		IdleHomeAge: time.Duration(s.IdleHomes) * 24 * time.Hour,
		Log:         log,
	}
	if s.IdleHomes == 0 {
		options.IdleHomeAge = -1 // 0 selects the default
	}
	if s.Partitions != nil {
		options.Partitions = *s.Partitions
	}
	return options
}

// databaseSettings name a database and its limits.
type databaseSettings struct {
	redisSettings
	dataSettings
	storeSettings
	logSettings
}

func (s databaseSettings) check() error {
	return errors.Join(s.redisSettings.checkPersistent(), s.dataSettings.check(s.redisSettings), s.storeSettings.check())
}

// open opens an existing database.
func (s databaseSettings) open(ctx context.Context, console cli.Console) (*database, error) {
	options := s.storeSettings.options(s.logger(console.Err))
	options.Existing = true
	return openKept(ctx, s.RedisURL, s.DataDir, options)
}

// leaseSettings are those of a worker.
type leaseSettings struct {
	WorkerLease time.Duration `env:"RETWIS_WORKER_LEASE" default:"5s" placeholder:"TIME" help:"Lease of an outbox: after a crash of a worker, another one takes over after this time."`
}

func (s leaseSettings) check() error {
	return checkDuration("worker-lease", s.WorkerLease, time.Second, 5*time.Minute)
}

func checkDuration(flag string, value, low, high time.Duration) error {
	if value < low || value > high {
		return fmt.Errorf("--%s (%s) is %s: choose %s to %s", flag, variableOf(flag), value, low, high)
	}
	return nil
}

// variableOf returns the name of the variable of a flag.
func variableOf(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
