package simulator_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/specdecode/otel/loadgen/simulator"
	"github.com/specdecode/otel/semconv/acceptance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine is a client of a running simulator.
type engine struct {
	*testing.T
	url string
	*http.Client
}

func start(t *testing.T, c simulator.Config) engine {
	server := httptest.NewServer(simulator.New(c))
	t.Cleanup(server.Close)
	return engine{t, server.URL, server.Client()}
}

// body is a request.
type body map[string]any

func (b body) with(key string, value any) body {
	c := body{key: value}
	for k, v := range b {
		if k != key {
			c[k] = v
		}
	}
	return c
}

func chat(prompt string) body {
	return body{"model": "m", "messages": []body{{"role": "user", "content": prompt}}}
}

func streamed(b body) body {
	return b.with("stream", true).with("stream_options", body{"include_usage": true})
}

func (e engine) post(path string, b any, header ...string) (status int, contentType, text string) {
	encoded, err := json.Marshal(b)
	require.NoError(e, err)
	if raw, ok := b.(string); ok {
		encoded = []byte(raw)
	}
	r, err := http.NewRequest(http.MethodPost, e.url+path, strings.NewReader(string(encoded)))
	require.NoError(e, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := e.Do(r)
	require.NoError(e, err)
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	require.NoError(e, err)
	return resp.StatusCode, resp.Header.Get("Content-Type"), string(read)
}

// events splits a stream.
func (e engine) events(stream string) []string {
	require.True(e, strings.HasSuffix(stream, "\n\n"), stream)
	var events []string
	for s := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(s, "data: ")
		require.True(e, ok, s)
		events = append(events, data)
	}
	require.Equal(e, "[DONE]", events[len(events)-1])
	return events[:len(events)-1]
}

// answer has what tests look at, of a body or of one event.
type answer struct {
	ID, Model string
	Choices   []struct {
		Index   int
		Text    string
		Message struct{ Content string }
		Delta   struct {
			Role    string
			Content *string
		}
		FinishReason *string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	}
	Metrics *struct {
		Record record `json:"speculative_decoding"`
	}
}

type record struct {
	Length    float64 `json:"mean_acceptance_length"`
	Rate      float64 `json:"draft_acceptance_rate"`
	Histogram []int64 `json:"acceptance_histogram"`
	Steps     int64   `json:"num_spec_steps"`
	Accepted  int64   `json:"num_accepted_draft_tokens"`
	Drafted   int64   `json:"num_draft_tokens"`
	K         int64   `json:"num_spec_tokens"`
	PerStep   []int64 `json:"per_step_accepted"`
	PerDraft  []int64 `json:"per_step_drafted"`
}

func (e engine) decode(text string) (a answer) {
	require.NoError(e, json.Unmarshal([]byte(text), &a), text)
	return a
}

// ask sends a request that must succeed without a stream.
func (e engine) ask(path string, b body) answer {
	status, contentType, text := e.post(path, b)
	require.Equal(e, 200, status, text)
	require.Equal(e, "application/json", contentType)
	return e.decode(text)
}

// askStream sends a chat request for a stream and returns its text, the number of steps that it shows, and its last
// event.
func (e engine) askStream(b body) (text string, steps int64, last answer) {
	status, contentType, stream := e.post("/v1/chat/completions", streamed(b))
	require.Equal(e, 200, status, stream)
	require.Equal(e, "text/event-stream; charset=utf-8", contentType)
	events := e.events(stream)
	require.Equal(e, "assistant", e.decode(events[0]).Choices[0].Delta.Role)
	for _, event := range events[1 : len(events)-1] {
		if content := e.decode(event).Choices[0].Delta.Content; content != nil {
			text += *content
		}
		steps++
	}
	return text, steps, e.decode(events[len(events)-1])
}

// check holds a record against its definitions.
func (e engine) check(r record, detailed bool) {
	var steps, accepted int64
	for j, n := range r.Histogram {
		steps += n
		accepted += int64(j) * n
	}
	require.Len(e, r.Histogram, int(r.K)+1)
	require.Equal(e, r.Steps, steps)
	require.Equal(e, r.Accepted, accepted)
	require.LessOrEqual(e, r.Accepted, r.Drafted)
	require.LessOrEqual(e, r.Drafted, r.K*r.Steps)
	if r.Steps == 0 {
		require.Equal(e, []float64{1, 0}, []float64{r.Length, r.Rate})
	} else {
		require.Equal(e, 1+float64(r.Accepted)/float64(r.Steps), r.Length)
		require.Equal(e, float64(r.Accepted)/float64(r.Drafted), r.Rate)
	}
	if !detailed || r.Steps == 0 {
		require.Nil(e, r.PerStep)
		require.Nil(e, r.PerDraft)
	} else {
		require.Len(e, r.PerStep, int(r.Steps))
		again := make([]int64, len(r.Histogram))
		for _, a := range r.PerStep {
			again[a]++
		}
		require.Equal(e, r.Histogram, again)
	}
	full := acceptance.Record{Accepted: r.Accepted, Drafted: r.Drafted, Steps: acceptance.Some(r.Steps), Histogram: r.Histogram,
		MaxDraft: acceptance.Some(r.K), StepAccepted: r.PerStep, StepDrafted: r.PerDraft}
	require.NoError(e, full.Validate())
}
