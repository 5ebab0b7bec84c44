package instrumentation

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdklog "go.opentelemetry.io/otel/sdk/log"
)

// keepLogs is a log exporter that keeps what it gets.
type keepLogs struct{ records []sdklog.Record }

func (k *keepLogs) Export(_ context.Context, r []sdklog.Record) error {
	k.records = append(k.records, r...)
	return nil
}
func (k *keepLogs) Shutdown(context.Context) error   { return nil }
func (k *keepLogs) ForceFlush(context.Context) error { return nil }

// gatewayKeys are headers that gateways have keys in.
var gatewayKeys = []string{"Api-Key", "X-Litellm-Api-Key", "Ocp-Apim-Subscription-Key", "X-Goog-Api-Key", "X-Auth-Token", "Helicone-Auth"}

func TestRawRecords(t *testing.T) {
	logs := &keepLogs{}
	loggers := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewSimpleProcessor(logs)))
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.RawQuery, "stream") {
			stream(w, streamEvents...)
			return
		}
		io.WriteString(w, wholeBody)
	}, WithRaw(loggers, 3000))
	attrs := func() map[string]any {
		m := map[string]any{}
		logs.records[len(logs.records)-1].WalkAttributes(func(kv attribute.KeyValue) bool {
			m[string(kv.Key)] = kv.Value.AsInterface()
			return true
		})
		return m
	}
	send := func(body string) (rawBody, Result) {
		r, err := http.NewRequestWithContext(ContextWithCall(context.Background(), &Call{Done: func(r Result) { f.result = r }}),
			http.MethodPost, f.server.URL+"/v1/chat/completions?"+body, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer key")
		r.Header.Set("Cookie", "a=b")
		for _, name := range gatewayKeys {
			r.Header.Set(name, "secret")
		}
		r.Header.Set("X-Mine", "1")
		resp, err := f.client.Do(r)
		drain(t, resp, err)
		var raw rawBody
		last := logs.records[len(logs.records)-1]
		require.Equal(t, "spec_decode.raw", last.EventName())
		require.Equal(t, f.result.SpanContext.SpanID(), last.SpanID())
		require.True(t, last.ObservedTimestamp().After(last.Timestamp()))
		require.NoError(t, json.Unmarshal([]byte(last.Body().AsString()), &raw))
		require.NotContains(t, last.Body().AsString(), "Bearer")
		require.NotContains(t, last.Body().AsString(), "secret")
		return raw, f.result
	}
	raw, result := send(`{"stream":true}`)
	require.True(t, result.Raw)
	require.Empty(t, result.RawDropped)
	require.JSONEq(t, `{"stream":true}`, string(raw.Payload))
	require.Equal(t, "<redacted>", raw.Headers["Authorization"])
	require.Equal(t, "<redacted>", raw.Headers["Cookie"])
	require.Equal(t, "1", raw.Headers["X-Mine"])
	require.Equal(t, 200, raw.Status)
	require.Len(t, raw.Responses, len(streamEvents))
	for i, e := range streamEvents {
		require.Equal(t, []rawPacket{{"data", e}}, raw.Responses[i].Packets)
		require.Greater(t, raw.Responses[i].Perf, raw.StartPerf)
	}
	a := attrs()
	require.Equal(t, int64(200), a["http.response.status_code"])
	require.Equal(t, "verified", a["spec_decode.request.outcome"])
	require.Equal(t, int64(result.Headers), a["spec_decode.response.headers"])
	require.Equal(t, int64(result.FirstChunk), a["spec_decode.response.first_chunk"])
	require.Equal(t, int64(result.LastChunk), a["spec_decode.response.last_chunk"])
	raw, _ = send(`{}`)
	require.Len(t, raw.Responses, 1)
	require.Equal(t, wholeBody, raw.Responses[0].Text)

	raw, result = send(`{"pad":"` + strings.Repeat("x", 3000) + `"}`)
	require.Contains(t, result.RawDropped, "over 3000")
	require.Equal(t, result.RawDropped, raw.Dropped)
	require.Nil(t, raw.Payload)
	require.Nil(t, raw.Responses)
	require.Equal(t, "verified", result.Outcome)
}
