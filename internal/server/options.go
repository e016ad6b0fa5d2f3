package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"retwis/internal/auth"
	"retwis/internal/ratelimit"
)

// Authenticator finds out whose a session token is. A token that is no session's is
// retwis.ErrUnauthenticated; any other error means that it could not be found out.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (auth.Identity, error)
}

// Options say what to serve and how. Executor and Accounts are required; where another
// field is left out, its default holds.
type Options struct {
	Executor Executor
	Accounts Authenticator
	Web      http.Handler // everything but the API and health; a page of text by default
	Checks   []Check
	Log      *slog.Logger

	Metrics        prometheus.Registerer // where to register those of the server; nil nowhere
	Tracer         trace.Tracer          // begins traces; nil traces nothing
	OperationNames []string              // of operations that metrics tell apart whatever others there are

	Rates          []ratelimit.Policy // that clients are told of; the executor sees to it that they hold
	Listen         string             // 127.0.0.1:8080; port 0 picks one
	AllowedOrigins []string           // foreign origins whose pages may use the API, like https://example.com
	TrustedProxies []netip.Prefix     // peers that are believed when they say for whom they ask, and how

	DrainTime    time.Duration // over which open sockets are told to go elsewhere: 5 s, at most 7 s
	CookieMaxAge time.Duration // of the session cookie: 30 days

	SubscriptionsPerSocket int // 100
	SubscriptionsPerUser   int // 1000; below 0 there is no limit

	// SubscriptionsPerNetwork are those of clients who are not logged in, of one address, or
	// of an IPv6 /64: 10 000; below 0 there is no limit.
	SubscriptionsPerNetwork int

	SocketsPerUser    int // 1000; below 0 there is no limit
	SocketsPerNetwork int // 10 000, of clients who are not logged in, or not yet; below 0 there is no limit

	InitTimeout  time.Duration // for connection_init to come: 3 s
	PingEvery    time.Duration // between pings of a socket: 25 s
	PongWait     time.Duration // for the answer to a ping: 15 s
	RecheckEvery time.Duration // between checks of the sessions of open sockets: 5 min
	WriteWait    time.Duration // for one frame to leave: 10 s
	QueueBytes   int           // that may wait for a socket's reader: 1 MB
	Compression  bool          // of websocket messages, for clients that offer it; then they are not shared
}

// Limits that nobody has had a reason to change.
const (
	maxBody         = 256 << 10 // of a request and of a websocket message
	maxValues       = 5_000     // in the JSON of a request, those within others too
	maxHeader       = 64 << 10
	maxDrain        = 7 * time.Second
	maxOperationID  = 256              // bytes of the id that a client gives an operation
	maxSingle       = 100              // queries and mutations under way on one socket
	readTime        = 20 * time.Second // for a request, and for a message, to come in
	authTimeout     = 5 * time.Second
	checkTimeout    = 2 * time.Second
	operationTime   = 30 * time.Second // for a query or a mutation
	rechecksAtOnce  = 16
	recheckFailed   = 10 * time.Second // until sessions that could not be checked are tried again
	shutdownTimeout = 8 * time.Second
)

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
	orDefault(&o.DrainTime, 5*time.Second)
	o.DrainTime = min(o.DrainTime, maxDrain)
	orDefault(&o.CookieMaxAge, 30*24*time.Hour)
	orDefault(&o.SubscriptionsPerSocket, 100)
	orDefault(&o.SubscriptionsPerUser, 1000)
	orDefault(&o.SubscriptionsPerNetwork, 10_000)
	orDefault(&o.SocketsPerUser, 1000)
	orDefault(&o.SocketsPerNetwork, 10_000)
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
