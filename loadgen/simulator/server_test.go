package simulator_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/specdecode/otel/loadgen/dataset"
	"github.com/specdecode/otel/loadgen/simulator"
)

func TestIdentities(t *testing.T) {
	overshoots, shortDrafts, undrafted := 0, 0, 0
	for _, detailed := range []bool{false, true} {
		e := start(t, simulator.Config{Detailed: detailed})
		for i := range int64(24) {
			b := chat(dataset.Builtin().Prompt(i).Text).with("seed", i)
			if i%3 > 0 {
				b = b.with("max_completion_tokens", 20+i)
			}
			text, steps, last := e.askStream(b)
			r := last.Metrics.Record
			e.check(r, detailed)
			require.Equal(t, int64(simulator.DefaultMaxDraft), r.K)
			require.Empty(t, last.Choices)
			require.Equal(t, last.Usage.Total, last.Usage.Prompt+last.Usage.Completion)

			// The first step is the prefill. Steps without a draft are in no figure.
			without := steps - 1 - r.Steps
			require.GreaterOrEqual(t, without, int64(0))
			overshoot := 1 + r.Accepted + r.Steps + without - int64(last.Usage.Completion)
			require.GreaterOrEqual(t, overshoot, int64(0))
			require.LessOrEqual(t, overshoot, r.K)
			if overshoot > 0 {
				overshoots++
			}
			if r.Drafted < r.K*r.Steps {
				shortDrafts++
			}
			if without > 0 {
				undrafted++
			}

			whole := e.ask("/v1/chat/completions", b)
			require.Equal(t, text, whole.Choices[0].Message.Content, "streamed or not")
			require.Equal(t, r, whole.Metrics.Record)
			require.Equal(t, last.Usage, whole.Usage)
			require.Equal(t, "m", whole.Model)
			words := len(strings.Fields(text))
			switch *whole.Choices[0].FinishReason {
			case "length":
				require.EqualValues(t, 20+i, whole.Usage.Completion)
				require.Equal(t, whole.Usage.Completion, words)
			case "stop":
				require.Equal(t, whole.Usage.Completion, words+1, "the last token has no text")
			default:
				require.Fail(t, "unknown reason")
			}
		}
	}
	require.Greater(t, overshoots, 5)
	require.Greater(t, shortDrafts, 5)
	require.Greater(t, undrafted, 5)
}

func TestLimit(t *testing.T) {
	e := start(t, simulator.Config{})
	whole := e.ask("/v1/chat/completions", chat("hello"))
	for limit := 1; limit < whole.Usage.Completion; limit++ {
		part := e.ask("/v1/chat/completions", chat("hello").with("max_tokens", limit))
		require.Equal(t, limit, part.Usage.Completion)
		require.True(t, strings.HasPrefix(whole.Choices[0].Message.Content, part.Choices[0].Message.Content))
		require.Equal(t, "length", *part.Choices[0].FinishReason)
		e.check(part.Metrics.Record, false)
		require.Equal(t, limit == 1, part.Metrics.Record.Steps == 0, "the first token is the prefill's")
	}
	same := e.ask("/v1/chat/completions", chat("hello").with("max_tokens", whole.Usage.Completion))
	require.Equal(t, "stop", *same.Choices[0].FinishReason)
	require.Equal(t, 3, e.ask("/v1/chat/completions", chat("hello").with("max_tokens", 9).with("max_completion_tokens", 3)).Usage.Completion)
}

func TestMaxDraft(t *testing.T) {
	e := start(t, simulator.Config{MaxDraft: 12})
	r := e.ask("/v1/chat/completions", chat("hello")).Metrics.Record
	e.check(r, false)
	require.EqualValues(t, 12, r.K)
}

// Acceptance must differ between categories and fall with the position in the draft.
func TestAcceptance(t *testing.T) {
	e := start(t, simulator.Config{Detailed: true, MaxDraft: 4})
	// Of the drafts that reach a position, how many tokens are accepted there.
	var reached, accepted [4]int64
	rates := map[string]float64{}
	prompts := map[string]string{"other": "Hello!", "coding": "Say it in Python.", "humanities": "The culture of the Etruscans."}
	for _, category := range []string{"math", "extraction", "reasoning", "stem", "writing", "roleplay"} {
		for i := range int64(24) {
			if p := dataset.Builtin().Prompt(i); p.Category == category {
				prompts[category] = p.Text
			}
		}
	}
	for category, prompt := range prompts {
		var a, d int64
		for seed := range 100 {
			r := e.ask("/v1/chat/completions", chat(prompt).with("seed", seed)).Metrics.Record
			a, d = a+r.Accepted, d+r.Drafted
			for step, n := range r.PerStep {
				for i := range min(n+1, r.PerDraft[step]) {
					reached[i]++
					if n > i {
						accepted[i]++
					}
				}
			}
		}
		rates[category] = float64(a) / float64(d)
	}
	order := []string{"coding", "math", "extraction", "reasoning", "stem", "other", "humanities", "writing", "roleplay"}
	for i := range order[1:] {
		require.Greater(t, rates[order[i]], rates[order[i+1]], "%s and %s", order[i], order[i+1])
	}
	for i := range 3 {
		require.Greater(t, float64(accepted[i])/float64(reached[i]), float64(accepted[i+1])/float64(reached[i+1]), "position %d", i)
	}
}

// varying are the members of an answer that differ from request to request.
var varying = regexp.MustCompile(`"id":"[^"]*"|"created":\d+`)

func TestSameSeedSameAnswer(t *testing.T) {
	ask := func(e engine, i int64, seed any) string {
		_, _, text := e.post("/v1/chat/completions", streamed(chat(dataset.Builtin().Prompt(i).Text)).with("seed", seed))
		return varying.ReplaceAllString(text, "")
	}
	e := start(t, simulator.Config{Seed: 1})
	var want []string
	for i := range int64(24) {
		want = append(want, ask(e, i, 5))
	}
	again := start(t, simulator.Config{Seed: 1})
	var wg sync.WaitGroup
	got := make([]string, len(want))
	for i := range got {
		wg.Go(func() { got[i] = ask(again, int64(i), 5) })
	}
	wg.Wait()
	require.Equal(t, want, got)
	require.NotEqual(t, want[0], want[8], "prompts")
	require.NotEqual(t, want[0], ask(e, 0, 6), "request seeds")
	require.NotEqual(t, want[0], ask(e, 0, nil), "no request seed")
	require.NotEqual(t, want[0], ask(start(t, simulator.Config{Seed: 2}), 0, 5), "server seeds")
}

func TestSeveralChoices(t *testing.T) {
	e := start(t, simulator.Config{})
	a := e.ask("/v1/chat/completions", chat("hello").with("n", 2).with("max_tokens", 40))
	require.Nil(t, a.Metrics)
	require.Len(t, a.Choices, 2)
	require.NotEqual(t, a.Choices[0].Message.Content, a.Choices[1].Message.Content)
	require.Equal(t, 1, a.Choices[1].Index)
	words := len(strings.Fields(a.Choices[0].Message.Content + " " + a.Choices[1].Message.Content))
	require.InDelta(t, words, a.Usage.Completion, 2)
	_, _, stream := e.post("/v1/chat/completions", streamed(chat("hello").with("n", 2)))
	events := e.events(stream)
	require.Nil(t, e.decode(events[len(events)-1]).Metrics)
	require.NotNil(t, e.decode(events[len(events)-1]).Usage)

	two := e.ask("/v1/completions", body{"prompt": []string{"a", "b"}})
	require.Len(t, two.Choices, 2)
	require.Nil(t, two.Metrics)
	one := e.ask("/v1/completions", body{"prompt": []string{"a"}})
	require.Equal(t, two.Choices[0].Text, one.Choices[0].Text)
	e.check(one.Metrics.Record, false)
}

func TestRequest(t *testing.T) {
	e := start(t, simulator.Config{})
	_, _, text := e.post("/v1/chat/completions", chat("hello"), "X-Request-Id", "mine-7")
	require.Equal(t, "chatcmpl-mine-7", e.decode(text).ID)
	_, _, text = e.post("/v1/completions", body{"prompt": "p"}, "X-Request-Id", "mine-8")
	require.Equal(t, "cmpl-mine-8", e.decode(text).ID)
	require.Regexp(t, "^chatcmpl-[0-9a-f]{16}$", e.ask("/v1/chat/completions", chat("hello")).ID)

	parts := body{"model": "m", "messages": []body{{"role": "user", "content": []body{{"type": "text", "text": "hello"}}}}}
	require.Equal(t, e.ask("/v1/chat/completions", chat("hello")).Choices, e.ask("/v1/chat/completions", parts).Choices)

	_, _, stream := e.post("/v1/chat/completions", chat("hello").with("stream", true))
	for _, event := range e.events(stream) {
		a := e.decode(event)
		require.Nil(t, a.Metrics, "only with usage")
		require.Nil(t, a.Usage)
	}
}

func TestErrors(t *testing.T) {
	e := start(t, simulator.Config{})
	tests := []struct {
		name, path string
		body       any
		message    string
	}{
		{"bad JSON", "/v1/chat/completions", `{"model": "m",}`, "JSON decode error"},
		{"no messages", "/v1/chat/completions", body{"model": "m"}, "messages"},
		{"no prompt", "/v1/completions", body{"model": "m"}, "prompt"},
		{"token ids", "/v1/completions", body{"prompt": []int{1, 2}}, "JSON decode error"},
		{"options without a stream", "/v1/chat/completions", chat("x").with("stream_options", body{"include_usage": true}), "stream_options"},
		{"no tokens", "/v1/chat/completions", chat("x").with("max_tokens", 0), "max_tokens must be at least 1, got 0"},
		{"negative tokens", "/v1/chat/completions", chat("x").with("max_completion_tokens", -1), "max_completion_tokens"},
		{"no choices", "/v1/chat/completions", chat("x").with("n", 0), "n must be at least 1"},
		{"too many choices", "/v1/chat/completions", chat("x").with("n", 129), "at most 128"},
		{"greedy choices", "/v1/chat/completions", chat("x").with("n", 2).with("temperature", 0), "n must be 1 when using greedy sampling, got 2."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, contentType, text := e.post(tt.path, tt.body)
			require.Equal(t, 400, status)
			require.Equal(t, "application/json", contentType)
			var got struct {
				Error struct {
					Message, Type string
					Code          int
				}
			}
			require.NoError(t, json.Unmarshal([]byte(text), &got))
			require.Contains(t, got.Error.Message, tt.message)
			require.NotEmpty(t, got.Error.Type)
			require.Equal(t, 400, got.Error.Code)
		})
	}
	status, _, _ := e.post("/v1/embeddings", body{})
	require.Equal(t, 404, status)
}

func TestOtherEndpoints(t *testing.T) {
	e := start(t, simulator.Config{})
	for path, want := range map[string]string{"/v1/models": `"id":"simulated"`, "/health": ""} {
		resp, err := e.Get(e.url + path)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 200, resp.StatusCode)
		require.Contains(t, string(text), want)
	}
}

// A client that goes away ends the work on its answer.
func TestClientGone(t *testing.T) {
	served := make(chan struct{})
	handler := simulator.New(simulator.Config{StepDelay: time.Hour})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		close(served)
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/chat/completions",
		strings.NewReader(`{"messages": [{"content": "x"}], "stream": true}`))
	require.NoError(t, err)
	resp, err := server.Client().Do(request)
	require.NoError(t, err)
	buf := make([]byte, 4096)
	n, err := resp.Body.Read(buf)
	require.NoError(t, err)
	require.Contains(t, string(buf[:n]), `"role":"assistant"`, "an event is sent as soon as it is there")
	cancel()
	<-served
	resp.Body.Close()
}

func FuzzRequest(f *testing.F) {
	f.Add(`{"model": "m", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 9}`, true)
	f.Add(`{"messages": [{"content": [{"type": "text", "text": "a"}, {"type": "image_url"}]}], "n": 2, "stream": true}`, true)
	f.Add(`{"prompt": ["a", "b"], "stream": true, "stream_options": {"include_usage": true}}`, false)
	f.Add(`{"prompt": null, "seed": -1}`, false)
	f.Add(`[]`, false)
	handler := simulator.New(simulator.Config{})
	f.Fuzz(func(t *testing.T, text string, chat bool) {
		path := "/v1/completions"
		if chat {
			path = "/v1/chat/completions"
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(text)))
		e := engine{T: t}
		switch w.Code {
		case http.StatusBadRequest:
			require.Contains(t, w.Body.String(), `"code":400`)
		case http.StatusOK:
			if strings.HasPrefix(w.Body.String(), "data: ") {
				e.events(w.Body.String())
			} else if a := e.decode(w.Body.String()); a.Metrics != nil {
				e.check(a.Metrics.Record, false)
			}
		default:
			require.Fail(t, "unexpected status", "%d", w.Code)
		}
	})
}
