package instrumentation

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/specdecode/otel/semconv/acceptance"
)

// sse makes a stream of events.
func sse(events ...string) string { return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n" }

// Each endpoint's answers, whole and streamed, are understood.
func TestEndpoints(t *testing.T) {
	const meta = `"meta_info":{"id":"1","finish_reason":{"type":"length","length":3},"prompt_tokens":5,"completion_tokens":106,` + `"spec_num_correct_drafts":63,"spec_num_proposed_drafts":215,"spec_verify_ct":43,"spec_correct_drafts_histogram":[11,14,11,4,0,3]}`
	const otherMeta = `"meta_info":{"finish_reason":{"type":"stop"},"prompt_tokens":3,"completion_tokens":4,` + `"spec_num_correct_drafts":1,"spec_num_proposed_drafts":4,"spec_verify_ct":2,"spec_correct_drafts_histogram":[1,1]}`
	const usageEvent = `{"choices":[],` + usageMember + `}`
	for name, c := range map[string]struct {
		body            string
		streamed        bool
		outcome, engine string
		input, output   int64
		accepted        int64
		chunks          int
		reasons         []string
	}{
		"responses": {`{"id":"resp_1","object":"response","status":"completed","error":null,"model":"m","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}],"usage":{"input_tokens":5,"output_tokens":7}}`,
			false, "no_stats", "", 5, 7, 0, 1, []string{"completed"}},
		"responses stream": {sse(`{"type":"response.created","response":{"id":"resp_1","status":"in_progress","error":null,"usage":null}}`,
			`{"type":"response.reasoning_text.delta","delta":"hm"}`, `{"type":"response.output_text.delta","delta":"hi"}`, `{"type":"response.output_text.delta","delta":""}`,
			`{"type":"response.output_text.done","text":"hi"}`, `{"type":"response.content_part.done","part":{"type":"output_text","text":"hi"}}`,
			`{"type":"response.completed","response":{"id":"resp_1","status":"completed","error":null,"output":[{"content":[{"text":"hi"}]}],"usage":{"input_tokens":5,"output_tokens":7}}}`),
			true, "no_stats", "", 5, 7, 0, 2, []string{"completed"}},
		"responses failed": {sse(`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"died"}}}`), true, "error", "", -1, -1, 0, 0, nil},
		"responses cut":    {sse(`{"type":"response.created","response":{"id":"resp_1","status":"in_progress"}}`, `{"type":"response.output_text.delta","delta":"hi"}`), true, "error", "", -1, -1, 0, 1, nil},
		"generate":         {`{"text":"hi",` + meta + `}`, false, "verified", "sglang", 5, 106, 63, 1, []string{"length"}},
		"generate stream": {sse(`{"text":"h","meta_info":{"finish_reason":null,"prompt_tokens":5,"completion_tokens":1}}`, `{"text":"hi",`+meta+`}`, `[DONE]`),
			true, "verified", "sglang", 5, 106, 63, 2, []string{"length"}},
		"generate batch": {`[{"text":"hi",` + meta + `},{"text":"ho",` + otherMeta + `}]`, false, "verified", "sglang", 8, 110, 64, 1, []string{"length", "stop"}},
		"generate batch stream": {sse(`{"index":0,"text":"h","meta_info":{"finish_reason":null,"prompt_tokens":5,"completion_tokens":1}}`,
			`{"index":1,"text":"ho",`+otherMeta+`}`, `{"index":0,"text":"hi",`+meta+`}`, `[DONE]`),
			true, "verified", "sglang", 8, 110, 64, 3, []string{"length", "stop"}},
		"llama completion batch stream": {sse(`{"index":0,"content":"","stop":true,"tokens_predicted":111,"tokens_evaluated":12,"timings":{"draft_n":120,"draft_n_accepted":60}}`,
			`{"index":1,"content":"","stop":true,"tokens_predicted":9,"tokens_evaluated":1,"timings":{"draft_n":7,"draft_n_accepted":3}}`),
			true, "verified", "llama_cpp", 13, 120, 63, 0, []string{"stop", "stop"}},
		"llama choices stream": {sse(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"timings":{"draft_n":120,"draft_n_accepted":60}}`,
			`{"choices":[{"index":1,"delta":{},"finish_reason":"length"}],"timings":{"draft_n":7,"draft_n_accepted":3}}`, usageEvent, `[DONE]`),
			true, "verified", "llama_cpp", 12, 27, 63, 0, []string{"stop", "length"}},
		"responses error": {sse(`{"type":"response.output_text.delta","delta":"hi"}`, `{"type":"error","code":"server_error","message":"died","param":null}`, `[DONE]`), true, "error", "", -1, -1, 0, 1, nil},
		"no error":        {sse(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"error":""}`, `{"choices":[],"error":false,"usage":{}}`, `[DONE]`), true, "no_stats", "", -1, -1, 0, 1, []string{"stop"}},
		"llama completion": {`{"content":"hi","stop":true,"stop_type":"eos","model":"m","tokens_predicted":111,"tokens_evaluated":12,"timings":{"predicted_n":111,"draft_n":120,"draft_n_accepted":60}}`,
			false, "verified", "llama_cpp", 12, 111, 60, 1, []string{"eos"}},
		"llama completion stream": {sse(`{"content":"h","stop":false}`, `{"content":"i","stop":false}`, `{"content":"","stop":true,"stop_type":"limit","tokens_predicted":111,"tokens_evaluated":12,"timings":{"draft_n":120,"draft_n_accepted":60}}`),
			true, "verified", "llama_cpp", 12, 111, 60, 2, []string{"limit"}},
		"two choices": {`{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop","speculative_decoding_stats":` + vllmSparse + `},{"index":1,"message":{"content":"b"},"finish_reason":"length","speculative_decoding_stats":` + vllmSparse + `}],` + usageMember + `}`,
			false, "verified", "vllm", 12, 27, 20, 1, []string{"stop", "length"}},
		"tool call stream": {sse(`{"choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}`, `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]},"finish_reason":null}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, streamEvents[5], `[DONE]`), true, "verified", "vllm", 12, 27, 18, 1, []string{"tool_calls"}},
	} {
		t.Run(name, func(t *testing.T) {
			x := &exchange{t: NewTransport(nil, WithChunkGaps(10)), call: &Call{}, request: &request{endpoint: endpoints[0]}, span: noop.Span{}}
			header := http.Header{"Content-Type": {"application/json"}}
			if c.streamed {
				header.Set("Content-Type", "text/event-stream")
			}
			x.respond(&http.Response{StatusCode: 200, Header: header, Body: http.NoBody})
			x.read([]byte(c.body), time.Millisecond)
			result, _ := x.result(io.EOF, time.Second)
			require.Equal(t, c.outcome, result.Outcome)
			want := func(n int64) acceptance.Int {
				if n < 0 {
					return acceptance.Int{}
				}
				return acceptance.Some(n)
			}
			require.Equal(t, want(c.input), result.InputTokens)
			require.Equal(t, want(c.output), result.OutputTokens)
			require.Equal(t, c.reasons, x.answer.finishReasons)
			if c.engine != "" {
				require.Equal(t, c.engine, result.Record.Engine)
				require.Equal(t, c.accepted, result.Record.Accepted)
			}
			chunks := len(x.answer.gaps)
			if x.answer.first > 0 {
				chunks++
			}
			require.Equal(t, c.chunks, chunks)
		})
	}
}

// An answer without stats can give away why.
func TestMissingStats(t *testing.T) {
	for name, c := range map[string]struct {
		request string
		handler http.HandlerFunc
		want    any
	}{
		"stream without usage": {`{"stream":true}`, func(w http.ResponseWriter, r *http.Request) { stream(w, streamEvents[1], streamEvents[4], "[DONE]") }, "usage"},
		"SGLang":               {`{}`, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"choices":[{"matched_stop":null}]}`) }, "request_flag"},
		"SGLang asked":         {`{"return_spec_tokens_details":true}`, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"choices":[{"matched_stop":null}]}`) }, nil},
		"SGLang asked not to":  {`{"return_spec_tokens_details":false}`, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"choices":[{"matched_stop":null}]}`) }, "request_flag"},
		"vLLM, several choices": {`{"n":2}`, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"choices":[],"system_fingerprint":"vllm-0.32.0-cd268648"}`)
		}, "request_kind"},
		"vLLM, several prompts": {`{"prompt":["a","b"]}`, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"choices":[],"system_fingerprint":"vllm-0.32.0-cd268648"}`)
		}, "request_kind"},
		"vLLM, a prompt of tokens": {`{"prompt":[1,2]}`, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"choices":[],"system_fingerprint":"vllm-0.32.0-cd268648"}`)
		}, "server_flag"},
		"vLLM, stop string": {`{}`, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"choices":[{"finish_reason":"stop","stop_reason":"END"}],"system_fingerprint":"vllm-0.32.0-cd268648"}`)
		}, "request_kind"},
		"vLLM, stop token": {`{}`, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"choices":[{"finish_reason":"stop","stop_reason":7}],"system_fingerprint":"vllm-0.32.0-cd268648"}`)
		}, "server_flag"},
		"vLLM": {`{}`, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"choices":[],"system_fingerprint":"vllm-0.32.0-cd268648"}`)
		}, "server_flag"},
		"LiteLLM": {`{}`, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Litellm-Call-Id", "1")
			io.WriteString(w, `{"choices":[]}`)
		}, "gateway"},
		"unknown": {`{}`, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"choices":[]}`) }, nil},
		"stats":   {`{}`, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, wholeBody) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.handler)
			resp, err := f.post(t, t.Context(), "/v1/chat/completions", c.request)
			drain(t, resp, err)
			_, a := f.span(t)
			require.Equal(t, c.want, a["spec_decode.stats.missing"])
		})
	}
}
