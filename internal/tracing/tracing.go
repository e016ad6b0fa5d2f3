// Package tracing exports spans to an OpenTelemetry collector if the environment configures
// one. Other packages create only child spans of the span in the context, so nothing is
// recorded without a root span.
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

// flushTime bounds the export of the remaining spans when the process ends.
const flushTime = 2 * time.Second

// Tracing exports the spans of a process.
type Tracing struct{ provider *sdk.TracerProvider }

// Start configures tracing by the variables that OpenTelemetry defines. Tracing is disabled
// without an OTLP endpoint, by OTEL_SDK_DISABLED=true, and by OTEL_TRACES_EXPORTER=none. Errors
// name the invalid variable.
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
		log.Warn("tracing: exporting spans failed", "err", err)
	}))
	return &Tracing{sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(of))}, nil
}

// exporterOf returns the configured exporter, or nil if tracing is disabled.
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
	// The exporters silently replace an invalid URL by their default.
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
		return nil, fmt.Errorf("export traces to %s: %w", endpoint, err)
	}
	return exporter, nil
}

// first returns the value of the first variable that is set.
func first(names ...string) string {
	for _, name := range names {
		if value := os.Getenv(name); value != "" {
			return value
		}
	}
	return ""
}

// On reports whether tracing is enabled.
func (t *Tracing) On() bool { return t.provider != nil }

// Tracer returns the tracer of a part of the program, or nil if tracing is disabled.
func (t *Tracing) Tracer(part string) trace.Tracer {
	if t.provider == nil {
		return nil
	}
	return t.provider.Tracer("retwis/" + part)
}

// Close exports the remaining spans within a bounded time.
func (t *Tracing) Close(ctx context.Context) error {
	if t.provider == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("export the remaining spans: %w", err)
	}
	return nil
}
