package main

import (
	"context"
	"io"

	"github.com/specdecode/otel/instrumentation"
	otlp "github.com/specdecode/otel/loadgen/telemetry"
)

// Bounds of what one span holds. Together they keep a span below the size that receivers take.
const (
	maxSteps     = 50_000
	maxChunkGaps = 50_000
	// maxErrorBody is how much of a failed answer's body the report has, in bytes.
	maxErrorBody = 1024
)

// sender sends a run's telemetry over OTLP.
type sender struct {
	*otlp.Sender
	config *config
}

func newTelemetry(ctx context.Context, c *config, runID string, stdout, stderr io.Writer) (telemetry, error) {
	s, err := otlp.Start(ctx, otlp.Config{
		RunID:     runID,
		Version:   version,
		Endpoint:  c.OTLPEndpoint,
		Directory: c.ArtifactDir,
		Level:     c.ExportLevel,
		RunConfig: c.inputConfig(),
		Stdout:    stdout,
		Stderr:    stderr,
	})
	if err != nil {
		return nil, err
	}
	return &sender{s, c}, nil
}

func (s *sender) Options() []instrumentation.Option {
	opts := []instrumentation.Option{
		instrumentation.WithTracerProvider(s.TracerProvider()),
		instrumentation.WithMeterProvider(s.MeterProvider()),
		instrumentation.WithPropagators(s.Propagator()),
		instrumentation.WithChunkGaps(maxChunkGaps),
		instrumentation.WithErrorBody(maxErrorBody),
	}
	if s.config.ExportLevel != levelSummary {
		opts = append(opts, instrumentation.WithPerStep(maxSteps))
	}
	if loggers := s.LoggerProvider(); loggers != nil {
		opts = append(opts, instrumentation.WithRaw(loggers, otlp.RawLimit))
	}
	return opts
}

func (s *sender) FinishRun(ctx context.Context, o runOutcome) error {
	// The report is made of what there is even when the run was given up.
	return s.Finish(context.WithoutCancel(ctx), otlp.Outcome{
		Warmup:     otlp.Phase{Requests: o.Warmup.Issued, Failed: o.Warmup.Failed, Cancelled: o.Warmup.Cancelled},
		Profiling:  otlp.Phase{Requests: o.Profiling.Issued, Failed: o.Profiling.Failed, Cancelled: o.Profiling.Cancelled},
		Cancelled:  o.Cancelled,
		RawRecords: o.RawRecords,
	})
}
