package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"github.com/specdecode/otel/loadgen/simulator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The three requests are children of the caller's span, and each has its record.
func TestAsk(t *testing.T) {
	server := httptest.NewServer(simulator.New(simulator.Config{}))
	defer server.Close()
	base := http.DefaultTransport.(*http.Transport).Clone()
	defer base.CloseIdleConnections()
	spans := tracetest.NewSpanRecorder()
	var out bytes.Buffer
	require.NoError(t, ask(context.Background(), sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)), base, server.URL, "m", &out))
	ended := spans.Ended()
	require.Len(t, ended, 4)
	parent := ended[3]
	require.Equal(t, "three questions", parent.Name())
	for _, s := range ended[:3] {
		require.Equal(t, "chat m", s.Name())
		require.Equal(t, parent.SpanContext().SpanID(), s.Parent().SpanID())
		require.Equal(t, parent.SpanContext().TraceID(), s.SpanContext().TraceID())
		require.Contains(t, s.Attributes(), attribute.String("spec_decode.request.outcome", "verified"))
	}
	require.Equal(t, 3, strings.Count(out.String(), "verified, "))
	require.Regexp(t, `(?m)^call of run with \d\d+ bytes of arguments$`, out.String())
	for i, reason := range []string{"stop", "stop", "tool_calls"} {
		require.Contains(t, ended[i].Attributes(), attribute.StringSlice("gen_ai.response.finish_reasons", []string{reason}))
	}
}

func TestRunFailsWithoutAServer(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, 1, run(context.Background(), []string{"--url", "http://127.0.0.1:1"}, &out, &errs))
	require.Contains(t, errs.String(), "connection refused")
	require.Equal(t, 2, run(context.Background(), []string{"--nope"}, &out, &errs))
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}
