// Package tracing sends spans to an OpenTelemetry collector, where the environment names
// one. Everywhere else a span is a child of the one in the context: where that is not
// recorded, nothing is.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// flushTime bounds how long a process that ends waits for its last spans to be taken.
const flushTime = 2 * time.Second

// Tracing is where spans go.
type Tracing struct{ provider *sdk.TracerProvider }

// Start reads the variables that OpenTelemetry defines. Without an endpoint for OTLP, or
// with OTEL_SDK_DISABLED, or OTEL_TRACES_EXPORTER being "none", nothing is traced. The
// errors are about the variables.
func Start(ctx context.Context, log *slog.Logger) (*Tracing, error) {
	exporter, err := exporterOf(ctx)
	if err != nil || exporter == nil {
		return &Tracing{}, err
	}
	of, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "retwis")),
		resource.WithHost(), resource.WithProcessPID(), resource.WithTelemetrySDK(),
		resource.WithFromEnv(), // the last one wins
	)
	if err != nil {
		return nil, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.Warn("tracing", "err", err)
	}))
	return &Tracing{sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(of))}, nil
}

// exporterOf returns what sends spans away, nil where nobody wants them.
func exporterOf(ctx context.Context) (*otlptrace.Exporter, error) {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	endpoint := first("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	switch kind := os.Getenv("OTEL_TRACES_EXPORTER"); {
	case kind == "none", kind == "" && endpoint == "":
		return nil, nil
	case kind != "" && kind != "otlp":
		return nil, fmt.Errorf("OTEL_TRACES_EXPORTER is %q: choose otlp or none", kind)
	}
	// The exporters take what is no URL for their default, and say so to nobody.
	if u, err := url.Parse(endpoint); endpoint != "" && (err != nil || u.Scheme == "" || u.Host+u.Path == "") {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT is %q: choose a URL like http://collector:4318", endpoint)
	}
	var client otlptrace.Client
	switch protocol := first("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"); protocol {
	case "", "http/protobuf":
		client = otlptracehttp.NewClient()
	case "grpc":
		client = otlptracegrpc.NewClient()
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q: choose http/protobuf or grpc", protocol)
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("trace to %s: %w", endpoint, err)
	}
	return exporter, nil
}

// first returns the first of some variables that is set.
func first(names ...string) string {
	for _, name := range names {
		if value := os.Getenv(name); value != "" {
			return value
		}
	}
	return ""
}

// On reports whether anything is traced.
func (t *Tracing) On() bool { return t.provider != nil }

// Tracer returns what begins traces in a part of the program, nil where nothing is traced.
func (t *Tracing) Tracer(part string) trace.Tracer {
	if t.provider == nil {
		return nil
	}
	return t.provider.Tracer("retwis/" + part)
}

// Close sends what is left, as far as that is quick.
func (t *Tracing) Close(ctx context.Context) error {
	if t.provider == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last spans: %w", err)
	}
	return nil
}
