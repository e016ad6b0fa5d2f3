package server

import (
	"errors"
	"log/slog"
	"net"
	"syscall"
)

// maxReserve is the number of file descriptors that API connections leave free, for health
// checks, Redis and the operators' listener. A low limit reserves a quarter.
const maxReserve = 64

// descriptorListener watches the file descriptors of the connections that it accepts. The
// kernel gives out the lowest free one, so that its number says how many are in use. A
// connection on a reserved descriptor goes to the overflow.
type descriptorListener struct {
	net.Listener

	log      *slog.Logger
	limit    int
	reserve  int
	overflow *overflow
}

// guardDescriptors returns a listener whose connections leave descriptors free, and the overflow of the connections above
// that. It is nil if the limit is unknown.
func guardDescriptors(listener net.Listener, log *slog.Logger) (guarded net.Listener, rest *overflow) {
	var rlimit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &rlimit); err != nil || rlimit.Cur > 1<<30 {
		return listener, nil
	}
	limit := int(rlimit.Cur) //nolint:gosec // compared above
	reserve := min(maxReserve, limit/4)
	rest = newOverflow(listener.Addr(), reserve/4, refuseDescriptors)
	return &descriptorListener{listener, log, limit, reserve, rest}, rest
}

// Accept implements [net.Listener].
func (l *descriptorListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			l.warn("server: out of file descriptors, connections wait", slog.Any("err", err))
		}
		if err != nil || descriptorOf(conn) < l.limit-l.reserve {
			return conn, err
		}
		l.warn("server: few file descriptors are left, answering health checks only")
		l.overflow.take(conn)
	}
}

func (l *descriptorListener) warn(message string, attributes ...any) {
	l.log.Warn(message, append(attributes, "limit", l.limit, "fix", "raise the limit of open files (ulimit -n, LimitNOFILE)")...)
}

// descriptorOf returns the file descriptor of a connection, -1 if it has none.
func descriptorOf(conn net.Conn) int {
	number := -1
	withDescriptor(conn, func(fd int) { number = fd })
	return number
}

// withDescriptor calls a function with the file descriptor of a connection or a listener, unless it is closed or has none.
func withDescriptor(socket any, use func(fd int)) {
	if c, ok := socket.(syscall.Conn); ok {
		if raw, err := c.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { use(int(fd)) }) //nolint:gosec // a descriptor is small
		}
	}
}
