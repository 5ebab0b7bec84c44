package main

import (
	"io"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestPayload(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		// The first two are what AIPerf sends.
		{"chat", []string{"--streaming", "--osl", "16"}, `{"messages": [{"role": "user", "content": "hi <you> & me"}], "model": "tiny", "stream": true,
			"max_completion_tokens": 16, "stream_options": {"include_usage": true}}`},
		{"completions", []string{"--endpoint-type", "completions", "--osl", "16"}, `{"prompt": "hi <you> & me", "model": "tiny", "stream": false, "max_tokens": 16}`},
		{"no limit", nil, `{"messages": [{"role": "user", "content": "hi <you> & me"}], "model": "tiny", "stream": false}`},
		{"extra inputs", []string{"--extra-inputs", "temperature:0.70", "--extra-inputs", "top_k: 12345678901234567890", "--extra-inputs", "stop:[\"a\",\"b:c\"]",
			"--extra-inputs", "name:x,y:z", "--extra-inputs", "ignore_eos:true", "--extra-inputs", "model:other", "--extra-inputs", `{"a": {"b": 1}, "c": null}`},
			`{"messages": [{"role": "user", "content": "hi <you> & me"}], "model": "other", "stream": false, "temperature": 0.70,
			"top_k": 12345678901234567890, "stop": ["a", "b:c"], "name": "x,y:z", "ignore_eos": true, "a": {"b": 1}, "c": null}`},
		{"a stream by extra inputs", []string{"--extra-inputs", "stream:true"}, `{"messages": [{"role": "user", "content": "hi <you> & me"}], "model": "tiny",
			"stream": true, "stream_options": {"include_usage": true}}`},
		{"no stream by extra inputs", []string{"--streaming", "--extra-inputs", "stream:false"}, `{"messages": [{"role": "user", "content": "hi <you> & me"}],
			"model": "tiny", "stream": false}`},
		{"stream options", []string{"--streaming", "--extra-inputs", `stream_options:{"continuous_usage_stats":true}`}, `{"messages": [{"role": "user",
			"content": "hi <you> & me"}], "model": "tiny", "stream": true, "stream_options": {"include_usage": true, "continuous_usage_stats": true}}`},
		{"no usage", []string{"--streaming", "--extra-inputs", `stream_options:{"include_usage":false}`}, `{"messages": [{"role": "user",
			"content": "hi <you> & me"}], "model": "tiny", "stream": true, "stream_options": {"include_usage": false}}`},
		{"simulated", []string{"--simulate", "vllm"}, `{"messages": [{"role": "user", "content": "hi <you> & me"}], "model": "tiny", "stream": true,
			"seed": 3, "stream_options": {"include_usage": true}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := parse(t, append([]string{"--model", "tiny"}, tt.args...)...)
			if c.Simulated {
				require.NoError(t, c.setURL("127.0.0.1:9"))
			}
			r, err := c.newRequest(t.Context(), "hi <you> & me", 3)
			require.NoError(t, err)
			body, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(body))
			require.Contains(t, string(body), "hi <you> & me", "not escaped")
			if tt.name == "extra inputs" {
				require.Contains(t, string(body), "12345678901234567890", "numbers stay as they are")
			}
			require.EqualValues(t, len(body), r.ContentLength)

			copied, err := r.GetBody()
			require.NoError(t, err)
			again, err := io.ReadAll(copied)
			require.NoError(t, err)
			require.Equal(t, body, again)

			accept := "application/json"
			if c.Streaming {
				accept = "text/event-stream"
			}
			require.Equal(t, accept, r.Header.Get("Accept"))
		})
	}
}

func TestHeaders(t *testing.T) {
	c := parse(t, "--model", "m", "--api-key", "k1", "-H", "X-Tenant:  a: b ", "-H", "x-two: 1", "-H", "X-Two: 2", "-H", "Authorization: mine",
		"-H", "host: virtual", "-H", "User-Agent: me")
	r, err := c.newRequest(t.Context(), "p", 0)
	require.NoError(t, err)
	require.Equal(t, "POST", r.Method)
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
	require.Equal(t, "a: b", r.Header.Get("X-Tenant"))
	require.Equal(t, []string{"1", "2"}, r.Header.Values("X-Two"))
	require.Equal(t, "virtual", r.Host)
	require.Equal(t, "me", r.Header.Get("User-Agent"))
	require.Equal(t, "Bearer k1", r.Header.Get("Authorization"), "the key goes before a header")
	id, correlation := r.Header.Get("X-Request-Id"), r.Header.Get("X-Correlation-ID")
	require.NoError(t, uuid.Validate(id))
	require.NoError(t, uuid.Validate(correlation))
	require.NotEqual(t, id, correlation)

	other, err := parse(t, "--model", "m").newRequest(t.Context(), "p", 0)
	require.NoError(t, err)
	require.Equal(t, "specdecode-loadgen/"+version, other.Header.Get("User-Agent"))
	require.NotEqual(t, id, other.Header.Get("X-Request-Id"))
	require.Empty(t, other.Header.Values("Authorization"))
}
