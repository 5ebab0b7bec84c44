package collectorexporter

import (
	"context"
	"io"
	"os"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"

	"github.com/specdecode/otel/collectorexporter/internal/metadata"
)

// FactoryOption changes what exporters of a factory work with.
type FactoryOption func(*factory)

// WithStdout sets where the console report goes; the default is standard output.
func WithStdout(w io.Writer) FactoryOption { return func(f *factory) { f.stdout = w } }

// factory makes the exporters and has the state that an exporter's signals share.
type factory struct {
	stdout io.Writer

	mu sync.Mutex
	// exporters holds the shared state by configuration: the Collector makes the exporters of all signals of one
	// configured component from the same Config.
	exporters map[*Config]*specDecodeExporter
}

// NewFactory returns the factory of the spec_decode exporter.
func NewFactory(opts ...FactoryOption) exporter.Factory {
	f := &factory{stdout: os.Stdout, exporters: map[*Config]*specDecodeExporter{}}
	for _, o := range opts {
		o(f)
	}
	return exporter.NewFactory(
		metadata.Type,
		func() component.Config { return createDefaultConfig() },
		exporter.WithTraces(f.createTraces, metadata.TracesStability),
		exporter.WithLogs(f.createLogs, metadata.LogsStability),
	)
}

// shared returns the state of the component with this configuration.
func (f *factory) shared(set exporter.Settings, cfg component.Config) *specDecodeExporter {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := cfg.(*Config)
	e, ok := f.exporters[c]
	if !ok {
		e = &specDecodeExporter{config: c, log: set.Logger, stdout: f.stdout, runs: map[string]*run{}}
		f.exporters[c] = e
	}
	return e
}

// The exporters have no queue: what they acknowledge is in the run's state. And no timeout: a slow disk slows the
// sender, and what is given up half-way would be sent again.

func (f *factory) createTraces(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
	e := f.shared(set, cfg)
	return exporterhelper.NewTraces(ctx, set, cfg, e.pushTraces, helperOptions(e)...)
}

func (f *factory) createLogs(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Logs, error) {
	e := f.shared(set, cfg)
	return exporterhelper.NewLogs(ctx, set, cfg, e.pushLogs, helperOptions(e)...)
}

func helperOptions(e *specDecodeExporter) []exporterhelper.Option {
	return []exporterhelper.Option{
		exporterhelper.WithCapabilities(consumer.Capabilities{MutatesData: false}),
		exporterhelper.WithTimeout(exporterhelper.TimeoutConfig{Timeout: 0}),
		exporterhelper.WithStart(e.start),
		exporterhelper.WithShutdown(e.shutdown),
	}
}
