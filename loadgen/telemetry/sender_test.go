package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	v1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/specdecode/otel/semconv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func config(t *testing.T, stdout, stderr *bytes.Buffer) Config {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	return Config{RunID: "r", Version: "v", Directory: t.TempDir(), Level: "records", RunConfig: `{"a":1}`, Stdout: stdout, Stderr: stderr}
}

func summary(t *testing.T, c Config) map[string]any {
	b, err := os.ReadFile(filepath.Join(c.Directory, "profile_export_aiperf.json"))
	require.NoError(t, err)
	var v map[string]any
	require.NoError(t, json.Unmarshal(b, &v))
	return v
}

// More spans than the queue holds, and larger together than a receiver's limit: all of them arrive.
func TestNothingIsLost(t *testing.T) {
	var stdout, stderr bytes.Buffer
	c := config(t, &stdout, &stderr)
	s, err := Start(context.Background(), c)
	require.NoError(t, err)
	// A hundred spans of 2 x 8,000 steps are more than two messages.
	const n, large = 2500, 100
	tracer := s.TracerProvider().Tracer("test")
	for i := range n {
		steps := make([]int64, 1)
		if i < large {
			steps = make([]int64, 8000)
		}
		_, span := tracer.Start(context.Background(), "chat m", trace.WithSpanKind(trace.SpanKindClient))
		span.SetAttributes(semconv.OutcomeKey.String(semconv.OutcomeVerified), semconv.EngineKey.String("vllm"), semconv.StepsKey.Int(len(steps)),
			semconv.DraftTokensKey.Int(0), semconv.AcceptedDraftTokensKey.Int(0), semconv.AcceptanceHistogramKey.Int64Slice([]int64{int64(len(steps))}),
			semconv.StepAcceptedKey.Int64Slice(steps), semconv.StepDraftedKey.Int64Slice(steps))
		span.End()
	}
	require.NoError(t, s.Finish(context.Background(), Outcome{Profiling: Phase{Requests: n}}))
	got := summary(t, c)
	require.Equal(t, true, got["is_complete"])
	require.EqualValues(t, n, got["request_count"].(map[string]any)["avg"])
	require.Equal(t, map[string]any{"a": 1.}, got["input_config"])
	require.Contains(t, stdout.String(), "Spec Decode")
	require.Empty(t, stderr.String())
}

// A raw record that is too large for a message is counted and named, and the run goes on.
func TestRawRecords(t *testing.T) {
	var stdout, stderr bytes.Buffer
	c := config(t, &stdout, &stderr)
	c.Level = "raw"
	s, err := Start(context.Background(), c)
	require.NoError(t, err)
	emit := func(body string) {
		ctx, span := s.TracerProvider().Tracer("test").Start(context.Background(), "chat m")
		defer span.End()
		var r log.Record
		r.SetEventName(semconv.EventRaw)
		r.SetBody(attribute.StringValue(body))
		s.LoggerProvider().Logger("test").Emit(ctx, r)
	}
	emit(fmt.Sprintf(`{"payload":%q}`, strings.Repeat("x", RawLimit-100)))
	emit(fmt.Sprintf(`{"payload":%q}`, strings.Repeat("x", messageLimit)))
	emit(`{"payload":"last"}`)
	err = s.Finish(context.Background(), Outcome{RawRecords: 3})
	require.ErrorContains(t, err, "1 raw records could not be sent to the pipeline inside the process")
	require.Equal(t, "1 of 3 raw records did not arrive", summary(t, c)["incomplete_reason"])
}

func TestSizesAreUpperBounds(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	_, span := tracers.Tracer("t").Start(context.Background(), "chat some model")
	huge := slices.Repeat([]int64{-1}, 500)
	span.SetAttributes(attribute.Int64Slice("a", huge), attribute.String("b", strings.Repeat("é", 300)), attribute.Float64Slice("c", make([]float64, 50)),
		attribute.StringSlice("d", []string{"x", strings.Repeat("y", 200)}), attribute.Bool("e", true), attribute.BoolSlice("f", make([]bool, 9)), attribute.Int("g", -5))
	span.AddEvent("event", trace.WithAttributes(attribute.Int64Slice("a", huge)))
	span.End()

	// The size on the wire, by building the message's largest parts by hand.
	wire := &v1.Span{Name: "chat some model", TraceId: make([]byte, 16), SpanId: make([]byte, 8), ParentSpanId: make([]byte, 8), StartTimeUnixNano: 1 << 62, EndTimeUnixNano: 1 << 62}
	for range 2 {
		wire.Attributes = append(wire.Attributes, intArray("a", huge))
	}
	require.Greater(t, spanSize(recorder.Ended()[0]), proto.Size(wire)+300*2+50*11+200)
}

func TestCollectorIsCheckedAtStart(t *testing.T) {
	var out bytes.Buffer
	c := config(t, &out, &out)
	for endpoint, want := range map[string]string{
		"http://127.0.0.1:1": "cannot reach the Collector at http://127.0.0.1:1: ",
		"127.0.0.1:1":        "cannot reach the Collector at http://127.0.0.1:1: ",
		"http://":            `the OTLP endpoint "http://" is not a URL`,
	} {
		c.Endpoint = endpoint
		_, err := Start(context.Background(), c)
		require.ErrorContains(t, err, want)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	_, err := Start(context.Background(), c)
	require.EqualError(t, err, `OTEL_EXPORTER_OTLP_PROTOCOL is "http/protobuf": only grpc is spoken`)
}

func intArray(key string, values []int64) *commonv1.KeyValue {
	array := &commonv1.ArrayValue{}
	for _, v := range values {
		array.Values = append(array.Values, &commonv1.AnyValue{Value: &commonv1.AnyValue_IntValue{IntValue: v}})
	}
	return &commonv1.KeyValue{Key: key, Value: &commonv1.AnyValue{Value: &commonv1.AnyValue_ArrayValue{ArrayValue: array}}}
}
