package main

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
)

// ready describes a service that has started.
type ready struct {
	URL   string
	Redis string
	Data  string
}

// announce prints a line about the start, in the format of the log and at every log level.
func (s logSettings) announce(w io.Writer, r ready) {
	if s.LogFormat == "json" {
		slog.New(slog.NewJSONHandler(w, nil)).Info("ready", "url", r.URL, "redis", r.Redis, "data", r.Data)
		return
	}
	_, _ = fmt.Fprintf(w, "Retwis is ready at %s (Redis: %s; %s)\n", r.URL, r.Redis, r.Data)
}

// announceWorker is [logSettings.announce] for a worker without an API.
func (s logSettings) announceWorker(w io.Writer, redis string) {
	if s.LogFormat == "json" {
		slog.New(slog.NewJSONHandler(w, nil)).Info("ready", "redis", redis)
		return
	}
	_, _ = fmt.Fprintf(w, "The fan-out worker is ready (Redis: %s)\n", redis)
}

// urlOf returns the URL of a listener for a browser on this machine.
func urlOf(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return "http://" + addr.String()
	}
	host := tcp.IP.String()
	if tcp.IP.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(tcp.Port))
}
