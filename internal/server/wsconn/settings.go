package wsconn

import (
	"sync"
	"sync/atomic"
	"time"

	"retwis/internal/server/buffer"
	"retwis/internal/server/deflate"
)

// Close codes of RFC 6455 and of its registry that this package uses.
const (
	CodeTryAgainLater = 1013 // a slow consumer
	codeInvalidUTF8   = 1007
	codeTooBig        = 1009
)

// Settings are shared by all connections. All fields are required.
type Settings struct {
	QueueBytes   int           // that may wait for one reader
	WriteWait    time.Duration // for one write
	PingEvery    time.Duration // between pings
	PongWait     time.Duration // for the answer to a ping
	MessageWait  time.Duration // for a message to arrive completely
	MaxMessage   int           // bytes of a message
	LargeMessage int           // bytes from which on a message has a turn of its own; from an eighth of that on, it counts while it arrives
	BinaryCode   int           // with which a connection is closed that sends a binary message

	Tasks         *sync.WaitGroup // counts the writers
	SlowConsumers *atomic.Int64   // counts readers that were disconnected because their queue was full
}

// Shared is what all connections of a server have in common.
type Shared struct {
	Settings
	buffers     buffer.Pool
	compressors deflate.Compressors
}

// NewShared returns what connections with these settings share.
func NewShared(settings Settings) *Shared { return &Shared{Settings: settings} }
