package server

import (
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"retwis/internal/cost"
	"retwis/internal/ratelimit"
	"retwis/internal/retwis"
	"retwis/internal/server/httpapi"
	"retwis/internal/server/operation"
)

// Options configure a [Server]. Executor and Accounts are required; the other fields have
// defaults.
type Options struct {
	Executor operation.Executor
	Accounts httpapi.Accounts
	Web      http.Handler // everything but the API and health; by default a page of text
	Checks   []Check
	Log      *slog.Logger

	// Unavailable returns what clients see of a failure that passes by itself, and nil for any
	// other error. By default, no failure does.
	Unavailable func(error) *retwis.Error

	Metrics        prometheus.Registerer // where to register the metrics; nil registers none
	Tracer         trace.Tracer          // nil traces nothing
	OperationNames []string              // of operations that always have metrics of their own

	Shares         *cost.Shares       // of the process, which the executor uses too; by default of this server
	Rates          []ratelimit.Policy // announced in headers; the executor enforces them
	Listen         string             // 127.0.0.1:8080; port 0 picks one
	AllowedOrigins []string           // foreign origins whose pages may use the API, such as https://example.com
	TrustedProxies []netip.Prefix     // networks of trusted proxies, whose forwarding headers are honoured

	ShutdownDelay time.Duration // for which a stopping server is not ready but still serves, 0 to 3 s; by default 0

	DrainTime    time.Duration // over which the server disconnects its clients when it stops: 5 s, at most 7 s
	CookieMaxAge time.Duration // of the session cookie: 30 days

	SubscriptionsPerSocket  int // 100
	SubscriptionsPerUser    int // 1000; below 0 there is no limit
	SubscriptionsPerNetwork int // of all clients of an address or an IPv6 /64: 20 000; below 0 there is no limit

	OperationsPerUser    int // queries and mutations that run or wait on websockets: 1000; below 0 there is no limit
	OperationsPerNetwork int // of all clients of a network: 10 000; below 0 there is no limit

	SocketsPerUser    int // 1000; below 0 there is no limit
	SocketsPerNetwork int // of all clients of a network: 10 000; below 0 there is no limit

	// ConnectionsPerNetwork is the limit of the open HTTP connections of a network, and of its running requests behind
	// trusted proxies: 1000; below 0 there is no limit.
	ConnectionsPerNetwork int

	InitTimeout  time.Duration // for connection_init to arrive: 3 s
	PingEvery    time.Duration // between pings of a websocket: 25 s
	PongWait     time.Duration // for the answer to a ping: 15 s
	RecheckEvery time.Duration // between checks of the sessions of open connections: 5 min
	WriteWait    time.Duration // for one write: 10 s
	QueueBytes   int           // that may wait for the reader of one connection: 1 MB
	Compression  bool          // of websocket messages, for clients that offer it; compressed messages are not shared
}

const (
	maxHeader       = 16 << 10
	maxUnsent       = 32 << 10 // bytes of responses that the kernel stores for a connection
	maxDrain        = 7 * time.Second
	maxDelay        = 3 * time.Second
	readTimeout     = 20 * time.Second // for a request, or a websocket message, to arrive
	checkTimeout    = 2 * time.Second
	shutdownTimeout = 8 * time.Second
)

// CheckOrigins returns why a list of allowed origins is invalid.
func CheckOrigins(list []string) error {
	_, err := httpapi.ParseOrigins(list)
	return err
}

func (o Options) withDefaults() (Options, error) {
	if o.Executor == nil || o.Accounts == nil {
		return o, errors.New("server needs an executor and an authenticator")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:8080"
	}
	if o.Web == nil {
		o.Web = http.HandlerFunc(welcome)
	}
	if o.Shares == nil {
		o.Shares = cost.NewShares()
	}
	orDefault(&o.DrainTime, 5*time.Second)
	o.ShutdownDelay = min(o.ShutdownDelay, maxDelay)
	o.DrainTime = min(o.DrainTime, maxDrain-o.ShutdownDelay)
	orDefault(&o.CookieMaxAge, 30*24*time.Hour)
	orDefault(&o.SubscriptionsPerSocket, 100)
	orDefault(&o.SubscriptionsPerUser, 1000)
	orDefault(&o.SubscriptionsPerNetwork, 20_000)
	orDefault(&o.OperationsPerUser, 1000)
	orDefault(&o.OperationsPerNetwork, 10_000)
	orDefault(&o.SocketsPerUser, 1000)
	orDefault(&o.SocketsPerNetwork, 10_000)
	orDefault(&o.ConnectionsPerNetwork, 1000)
	orDefault(&o.InitTimeout, 3*time.Second)
	orDefault(&o.PingEvery, 25*time.Second)
	orDefault(&o.PongWait, 15*time.Second)
	orDefault(&o.RecheckEvery, 5*time.Minute)
	orDefault(&o.WriteWait, 10*time.Second)
	orDefault(&o.QueueBytes, 1<<20)
	return o, nil
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
