package instrumentation

import (
	"compress/gzip"
	"context"
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

// net/http's own work on the way stays as it was: HTTP/2, and compression that it asked for itself.
func TestHTTP2AndGzip(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, 2, r.ProtoMajor)
		require.Equal(t, "gzip", r.Header.Get("Accept-Encoding"))
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		z := gzip.NewWriter(w)
		io.WriteString(z, wholeBody)
		z.Close()
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	base := server.Client().Transport.(*http.Transport)
	defer base.CloseIdleConnections()
	spans := tracetest.NewSpanRecorder()
	client := &http.Client{Transport: NewTransport(base, WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))))}
	resp, err := client.Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m"}`))
	require.Equal(t, wholeBody, drain(t, resp, err))
	require.Contains(t, spans.Ended()[0].Attributes(), attribute.Int("spec_decode.steps", 8))
}
