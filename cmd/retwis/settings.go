package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"retwis/internal/server"
	"retwis/internal/store"
)

// logSettings say what is logged, and how.
type logSettings struct {
	LogFormat string `env:"RETWIS_LOG_FORMAT" enum:"text,json" default:"text" placeholder:"FORMAT" help:"Form of log lines: text or json."`
	LogLevel  string `env:"RETWIS_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" placeholder:"LEVEL" help:"What is logged: debug, info, warn or error, and what is worse."`
}

func (s logSettings) logger(w *os.File) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		level = slog.LevelInfo // the flag allows only levels
	}
	options := &slog.HandlerOptions{Level: level}
	var handler slog.Handler = slog.NewTextHandler(w, options)
	if s.LogFormat == "json" {
		handler = slog.NewJSONHandler(w, options)
	}
	log := slog.New(server.LogHandler(handler))
	store.LogDriver(log)
	return log
}

// redisSettings say where the data is.
type redisSettings struct {
	RedisURL string `name:"redis-url" env:"RETWIS_REDIS_URL" placeholder:"URL" help:"Where the data is: a URL like redis://user:password@host:6379/0, rediss:// for TLS, or unix:///path; several of one cluster, separated by commas; memory for one inside this process that keeps nothing. Left out, a redis-server found on PATH is started as a child and keeps its data in the data directory; where there is none, it is as with memory."`
}

// outliving says what to change for a command whose work has to outlive it.
func (s redisSettings) outliving() error {
	if s.RedisURL == inMemory {
		return errors.New("nothing of a Redis inside this process outlives it: " + giveRedis + ", or leave it out for the data directory")
	}
	return nil
}

// dataSettings say where a Redis of our own keeps its data.
type dataSettings struct {
	DataDir string `env:"RETWIS_DATA_DIR" default:"data" placeholder:"DIR" help:"Where a redis-server child keeps its data."`
}

// check says what to change where the directory is used.
func (s dataSettings) check(redis redisSettings) error {
	if s.DataDir == "" && redis.RedisURL == "" {
		return errors.New("--data-dir (RETWIS_DATA_DIR) is empty: choose a directory, or a Redis by --redis-url (RETWIS_REDIS_URL)")
	}
	return nil
}

// storeSettings are the bounds of a database. All processes on one database should have
// the same.
type storeSettings struct {
	Partitions  *int `env:"RETWIS_PARTITIONS" placeholder:"N" help:"Shares that readers are spread over: a power of two, 1 to 512. It is fixed when a database is created, 16 where nothing is said; later it need not be given, and has to be the same."`
	HomeCap     int  `env:"RETWIS_HOME_CAP" default:"1000" placeholder:"N" help:"Posts that a home timeline keeps ready; older ones are found when they are read."`
	ProfileCap  int  `env:"RETWIS_PROFILE_CAP" default:"20000" placeholder:"N" help:"Posts of one author that can be listed."`
	FollowLimit int  `env:"RETWIS_FOLLOW_LIMIT" default:"5000" placeholder:"N" help:"People that one may follow."`
	IdleHomes   int  `name:"idle-home-days" env:"RETWIS_IDLE_HOME_DAYS" default:"30" placeholder:"N" help:"Days after which a home timeline that nobody reads is given up, until somebody reads it; 0 keeps all."`
	PullAbove   int  `env:"RETWIS_PULL_ABOVE" default:"1000000" placeholder:"N" help:"Followers above which an author's posts are not pushed to every home, but put there when it is read or watched."`
}

// check says what to change. The commands call it in their own checks.
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
		if bound.value < bound.low || bound.value > bound.high {
			return fmt.Errorf("--%s (%s) is %d: choose %d to %d",
				bound.flag, variableOf(bound.flag), bound.value, bound.low, bound.high)
		}
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
		options.IdleHomeAge = -1 // 0 stands for the default there
	}
	if s.Partitions != nil {
		options.Partitions = *s.Partitions
	}
	return options
}

// databaseSettings say which database to work on, and its bounds.
type databaseSettings struct {
	redisSettings
	dataSettings
	storeSettings
	logSettings
}

func (s databaseSettings) check() error {
	return errors.Join(s.redisSettings.outliving(), s.dataSettings.check(s.redisSettings), s.storeSettings.check())
}

// open opens a database that the service has made.
func (s databaseSettings) open(ctx context.Context, console console) (*database, error) {
	options := s.storeSettings.options(s.logger(console.err))
	options.Existing = true
	return openKept(ctx, s.RedisURL, s.DataDir, options)
}

// leaseSettings are those of a worker.
type leaseSettings struct {
	WorkerLease time.Duration `env:"RETWIS_WORKER_LEASE" default:"5s" placeholder:"TIME" help:"How long the work of a worker that died waits for another one."`
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

// variableOf returns the name of the variable that stands for a flag.
func variableOf(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
