package instrumentation

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/specdecode/otel/semconv"
)

// A request gets what it lacks and keeps every byte that it has.
func TestWithRequestStats(t *testing.T) {
	for body, want := range map[string]string{
		`{"model":"m" , "stream": true}`:                                  `{"return_spec_tokens_details":true,"stream_options":{"include_usage":true},"model":"m" , "stream": true}`,
		`{"model":"m"}`:                                                   `{"return_spec_tokens_details":true,"model":"m"}`,
		` {"stream":true,"stream_options": { "x":1 }}`:                    ` {"return_spec_tokens_details":true,"stream":true,"stream_options": {"include_usage":true, "x":1 }}`,
		`{"stream":true,"stream_options":{}}`:                             `{"return_spec_tokens_details":true,"stream":true,"stream_options":{"include_usage":true}}`,
		`{"stream":true,"stream_options":{"include_usage":false}}`:        `{"return_spec_tokens_details":true,"stream":true,"stream_options":{"include_usage":false}}`,
		`{"stream":true,"stream_options":null,"a":{"stream_options":{}}}`: `{"return_spec_tokens_details":true,"stream":true,"stream_options":null,"a":{"stream_options":{}}}`,
		`{"return_spec_tokens_details":false}`:                            `{"return_spec_tokens_details":false}`,
		`{}`:                                                              `{"return_spec_tokens_details":true}`,
		`no JSON`:                                                         `no JSON`,
		`[]`:                                                              `[]`,
	} {
		f := newFixture(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, wholeBody) }, WithRequestStats(semconv.EngineSGLang))
		resp, err := f.post(t, context.Background(), "/v1/chat/completions", body)
		drain(t, resp, err)
		require.Equal(t, want, f.body)
	}
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, wholeBody) }, WithRequestStats())
	r, err := http.NewRequest(http.MethodPost, f.server.URL+"/v1/completions", io.MultiReader(strings.NewReader(`{"stream":true}`)))
	require.NoError(t, err)
	resp, err := f.client.Do(r)
	drain(t, resp, err)
	require.Equal(t, `{"stream_options":{"include_usage":true},"stream":true}`, f.body, "a body that cannot be read twice")
}

// Only the endpoints that know the members are asked.
func TestWithRequestStatsElsewhere(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{}`) }, WithRequestStats(semconv.EngineSGLang))
	for _, path := range []string{"/v1/responses", "/generate", "/completion"} {
		resp, err := f.post(t, context.Background(), path, `{"stream":true}`)
		drain(t, resp, err)
		require.Equal(t, `{"stream":true}`, f.body)
	}
}

// FuzzAsk: whatever the body, nothing of it is lost.
func FuzzAsk(f *testing.F) {
	f.Add(`{"stream":true,"stream_options":{"x":1}}`)
	f.Add(` { "stream" :true}`)
	f.Fuzz(func(t *testing.T, body string) {
		before, ok := decodeMembers([]byte(body))
		if !ok {
			return
		}
		q := &request{endpoint: endpoints[0], body: []byte(body)}
		q.streamed = string(before.get("stream")) == "true"
		r, _ := http.NewRequest(http.MethodPost, "http://h/", strings.NewReader(body))
		ask(r, q, []string{semconv.EngineSGLang})
		after, ok := decodeMembers(q.body)
		require.True(t, ok, string(q.body))
		for _, m := range before {
			if string(m.key) != streamOptions {
				require.Equal(t, string(before.get(string(m.key))), string(after.get(string(m.key))))
			}
		}
		require.Less(t, len(after), len(before)+3)
	})
}
