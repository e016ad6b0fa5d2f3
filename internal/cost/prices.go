// Package cost accounts for the work of GraphQL operations. Work is a weighted sum of the commands and scripts that Redis
// runs for an operation, the round trips that these take, the rows that they read, the calls of resolvers that may wait, and
// the bytes of the response. Its unit is the point, about 5 to 10 microseconds of one core of the service and Redis together.
//
// The price of an operation is charged before it runs. A [Meter] counts the work while the operation runs, charges what
// exceeds the price, and gives back what the operation did not use. The driver of Redis, the caller of resolvers and the
// writer of responses count, so no field can work without being counted.
package cost

import (
	"time"

	"retwis/internal/ratelimit"
)

// Work counts what an operation has done.
type Work struct {
	Commands   int // of Redis, without scripts
	Scripts    int // calls of scripts of Redis
	RoundTrips int // to Redis, with a command or with many
	Rows       int // values read, looked up or walked over in Redis
	Resolvers  int // calls of resolvers that may wait, each on a goroutine
	Bytes      int // of the response
}

// The weights of work, in points.
const (
	PerOperation  = 10 // whatever it does
	PerCommand    = 1
	PerScript     = 5
	PerRoundTrip  = 10
	RowsPerPoint  = 10
	BytesPerPoint = 200

	ResolversPerPoint = 2

	SegmentedBytesPerRow = 10 // of a text that is split into words
)

// Points returns the weighted sum.
func (w Work) Points() int {
	return PerCommand*w.Commands + PerScript*w.Scripts + PerRoundTrip*w.RoundTrips + w.Rows/RowsPerPoint + w.Resolvers/ResolversPerPoint + w.Bytes/BytesPerPoint
}

// Prices of requests, and of the starts of subscriptions, in points.
const (
	PerRequest      = 10  // of HTTP, beside the price of its operation or file
	PerSession      = 10  // of an HTTP request with a token: Redis searches for the session
	PerConnection   = 10  // its first request, beside the price of the request: a connection takes several times as long as a request
	PerSmallRead    = 3   // from a connection, that returns few bytes and is not free: it takes 60 microseconds if the process has to wake up for it
	perMessage      = 5   // to a websocket, that starts nothing: its read may be free, but the process wakes up for it
	PerUpgrade      = 40  // to a websocket: a socket that is opened and closed again takes three times as long as a request
	PerStart        = 40  // of a subscription, beside the work of its operation: the first one registers the timeline as watched
	refusedPerPoint = 512 // bytes of a refused request

	inflatedPerPoint = 24 // bytes of compressed messages

	FreeBytes     = 2 << 10 // of a header, a body or a message: most have fewer
	bytesPerPoint = 64      // of the rest: short keys of JSON and of headers take 100 nanoseconds per byte

	freeFields     = 30 // of a header: browsers send 15 to 20
	fieldsPerPoint = 4  // of the rest: each takes a microsecond, even if it is empty
)

// Prices of what is made once and sent to many: files, and live events.
const (
	SharedBytesPerPoint = 2 << 10
	perWrite            = 1 << 10 // shared bytes that cost as much as a write to a websocket, whatever its length
	perStreamWrite      = 2 << 10 // to an event stream, which has a goroutine to wake
	perCompressed       = 4 << 10 // of a message that is compressed for one reader
	EventsPerPoint      = 3       // live events of one subscription, whether its filter lets them pass or not
	EventsPerFeed       = 6       // price of one message to a timeline, in live events; its first subscription pays
	EventsPerRepost     = 6       // of that of a repost in addition: the timeline is searched for its post
	PerPull             = 10      // of a message about a post of a large author, which takes Redis 0.15 ms for each watched home
	PerCheck            = 14      // of a timeline, beside its part of the work in Redis: with the refreshes of presence and the pings of its connection it takes 0.15 to 0.3 ms
	RegularCheck        = 40      // points up to which the check of a timeline ends no subscription: one that finds nothing takes fewer
)

// Prices of what a post names.
const (
	PerMention = 20 // the delivery to the mentions of a user takes 110 microseconds
	PerHashtag = 10 // its timeline, and the sweeps that see a new hashtag for 90 days, each for 5 microseconds
)

// Prices of the delivery of a post or a repost. Its followers are free: see [OweFollowers].
const (
	listsPerPoint = 3      // each takes 3.5 to 10 microseconds
	perPartition  = 5      // a delivery that is alone in its round takes 125 microseconds
	maxOfDelivery = 40_000 // a third of the usual budget: reached on 120 000 lists, of 6000 owners or more
)

// OfDelivery returns the price of the delivery of a post to some partitions, and what that to a number of lists there costs beyond it. Others may put its
// author on many, so both together have a bound. A partition with followers and lists counts twice.
func OfDelivery(partitions, lists int) (ofPartitions, ofLists int) {
	ofPartitions = min(partitions*perPartition, maxOfDelivery)
	return ofPartitions, min(lists/listsPerPoint, maxOfDelivery-ofPartitions)
}

const (
	usualHome       = 1000 // entries up to which the price of a follow pays for its back-fill
	entriesPerPoint = 6    // beyond those
)

// OfBackfill returns what the back-fill of a home or list with some entries costs beyond the price of the operation that causes it: 20 to 40
// milliseconds with 10 000 entries.
func OfBackfill(entries int) int { return max(entries-usualHome, 0) / entriesPerPoint }

// PerRefusal is for parsing and validating what was refused, which may have taken longer than many valid operations do.
const PerRefusal = ratelimit.PerRefusal

// Refused returns the price of a request that was refused after some of its bytes were read.
func Refused(bytes int) int { return PerRefusal + bytes/refusedPerPoint }

// Written returns how many shared bytes cost as much as a message that is written to a websocket.
func Written(bytes int) int { return perWrite + bytes }

// Streamed does the same for an event stream.
func Streamed(bytes int) int { return perStreamWrite + bytes }

// Compressed returns how many shared bytes cost as much as a message that is compressed for one reader: 2 points, and
// 1 per 200 bytes.
func Compressed(bytes int) int {
	return perCompressed + bytes*SharedBytesPerPoint/BytesPerPoint
}

// File returns the price of a request for a file, or for its absence, whose response has a body of some bytes.
func File(bytes int) int { return PerRequest + bytes/SharedBytesPerPoint }

// Received returns what the bytes of a header, a body or a message cost beside the operation, whatever it is.
func Received(bytes int) int { return max(bytes-FreeBytes, 0) / bytesPerPoint }

// Header returns what the header of a request costs beside the operation, for its bytes and its fields.
func Header(bytes, fields int) int { return Received(bytes) + Trailer(max(fields-freeFields, 0)) }

// Trailer returns what the fields after a body in chunks cost.
func Trailer(fields int) int { return fields / fieldsPerPoint }

// Unknown returns what bytes cost that belong neither to fields of a header nor to a body of known length.
func Unknown(bytes int) int { return bytes / bytesPerPoint }

// Inflated returns what compressed bytes of a client cost beside their text: each 40 of them can make the server build tables for
// 25 microseconds, without any text.
func Inflated(bytes int) int { return 1 + bytes/inflatedPerPoint }

// Message returns the price of a websocket message, or of a frame with a ping or pong, that starts nothing.
func Message(bytes int) int { return perMessage + bytes/bytesPerPoint }

func (w Work) plus(other Work) Work {
	return Work{
		w.Commands + other.Commands, w.Scripts + other.Scripts, w.RoundTrips + other.RoundTrips, w.Rows + other.Rows,
		w.Resolvers + other.Resolvers, w.Bytes + other.Bytes,
	}
}

// Bounds that hold without rate limits, for each process.
const (
	MaxResponse = 2 << 20 // bytes of one response
	MaxUnpaid   = 3_000   // points of work beyond the price of a mutation, which does not stop without budget

	maxSharedEvent = 30_000 // the same for an event that is rendered once for several clients: its 2 MB are a third of that

	bytesInFlight = 256 << 20 // of responses that are being written or wait for their readers
	bytesOfHolder = 64 << 20

	eventsInFlight = 128 << 20 // of live events that wait to be rendered, and as many of replays; of a network a half
	eventsOfHolder = 16 << 20

	postsInFlight = 64_000 // that replays have loaded and not sent, of 4.5 KB each at most; of a network a half
	postsOfHolder = 4_000
	fewPosts      = 4 // of each replay, whatever others keep

	requestsInFlight = 512 << 20 // bytes of large requests that are arriving
	requestsOfHolder = 16 << 20

	inflateInFlight  = 512 << 20 // bytes that compressed messages take while they arrive, beside their texts
	inflateOfNetwork = 64 << 20

	valuesInFlight = 256 << 20 // bytes that operations keep while they wait or run: their values, documents, and the fields of their responses
	valuesOfHolder = 32 << 20
	freeValues     = 256 << 10 // of each client, whatever others keep

	freeValuesOfNetwork = 64 << 20 // of all its clients

	redisPerCore  = 128 // units of work in Redis, for each core of a process: it serves one command after the other, and the others wait in it
	redisOfHolder = 64
	RedisPiece    = 128 // units that one exchange sends
	redisMinimum  = 16  // units that an exchange counts for, at least: it takes a connection
	SessionUnits  = 8   // units of the script that reads a session
	ScriptUnits   = 16  // units of another script; a command has one
	ProfileUnits  = 3   // more units of a script that searches profiles, for each
	SearchUnits   = 32  // units of a script that searches, or has ten commands
	FindUnits     = 64  // units of a script that compares names
	WalkUnits     = 160 // units of a script that walks over many followers: more than a piece, so that it is sent alone

	longWork          = 250 // points of work after which the exchanges of an operation wait for each other
	longRedisInFlight = 64  // units of work in Redis of such operations, and of exchanges longer than a piece
	longRedisOfHolder = 32

	pointsOfHolder = 2_000 // price of the light operations that run
	pointsPerCore  = 4_000 // of all holders, beyond the free ones of each
	freePoints     = 1_000 // of a holder: its first operations do not wait until those of others of its network end
	maxLight       = 1_000 // price of a light query; a heavy one takes more than 10 ms of a core
	heavyQueries   = 16    // that run
	hashesPresent  = 64    // passwords that are hashed or wait for that; of a network a half
	mutationWeight = 4     // as how many of them a point of a mutation counts: workers do most of its work

	longPart   = 5 * time.Millisecond   // the part of the work of an operation that a turn is for takes up to 2
	recentTurn = 350 * time.Microsecond // leaves time for some more writes before the end of a turn
	decodeByte = 30 * time.Nanosecond   // of JSON, which is read four times
	longTurn   = 500 * time.Microsecond // a write to an event stream takes about 30, unless it waits for the reader, and a message up to 300
)
