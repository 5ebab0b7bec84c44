package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	noopmetric "go.opentelemetry.io/otel/metric/noop"
	nooptrace "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/specdecode/otel/collectorexporter"
)

// pipeline is a Collector's pipeline inside the process: its OTLP receiver on a loopback port, and our exporter.
type pipeline struct {
	// endpoint is the receiver's address, host:port.
	endpoint string
	// parts are in the order of start; they stop in the other direction.
	parts []component.Component
}

// startAttempts is how often a free port is looked for: between finding it and listening on it, another process can
// take it.
const startAttempts = 5

// startPipeline starts a pipeline that writes reports to the directory and prints them to stdout; warnings go to
// stderr.
func startPipeline(ctx context.Context, directory, level string, stdout, stderr io.Writer) (*pipeline, error) {
	var err error
	for range startAttempts {
		var p *pipeline
		if p, err = tryPipeline(ctx, directory, level, stdout, stderr); err == nil {
			return p, nil
		}
	}
	return nil, fmt.Errorf("cannot start the telemetry pipeline: %w", err)
}

func tryPipeline(ctx context.Context, directory, level string, stdout, stderr io.Writer) (_ *pipeline, err error) {
	endpoint, err := freePort()
	if err != nil {
		return nil, err
	}
	p := &pipeline{endpoint: endpoint}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.shutdown(ctx))
		}
	}()

	settings := component.TelemetrySettings{
		Logger:         warnings(stderr),
		TracerProvider: nooptrace.NewTracerProvider(),
		MeterProvider:  noopmetric.NewMeterProvider(),
		Resource:       pcommon.NewResource(),
	}
	exporters := collectorexporter.NewFactory(collectorexporter.WithStdout(stdout))
	exporterConfig := exporters.CreateDefaultConfig().(*collectorexporter.Config)
	exporterConfig.Directory, exporterConfig.Level = directory, level
	// The directory is the run's own already.
	exporterConfig.RunFolders = false
	if err := exporterConfig.Validate(); err != nil {
		return nil, err
	}
	exporterSettings := exporter.Settings{ID: component.NewID(exporters.Type()), TelemetrySettings: settings}

	receivers := otlpreceiver.NewFactory()
	receiverConfig := receivers.CreateDefaultConfig()
	if err := confmap.NewFromStringMap(map[string]any{
		"protocols": map[string]any{"grpc": map[string]any{"endpoint": endpoint}},
	}).Unmarshal(receiverConfig); err != nil {
		return nil, err
	}
	receiverSettings := receiver.Settings{ID: component.NewID(receivers.Type()), TelemetrySettings: settings}

	traces, err := exporters.CreateTraces(ctx, exporterSettings, exporterConfig)
	if err != nil {
		return nil, err
	}
	logs, err := exporters.CreateLogs(ctx, exporterSettings, exporterConfig)
	if err != nil {
		return nil, err
	}
	tracesReceiver, err := receivers.CreateTraces(ctx, receiverSettings, receiverConfig, traces)
	if err != nil {
		return nil, err
	}
	logsReceiver, err := receivers.CreateLogs(ctx, receiverSettings, receiverConfig, logs)
	if err != nil {
		return nil, err
	}
	for _, part := range []component.Component{traces, logs, tracesReceiver, logsReceiver} {
		if err := part.Start(ctx, host{}); err != nil {
			return nil, err
		}
		p.parts = append(p.parts, part)
	}
	return p, nil
}

// shutdown stops the receiver and completes the report.
func (p *pipeline) shutdown(ctx context.Context) error {
	var errs []error
	for i := len(p.parts) - 1; i >= 0; i-- {
		errs = append(errs, p.parts[i].Shutdown(ctx))
	}
	p.parts = nil
	return errors.Join(errs...)
}

// host is a Collector without extensions.
type host struct{}

func (host) GetExtensions() map[component.ID]component.Component { return nil }

// warnings logs what is a warning or worse, a plain line each.
func warnings(w io.Writer) *zap.Logger {
	encoder := zapcore.NewConsoleEncoder(zapcore.EncoderConfig{
		MessageKey: "msg", LevelKey: "level", EncodeLevel: zapcore.LowercaseLevelEncoder, ConsoleSeparator: ": ",
	})
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), zap.WarnLevel))
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
