package instrumentation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

const (
	statsMember = `"metrics":{"speculative_decoding":{"mean_acceptance_length":3.25,"draft_acceptance_rate":0.5625,"acceptance_histogram":[1,1,2,3,1],` +
		`"num_spec_steps":8,"num_accepted_draft_tokens":18,"num_draft_tokens":32,"num_spec_tokens":4,"per_step_accepted":[2,3,1,4,2,0,3,3],"per_step_drafted":[4,4,4,4,4,4,4,4]}}`
	usageMember = `"usage":{"prompt_tokens":12,"completion_tokens":27}`
	wholeBody   = `{"id":"chatcmpl-1","model":"tiny","choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}],` + usageMember + `,` + statsMember + `}`
)

var streamEvents = []string{
	`{"id":"chatcmpl-1","model":"tiny","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`,
	`{"id":"chatcmpl-1","model":"tiny","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}`,
	`{"id":"chatcmpl-1","model":"tiny","choices":[{"index":0,"delta":{"content":"b"},"finish_reason":null}]}`,
	`{"id":"chatcmpl-1","model":"tiny","choices":[{"index":0,"delta":{"content":"c"},"finish_reason":null}]}`,
	`{"id":"chatcmpl-1","model":"tiny","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`,
	`{"id":"chatcmpl-1","model":"tiny","choices":[],` + usageMember + `,` + statsMember + `}`,
	`[DONE]`,
}

// fixture is a server, a client with the transport, and what it recorded.
type fixture struct {
	server *httptest.Server
	client *http.Client
	spans  *tracetest.SpanRecorder
	// got is the last request that the server saw, result the last result.
	got    *http.Request
	body   string
	result Result
}

func newFixture(t *testing.T, handler http.HandlerFunc, opts ...Option) *fixture {
	f := &fixture{spans: tracetest.NewSpanRecorder()}
	f.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		f.got, f.body = r, string(b)
		handler(w, r)
	}))
	base := http.DefaultTransport.(*http.Transport).Clone()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(f.spans))
	opts = append([]Option{WithTracerProvider(tracers), WithPropagators(propagation.TraceContext{})}, opts...)
	f.client = &http.Client{Transport: NewTransport(base, opts...)}
	t.Cleanup(func() { base.CloseIdleConnections(); f.server.Close() })
	return f
}

func (f *fixture) post(t *testing.T, ctx context.Context, path, body string) (*http.Response, error) {
	ctx = ContextWithCall(ctx, &Call{Phase: "profiling", Attributes: []attribute.KeyValue{attribute.Int("spec_decode.request.index", 7)}, Done: func(r Result) { f.result = r }})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.server.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	return f.client.Do(r)
}

// attributes of the only span.
func (f *fixture) span(t *testing.T) (sdktrace.ReadOnlySpan, map[string]any) {
	ended := f.spans.Ended()
	require.Len(t, ended, 1)
	attrs := map[string]any{}
	for _, a := range ended[0].Attributes() {
		attrs[string(a.Key)] = a.Value.AsInterface()
	}
	return ended[0], attrs
}

func stream(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for _, e := range events {
		io.WriteString(w, "data: "+e+"\n\n")
		w.(http.Flusher).Flush()
	}
}

func drain(t *testing.T, resp *http.Response, err error) string {
	require.NoError(t, err)
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return string(b)
}

func TestSpanOfAStream(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) { stream(w, streamEvents...) }, WithPerStep(5), WithChunkGaps(10))
	resp, err := f.post(t, context.Background(), "/v1/chat/completions", `{"model":"m","stream":true,"max_tokens":3,"temperature":0.5,"seed":4,"n":1}`)
	drain(t, resp, err)
	span, a := f.span(t)
	require.Equal(t, "chat m", span.Name())
	require.Equal(t, trace.SpanKindClient, span.SpanKind())
	for key, want := range map[string]any{
		"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.provider.name": "vllm", "gen_ai.request.stream": true,
		"gen_ai.request.max_tokens": int64(3), "gen_ai.request.temperature": 0.5, "gen_ai.request.seed": int64(4), "gen_ai.request.choice.count": int64(1),
		"gen_ai.response.id": "chatcmpl-1", "gen_ai.response.model": "tiny", "gen_ai.response.finish_reasons": []string{"length"},
		"gen_ai.usage.input_tokens": int64(12), "gen_ai.usage.output_tokens": int64(27),
		"server.address": "127.0.0.1", "http.response.status_code": int64(200),
		"spec_decode.engine": "vllm", "spec_decode.steps": int64(8), "spec_decode.draft_tokens": int64(32), "spec_decode.accepted_draft_tokens": int64(18),
		"spec_decode.max_draft_tokens": int64(4), "spec_decode.acceptance.length": 3.25, "spec_decode.acceptance.rate": 0.5625,
		"spec_decode.acceptance.histogram": []int64{1, 1, 2, 3, 1}, "spec_decode.step.accepted_draft_tokens": []int64{2, 3, 1, 4, 2},
		"spec_decode.step.draft_tokens": []int64{4, 4, 4, 4, 4}, "spec_decode.step.dropped": int64(3),
		"spec_decode.request.outcome": "verified", "spec_decode.request.index": int64(7), "spec_decode.run.phase": "profiling",
	} {
		require.Equal(t, want, a[key], key)
	}
	// Timings agree with each other and with the span's own times.
	headers, first, second, last := a["spec_decode.response.headers"].(int64), a["spec_decode.response.first_chunk"].(int64), a["spec_decode.response.second_chunk"].(int64), a["spec_decode.response.last_chunk"].(int64)
	require.True(t, 0 < headers && headers <= first && first <= second && second <= last)
	gaps := a["spec_decode.response.chunk_gaps"].([]int64)
	require.Len(t, gaps, 2)
	require.Equal(t, last, first+gaps[0]+gaps[1])
	require.Equal(t, float64(first)/1e9, a["gen_ai.response.time_to_first_chunk"])
	require.GreaterOrEqual(t, span.EndTime().Sub(span.StartTime()), time.Duration(last))
	// The server is part of the trace.
	require.Contains(t, f.got.Header.Get("Traceparent"), span.SpanContext().TraceID().String()+"-"+span.SpanContext().SpanID().String())
	require.Equal(t, span.SpanContext(), f.result.SpanContext)
}

// By default neither per-step arrays nor gaps nor anything that the user or the server wrote is in the span.
func TestSpanIsSafeByDefault(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, wholeBody) })
	resp, err := f.post(t, context.Background(), "/v1/completions", `{"model":"m","prompt":"my secret prompt"}`)
	require.Equal(t, wholeBody, drain(t, resp, err))
	span, a := f.span(t)
	require.Equal(t, "text_completion m", span.Name())
	for _, key := range []string{"spec_decode.step.accepted_draft_tokens", "spec_decode.step.draft_tokens", "spec_decode.response.chunk_gaps", "gen_ai.response.time_to_first_chunk", "gen_ai.request.stream"} {
		require.NotContains(t, a, key)
	}
	require.Equal(t, a["spec_decode.response.first_chunk"], a["spec_decode.response.last_chunk"])
	for key, v := range a {
		require.NotContains(t, fmt.Sprint(v), "secret", key)
	}

	f = newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"error":"bad input: my secret prompt"}`, 422)
	})
	resp, err = f.post(t, context.Background(), "/v1/completions", `{"model":"m"}`)
	drain(t, resp, err)
	span, a = f.span(t)
	require.Equal(t, sdktrace.Status{Code: codes.Error, Description: "Unprocessable Entity"}, span.Status())
	require.Equal(t, "422", a["error.type"])
}

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		opts    []Option
		want    Failure
	}{
		"status": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(429)
			io.WriteString(w, "slow\x1b[31m\ndown, please")
		},
			[]Option{WithErrorBody(15)}, Failure{429, "429", "slow\uFFFD[31m down,"}},
		"status alone": {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) }, []Option{WithErrorBody(15)}, Failure{503, "503", "Service Unavailable"}},
		"event": {func(w http.ResponseWriter, r *http.Request) {
			stream(w, streamEvents[1], `{"error":{"message":"engine died","code":500}}`, streamEvents[5], "[DONE]")
		}, []Option{WithErrorBody(100)}, Failure{500, "error_event", "engine died"}},
		"event without leave": {func(w http.ResponseWriter, r *http.Request) { stream(w, `{"error":"engine died"}`) }, nil, Failure{0, "error_event", "the server sent an error"}},
		"truncated":           {func(w http.ResponseWriter, r *http.Request) { stream(w, streamEvents[:4]...) }, nil, Failure{0, "truncated_stream", "the stream ended without finish_reason and without [DONE]"}},
		"no JSON":             {func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>") }, nil, Failure{0, "invalid_body", "the body is no JSON object"}},
		"empty":               {func(w http.ResponseWriter, r *http.Request) {}, nil, Failure{0, "invalid_body", "the body is no JSON object"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.handler, c.opts...)
			resp, err := f.post(t, context.Background(), "/v1/chat/completions", `{"model":"m","stream":true}`)
			drain(t, resp, err)
			require.Equal(t, "error", f.result.Outcome)
			require.Equal(t, c.want, *f.result.Failure)
			require.Nil(t, f.result.Record)
			span, a := f.span(t)
			require.Equal(t, codes.Error, span.Status().Code)
			require.Equal(t, c.want.Type, a["error.type"])
			require.NotContains(t, a, "spec_decode.steps")
		})
	}
}

func TestBrokenConnections(t *testing.T) {
	hang := make(chan struct{})
	wait := func(w http.ResponseWriter, r *http.Request) {
		stream(w, streamEvents[:2]...)
		select {
		case <-r.Context().Done():
		case <-hang:
		}
	}
	defer close(hang)

	t.Run("cancelled", func(t *testing.T) {
		f := newFixture(t, wait)
		ctx, cancel := context.WithCancel(context.Background())
		resp, err := f.post(t, ctx, "/v1/chat/completions", `{}`)
		require.NoError(t, err)
		cancel()
		_, err = io.ReadAll(resp.Body)
		require.ErrorIs(t, err, context.Canceled)
		resp.Body.Close()
		require.Equal(t, "cancelled", f.result.Failure.Type)
		f.span(t)
	})
	t.Run("timeout", func(t *testing.T) {
		f := newFixture(t, wait)
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		resp, err := f.post(t, ctx, "/v1/chat/completions", `{}`)
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		resp.Body.Close()
		require.Equal(t, "timeout", f.result.Failure.Type)
	})
	t.Run("closed early", func(t *testing.T) {
		f := newFixture(t, wait)
		resp, err := f.post(t, context.Background(), "/v1/chat/completions", `{}`)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		resp.Body.Close()
		require.Equal(t, "cancelled", f.result.Failure.Type)
		_, a := f.span(t)
		require.Contains(t, a, "spec_decode.response.headers")
	})
	t.Run("refused", func(t *testing.T) {
		f := newFixture(t, wait)
		f.server.Close()
		_, err := f.post(t, context.Background(), "/v1/chat/completions", `{}`)
		require.Error(t, err)
		require.Equal(t, "connection_error", f.result.Failure.Type)
		f.span(t)
	})
	t.Run("no answer", func(t *testing.T) {
		f := newFixture(t, func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
		_, err := f.post(t, context.Background(), "/v1/chat/completions", `{}`)
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, "connection_error", f.result.Failure.Type)
	})
	t.Run("broken off", func(t *testing.T) {
		f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
			stream(w, streamEvents[:6]...)
			panic(http.ErrAbortHandler)
		})
		resp, err := f.post(t, context.Background(), "/v1/chat/completions", `{}`)
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		require.Error(t, err)
		resp.Body.Close()
		require.Equal(t, "connection_error", f.result.Failure.Type)
	})
}

// Clients that stop reading when they have seen [DONE], or a whole JSON value, have had a whole answer.
func TestClosedAfterTheLastWord(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"stream": func(w http.ResponseWriter, r *http.Request) { stream(w, append(streamEvents, ": end")...) },
		"body":   func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, wholeBody+"\n") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, handler)
			resp, err := f.post(t, context.Background(), "/v1/chat/completions", `{}`)
			require.NoError(t, err)
			var read bytes.Buffer
			for p := make([]byte, 1); !strings.Contains(read.String(), "[DONE]\n\n") && read.String() != wholeBody; {
				n, err := resp.Body.Read(p)
				require.NoError(t, err)
				read.Write(p[:n])
			}
			require.NoError(t, resp.Body.Close())
			require.Equal(t, "verified", f.result.Outcome)
		})
	}
}

// What the transport does not look at passes without a span.
func TestOtherRequestsPass(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, wholeBody) },
		WithFilter(func(r *http.Request) bool { return r.Header.Get("X-Skip") == "" }))
	resp, err := f.client.Get(f.server.URL + "/v1/chat/completions")
	drain(t, resp, err)
	resp, err = f.post(t, context.Background(), "/v1/embeddings", `{}`)
	drain(t, resp, err)
	r, _ := http.NewRequest(http.MethodPost, f.server.URL+"/v1/completions", strings.NewReader("{}"))
	r.Header.Set("X-Skip", "1")
	resp, err = f.client.Do(r)
	drain(t, resp, err)
	require.Empty(t, f.spans.Started())
	require.Empty(t, f.got.Header.Get("Traceparent"))
}

// The request's body reaches the server whatever kind it is, and the caller's request is as it was.
func TestRequestIsLeftAlone(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, wholeBody) }, WithMaxBody(1000))
	for _, body := range []string{`{"model":"m"}`, `not JSON`, ``, `{"model":"` + strings.Repeat("x", 2000) + `"}`} {
		for _, reader := range []io.Reader{strings.NewReader(body), io.MultiReader(strings.NewReader(body))} {
			r, err := http.NewRequest(http.MethodPost, f.server.URL+"/v1/completions", reader)
			require.NoError(t, err)
			before := r.Header.Clone()
			resp, err := f.client.Do(r)
			drain(t, resp, err)
			require.Equal(t, body, f.body)
			require.Equal(t, before, r.Header)
		}
	}
	broken := io.MultiReader(strings.NewReader("{"), errorReader{errors.New("disk gone")})
	r, _ := http.NewRequest(http.MethodPost, f.server.URL+"/v1/completions", broken)
	_, err := f.client.Do(r)
	require.ErrorContains(t, err, "disk gone")
}

// What is too large to be kept, or encoded, passes on and has no stats for us.
func TestUnreadBodies(t *testing.T) {
	big := `{"choices":[],"pad":"` + strings.Repeat("x", 2000) + `",` + statsMember + `}`
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"body":  {func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, big) }, "body over 1000 bytes not read"},
		"event": {func(w http.ResponseWriter, r *http.Request) { stream(w, streamEvents[1], big, "[DONE]") }, "event over 1000 bytes not read"},
		"encoding": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "zstd")
			io.WriteString(w, "\x28\xb5\x2f\xfd")
		}, "body in encoding zstd not read"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.handler, WithMaxBody(1000))
			resp, err := f.post(t, context.Background(), "/v1/chat/completions", `{}`)
			drain(t, resp, err)
			_, a := f.span(t)
			require.Equal(t, "no_stats", a["spec_decode.request.outcome"])
			require.Equal(t, c.want, a["spec_decode.stats.ignored"])
		})
	}
}

func TestCorruptStatsSayWhy(t *testing.T) {
	for change, want := range map[[2]string]string{
		{`"num_spec_steps":8`, `"num_spec_steps":9`}:                    "metrics.speculative_decoding: the histogram counts 8 steps, not 9",
		{`"num_draft_tokens":32`, `"num_draft_tokens":"32"`}:            `metrics.speculative_decoding: num_draft_tokens is no integer ("32")`,
		{`"num_draft_tokens":32,`, ``}:                                  "metrics.speculative_decoding: num_draft_tokens is missing",
		{`[1,1,2,3,1]`, `[1,true,2,3,1]`}:                               "metrics.speculative_decoding: acceptance_histogram[1] is no integer (true)",
		{`"num_spec_steps":8`, `"num_spec_steps":8e0`}:                  "metrics.speculative_decoding: num_spec_steps is no integer (8e0)",
		{`"num_spec_steps":8`, `"num_spec_steps":99999999999999999999`}: "metrics.speculative_decoding: num_spec_steps is out of range (99999999999999999999)",
	} {
		f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, strings.Replace(wholeBody, change[0], change[1], 1))
		})
		resp, err := f.post(t, context.Background(), "/v1/chat/completions", `{}`)
		drain(t, resp, err)
		_, a := f.span(t)
		require.Equal(t, "corrupt_stats", a["spec_decode.request.outcome"])
		require.Equal(t, want, a["spec_decode.stats.corrupt_reason"])
		require.NotContains(t, a, "spec_decode.steps")
	}
}

// A joint histogram that agrees is kept; one that does not is left out, and the record stays.
func TestJointHistogram(t *testing.T) {
	for joint, want := range map[string]any{
		`{"4":[1,1,2,3,1]}`:               []int64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 1},
		`[[0],[0,0],[],null,[1,1,2,3,1]]`: []int64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 1},
		`{"4":[1,1,2,3,2]}`:               nil,
		`{"99":[1]}`:                      nil,
		`"x"`:                             nil,
	} {
		f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, strings.Replace(wholeBody, `"num_spec_tokens"`, `"acceptance_histogram_by_draft_length":`+joint+`,"num_spec_tokens"`, 1))
		})
		resp, err := f.post(t, context.Background(), "/v1/chat/completions", `{}`)
		drain(t, resp, err)
		_, a := f.span(t)
		require.Equal(t, int64(8), a["spec_decode.steps"])
		require.Equal(t, want, a["spec_decode.acceptance.histogram_by_draft_length"], joint)
		if want == nil {
			require.Contains(t, a["spec_decode.stats.ignored"], "metrics.speculative_decoding.acceptance_histogram_by_draft_length: ")
		}
	}
}

// keepLogs is a log exporter that keeps what it gets.
type keepLogs struct{ records []sdklog.Record }

func (k *keepLogs) Export(_ context.Context, r []sdklog.Record) error {
	k.records = append(k.records, r...)
	return nil
}
func (k *keepLogs) Shutdown(context.Context) error   { return nil }
func (k *keepLogs) ForceFlush(context.Context) error { return nil }

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
	send := func(body string) (rawBody, Result) {
		r, err := http.NewRequestWithContext(ContextWithCall(context.Background(), &Call{Done: func(r Result) { f.result = r }}),
			http.MethodPost, f.server.URL+"/v1/chat/completions?"+body, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer key")
		r.Header.Set("Cookie", "a=b")
		r.Header.Set("X-Mine", "1")
		resp, err := f.client.Do(r)
		drain(t, resp, err)
		var raw rawBody
		last := logs.records[len(logs.records)-1]
		require.Equal(t, "spec_decode.raw", last.EventName())
		require.Equal(t, f.result.SpanContext.SpanID(), last.SpanID())
		require.True(t, last.ObservedTimestamp().After(last.Timestamp()))
		require.NoError(t, json.Unmarshal([]byte(last.Body().AsString()), &raw))
		require.NotContains(t, last.Body().AsString(), "key")
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
