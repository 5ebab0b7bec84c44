package instrumentation

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.yaml.in/yaml/v3"
)

// collect runs two answers through the transport, one with the stats of the worked example and one without stats, and
// returns the metrics by name.
func collect(t *testing.T) map[string]metricdata.Metrics {
	reader := sdkmetric.NewManualReader()
	bodies := []string{wholeBody, `{"choices":[]}`}
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, bodies[0])
		bodies = bodies[1:]
	}, WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	for range 2 {
		resp, err := f.post(t, context.Background(), "/v1/chat/completions", `{"model":"m"}`)
		drain(t, resp, err)
	}
	var rm metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(context.Background(), &rm))
	require.Len(t, rm.ScopeMetrics, 1)
	byName := map[string]metricdata.Metrics{}
	for _, m := range rm.ScopeMetrics[0].Metrics {
		byName[m.Name] = m
	}
	return byName
}

// Names, instruments and units are those of the registry.
func TestMetricsAreThoseOfTheRegistry(t *testing.T) {
	b, err := os.ReadFile("../semconv/registry.yaml")
	require.NoError(t, err)
	var registry struct {
		Metrics []struct{ Name, Instrument, Unit string }
	}
	require.NoError(t, yaml.Unmarshal(b, &registry))
	got := collect(t)
	for _, want := range registry.Metrics {
		m, ok := got[want.Name]
		require.True(t, ok, want.Name)
		require.Equal(t, want.Unit, m.Unit, want.Name)
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			require.Equal(t, "counter", want.Instrument, want.Name)
			require.True(t, data.IsMonotonic)
		case metricdata.Histogram[int64], metricdata.Histogram[float64]:
			require.Equal(t, "histogram", want.Instrument, want.Name)
		default:
			require.Fail(t, "unexpected data", "%s: %T", want.Name, data)
		}
		delete(got, want.Name)
	}
	for name := range got {
		require.True(t, strings.HasPrefix(name, "gen_ai.client."), name)
	}
	require.Len(t, got, 2, "duration and token usage; nothing was streamed")
}

func TestMetricsOfTheWorkedExample(t *testing.T) {
	got := collect(t)
	sums := func(name, key string) map[string]int64 {
		byKey := map[string]int64{}
		for _, p := range got[name].Data.(metricdata.Sum[int64]).DataPoints {
			v, ok := p.Attributes.Value(attribute.Key(key))
			require.True(t, ok)
			byKey[v.Emit()] = p.Value
		}
		return byKey
	}
	require.Equal(t, map[string]int64{"0": 1, "1": 1, "2": 2, "3": 3, "4": 1}, sums("spec_decode.steps", "spec_decode.step.accepted"))
	require.Equal(t, map[string]int64{"accepted": 18, "rejected": 14}, sums("spec_decode.draft_tokens", "spec_decode.draft_token.outcome"))
	require.Equal(t, map[string]int64{"verified": 1, "no_stats": 1}, sums("spec_decode.requests", "spec_decode.request.outcome"))
	for name, want := range map[string]float64{"spec_decode.acceptance.length": 3.25, "spec_decode.acceptance.rate": 0.5625, "spec_decode.accepted_per_verified": 0.65} {
		points := got[name].Data.(metricdata.Histogram[float64]).DataPoints
		require.Len(t, points, 1)
		require.Equal(t, want, points[0].Sum, name)
		require.Equal(t, attribute.NewSet(attribute.String("spec_decode.engine", "vllm"), attribute.String("gen_ai.request.model", "m"), attribute.String("spec_decode.run.phase", "profiling")), points[0].Attributes)
		require.NotEmpty(t, points[0].Exemplars, "the measurement has the span's context")
	}
	for name, want := range map[string]int64{"spec_decode.request.steps": 8, "spec_decode.request.draft_tokens": 32, "spec_decode.request.accepted_draft_tokens": 18} {
		require.Equal(t, want, got[name].Data.(metricdata.Histogram[int64]).DataPoints[0].Sum, name)
	}
}
