package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	noopmetric "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	conv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/specdecode/otel/semconv"
)

// Config says where a run's telemetry goes and what it says of the run.
type Config struct {
	// RunID and Version name the run and the program.
	RunID, Version string
	// Endpoint is a Collector's OTLP/gRPC address, a URL; empty for OTEL_EXPORTER_OTLP_ENDPOINT, or else the pipeline
	// inside the process.
	Endpoint string
	// Directory and Level are where the pipeline inside the process puts its files, and how much. Raw records are made
	// at level "raw", wherever they go.
	Directory, Level string
	// RunConfig is the run's configuration, a JSON object without secrets.
	RunConfig string
	// Stdout gets the report of the pipeline inside the process, Stderr its warnings.
	Stdout, Stderr io.Writer
}

// scopeName is the instrumentation scope of the run's own span.
const scopeName = "github.com/specdecode/otel/loadgen"

// levelRaw is the level at which raw records are made.
const levelRaw = "raw"

// exportTimeout bounds the sending of one batch, retries included. It is long: what is given up on is missing in the
// report.
const exportTimeout = 2 * time.Minute

// Sender has the providers that a run's telemetry goes through.
type Sender struct {
	config   Config
	endpoint string
	pipeline *pipeline // nil when a Collector has the telemetry
	tracers  *sdktrace.TracerProvider
	meters   *sdkmetric.MeterProvider // nil for the pipeline inside the process
	loggers  *sdklog.LoggerProvider   // nil below level raw
	run      trace.Span

	spans, raws losses
}

// Start opens the way for a run's telemetry and starts the run's own span.
func Start(ctx context.Context, c Config) (*Sender, error) {
	s := &Sender{config: c, endpoint: External(c.Endpoint)}
	if s.endpoint != "" {
		if err := checkCollector(ctx, s.endpoint); err != nil {
			return nil, err
		}
	} else {
		p, err := startPipeline(ctx, c.Directory, c.Level, c.Stdout, c.Stderr)
		if err != nil {
			return nil, err
		}
		s.pipeline = p
	}
	if err := s.startProviders(ctx); err != nil {
		return nil, errors.Join(err, s.shutdown(ctx))
	}
	_, s.run = s.tracers.Tracer(scopeName).Start(ctx, semconv.SpanRun, trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindInternal))
	return s, nil
}

// External returns the Collector that telemetry goes to, given the flag; empty when it stays inside the process.
func External(flag string) string {
	endpoint := cmp.Or(flag, os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
	if endpoint != "" && !strings.Contains(endpoint, "://") {
		endpoint = "http://" + endpoint
	}
	return endpoint
}

// checkTimeout bounds the look whether the Collector is there.
const checkTimeout = 5 * time.Second

// checkCollector finds out before the run whether its telemetry can get anywhere.
func checkCollector(ctx context.Context, endpoint string) error {
	if p := os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"); p != "" && p != "grpc" {
		return fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q: only grpc is spoken", p)
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return fmt.Errorf("the OTLP endpoint %q is not a URL like http://localhost:4317", endpoint)
	}
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), "4317")
	}
	conn, err := (&net.Dialer{Timeout: checkTimeout}).DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("cannot reach the Collector at %s: %w", endpoint, err)
	}
	return conn.Close()
}

func (s *Sender) startProviders(ctx context.Context) error {
	res, err := s.resource(ctx)
	if err != nil {
		return err
	}
	traceOpts, metricOpts, logOpts := s.endpointOptions()
	spanExporter, err := otlptracegrpc.New(ctx, append(traceOpts, otlptracegrpc.WithTimeout(exportTimeout))...)
	if err != nil {
		return fmt.Errorf("cannot send spans to %s: %w", s.endpoint, err)
	}
	s.tracers = sdktrace.NewTracerProvider(
		sdktrace.WithResource(res),
		// The report needs every request, whatever the environment says of sampling and limits.
		sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{AttributeValueLengthLimit: -1, AttributeCountLimit: -1, EventCountLimit: -1,
			LinkCountLimit: -1, AttributePerEventCountLimit: -1, AttributePerLinkCountLimit: -1}),
		sdktrace.WithBatcher(splitter{spanExporter, &s.spans}, sdktrace.WithBlocking(), sdktrace.WithExportTimeout(0)),
	)
	if s.pipeline == nil {
		exporter, err := otlpmetricgrpc.New(ctx, metricOpts...)
		if err != nil {
			return fmt.Errorf("cannot send metrics to %s: %w", s.endpoint, err)
		}
		s.meters = sdkmetric.NewMeterProvider(sdkmetric.WithResource(res), sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)))
	}
	if s.config.Level == levelRaw {
		exporter, err := otlploggrpc.New(ctx, append(logOpts, otlploggrpc.WithTimeout(exportTimeout))...)
		if err != nil {
			return fmt.Errorf("cannot send raw records to %s: %w", s.endpoint, err)
		}
		// One record a message, sent before the request counts as done: the batching processor drops when it is full.
		s.loggers = sdklog.NewLoggerProvider(sdklog.WithResource(res), sdklog.WithAttributeValueLengthLimit(-1),
			sdklog.WithProcessor(sdklog.NewSimpleProcessor(countingLogs{exporter, &s.raws})))
	}
	return nil
}

// endpointOptions point the exporters at the pipeline, at the flag's endpoint, or leave them to the environment.
func (s *Sender) endpointOptions() (t []otlptracegrpc.Option, m []otlpmetricgrpc.Option, l []otlploggrpc.Option) {
	if os.Getenv("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION") == "" {
		m = append(m, otlpmetricgrpc.WithAggregationSelector(exponential))
	}
	switch {
	case s.pipeline != nil:
		t = append(t, otlptracegrpc.WithEndpoint(s.pipeline.endpoint), otlptracegrpc.WithInsecure())
		l = append(l, otlploggrpc.WithEndpoint(s.pipeline.endpoint), otlploggrpc.WithInsecure())
	case s.config.Endpoint != "":
		t = append(t, otlptracegrpc.WithEndpointURL(s.endpoint))
		m = append(m, otlpmetricgrpc.WithEndpointURL(s.endpoint))
		l = append(l, otlploggrpc.WithEndpointURL(s.endpoint))
	}
	return t, m, l
}

// exponential makes histograms base-2 exponential: their error is small at every scale, and they merge.
func exponential(kind sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	if kind == sdkmetric.InstrumentKindHistogram {
		return sdkmetric.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20}
	}
	return sdkmetric.DefaultAggregationSelector(kind)
}

func (s *Sender) resource(ctx context.Context) (*resource.Resource, error) {
	return resource.New(ctx,
		resource.WithAttributes(conv.ServiceName("specdecode-loadgen"), conv.ServiceVersion(s.config.Version)),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(),
		// Two senders without an id of their own overwrite each other's cumulative series.
		resource.WithAttributes(conv.ServiceInstanceID(uuid.NewString()), semconv.RunIDKey.String(s.config.RunID)),
	)
}

// TracerProvider returns where the requests' spans go.
func (s *Sender) TracerProvider() trace.TracerProvider { return s.tracers }

// MeterProvider returns where the metrics go.
func (s *Sender) MeterProvider() metric.MeterProvider {
	if s.meters == nil {
		return noopmetric.NewMeterProvider()
	}
	return s.meters
}

// LoggerProvider returns where raw records go; nil when there are to be none.
func (s *Sender) LoggerProvider() log.LoggerProvider {
	if s.loggers == nil {
		return nil
	}
	return s.loggers
}

// Propagator returns how the trace context goes to the server.
func (s *Sender) Propagator() propagation.TextMapPropagator {
	return propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
}

// Phase is how many requests were sent in one phase, and how many of them failed or were cancelled.
type Phase struct {
	Requests, Failed, Cancelled int64
}

// Outcome is what the run's own span says.
type Outcome struct {
	Warmup, Profiling Phase
	// Cancelled is set when the run was stopped before its end.
	Cancelled bool
	// RawRecords is how many raw records were made.
	RawRecords int64
}

// Finish sends what is left, ends the run's span last, and stops everything. The pipeline inside the process writes
// the report on the way. The error says what could not be sent or written.
func (s *Sender) Finish(ctx context.Context, o Outcome) error {
	err := s.tracers.ForceFlush(ctx)
	s.run.SetAttributes(
		semconv.RunToolVersionKey.String(s.config.Version),
		semconv.RunConfigKey.String(s.config.RunConfig),
		semconv.RunCancelledKey.Bool(o.Cancelled),
		semconv.RunRawRecordsKey.Int64(o.RawRecords),
		semconv.RunWarmupRequestsKey.Int64(o.Warmup.Requests),
		semconv.RunWarmupFailedKey.Int64(o.Warmup.Failed),
		semconv.RunWarmupCancelledKey.Int64(o.Warmup.Cancelled),
		semconv.RunProfilingRequestsKey.Int64(o.Profiling.Requests),
		semconv.RunProfilingFailedKey.Int64(o.Profiling.Failed),
		semconv.RunProfilingCancelledKey.Int64(o.Profiling.Cancelled),
	)
	s.run.End()
	err = errors.Join(err, s.shutdown(ctx))
	for _, l := range []struct {
		what string
		*losses
	}{{"spans", &s.spans}, {"raw records", &s.raws}} {
		if lost, first := l.get(); lost > 0 {
			err = errors.Join(err, fmt.Errorf("%d %s could not be sent to %s: %w", lost, l.what, s.destination(), first))
		}
	}
	return err
}

func (s *Sender) destination() string {
	if s.pipeline != nil {
		return "the pipeline inside the process"
	}
	return s.endpoint
}

// shutdown stops the providers and then, when nothing comes any more, the pipeline.
func (s *Sender) shutdown(ctx context.Context) error {
	var errs []error
	if s.loggers != nil {
		errs = append(errs, s.loggers.Shutdown(ctx))
	}
	if s.meters != nil {
		if err := s.meters.Shutdown(ctx); err != nil {
			// The report is made from spans; a Collector without a metrics pipeline is no failure.
			fmt.Fprintf(s.config.Stderr, "warning: metrics could not be sent to %s: %v\n", s.endpoint, err)
		}
	}
	if s.tracers != nil {
		errs = append(errs, s.tracers.Shutdown(ctx))
	}
	if s.pipeline != nil {
		errs = append(errs, s.pipeline.shutdown(ctx))
	}
	return errors.Join(errs...)
}
