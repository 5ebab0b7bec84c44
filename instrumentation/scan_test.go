package instrumentation

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/specdecode/otel/semconv/acceptance"
)

// What the quick look at an event says is what decoding it says, for every event of real and made-up streams.
func TestScanAgreesWithDecoding(t *testing.T) {
	compared, matched := 0, 0
	for _, file := range []string{"responses.jsonl", "vllm-0.32.jsonl"} {
		for _, c := range cases(t, file) {
			if c.ContentType != "text/event-stream" {
				continue
			}
			e := events{max: DefaultMaxBody}
			var usual template
			look := func(data []byte) {
				if text := content(data); text != nil && !isInteresting(data) {
					usual.learn(data, text)
				}
				root, ok := decodeMembers(data)
				if !ok {
					return
				}
				compared++
				var a answer
				has := a.look(root, 0)
				require.Equal(t, has, content(data) != nil, string(data))
				if !isInteresting(data) {
					require.Zero(t, a.stats.members)
					require.Nil(t, a.failure)
					require.False(t, a.finished)
					require.Equal(t, usage{}, a.usage())
				}
			}
			e.write([]byte(c.Body), look, func(stream []byte) int {
				data, n := usual.cut(stream)
				if n > 0 {
					matched++
					require.False(t, isInteresting(data), string(data))
					require.NotNil(t, content(data), string(data))
					look(data)
				}
				return n
			})
		}
	}
	require.Greater(t, compared, 1000)
	require.Greater(t, matched, 1000)
}

func TestScan(t *testing.T) {
	for event, want := range map[string]struct{ interesting, content bool }{
		`{"choices":[{"delta":{"content":"a"},"finish_reason":null}]}`:             {false, true},
		`{"choices":[{"delta":{"content":""},"finish_reason":null}],"usage":null}`: {false, false},
		`{"choices":[{"delta":{"content":null,"reasoning":"x"}}]}`:                 {false, true},
		`{"choices":[{"delta":{"reasoning_content": "x"}}]}`:                       {false, true},
		`{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}`:                     {false, true},
		`{"choices":[{"delta":{"tool_calls":[]}}]}`:                                {false, false},
		`{"choices":[{"text":"a","logprobs":{"content":[{"token":"a"}]}}]}`:        {false, true},
		`{"choices":[{"delta":{},"logprobs":{"content":[{"token":"a"}]}}]}`:        {false, false},
		`{"choices":[{"delta":{"content":"say \"usage\": 1 and \"error\": 2"}}]}`:  {false, true},
		`{"choices":[{"delta":{"content":"usage"}}]}`:                              {false, true},
		`{"choices":[],"usage" : {"prompt_tokens":1}}`:                             {true, false},
		`{"choices":[{"finish_reason":"stop"}]}`:                                   {true, false},
		`{"error":"x"}`:                                                            {true, false},
		`{"choices":[{"speculative_decoding_stats":{}}]}`:                          {true, false},
		`{"metrics":{}}`: {true, false},
		// A member that is null in one place counts in another.
		`{"choices":[{"finish_reason":null},{"finish_reason":"stop"}]}`:                                         {true, false},
		`{"choices":[{"delta":{"content":"a","error":null}}],"error":{"code":500}}`:                             {true, true},
		`{"choices":[{"speculative_decoding_stats":null},{"speculative_decoding_stats":{"num_spec_steps":1}}]}`: {true, false},
		`{"choices":[{"delta":{"content":"\"finish_reason\""}}]}`:                                               {false, true},
		`{"choices":[{"delta":{"role":"content","content":"b"}}]}`:                                              {false, true},
		`{"choices":[{"delta":{"content":""},"x":{"content":"b"}}]}`:                                            {false, true},
	} {
		require.Equal(t, want.interesting, isInteresting([]byte(event)), event)
		require.Equal(t, want.content, content([]byte(event)) != nil, event)
	}
}

func TestTemplate(t *testing.T) {
	var usual template
	example := []byte(`{"choices":[{"delta":{"content":"a"},"finish_reason":null}]}`)
	_, n := usual.cut([]byte("data: " + string(example) + "\n\n"))
	require.Zero(t, n)
	usual.learn(example, content(example))
	for event, want := range map[string]bool{
		string(example): true,
		`{"choices":[{"delta":{"content":"another \\ one \u0022"},"finish_reason":null}]}`: true,
		`{"choices":[{"delta":{"content":""},"finish_reason":null}]}`:                      false,
		`{"choices":[{"delta":{"content":"a\\"},"finish_reason":null}]}`:                   false,
		`{"choices":[{"delta":{"content":"a","x":"b"},"finish_reason":null}]}`:             false,
		`{"choices":[{"delta":{"content":"say \"a"},"finish_reason":null}]}`:               false,
		`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`:                   false,
		`{"choices":[{"delta":{"content":"a"},"finish_reason":null}],"usage":{}}`:          false,
		`{"choices":[{"delta":{"content":"`:                                                false,
		"{\"choices\":[{\"delta\":{\"content\":\"a\nb\"},\"finish_reason\":null}]}":        false,
		"{\"choices\":[{\"delta\":{\"content\":\"a\rb\"},\"finish_reason\":null}]}":        false,
	} {
		for _, end := range []string{"\n\n", "\r\n\r\n"} {
			stream := "data: " + event + end
			data, n := usual.cut([]byte(stream + "data: more"))
			require.Equal(t, want, n > 0, event)
			if want {
				require.Equal(t, event, string(data))
				require.Equal(t, len(stream), n)
			}
		}
		// The event goes on, or its end has not come.
		for _, end := range []string{"", "\n", "\ndata: more\n\n", "\r\n", "}\n\n"} {
			_, n := usual.cut([]byte("data: " + event + end))
			require.Zero(t, n, event)
		}
	}
}

// FuzzAnswer feeds arbitrary bodies, cut anywhere: nothing panics, and the cut changes nothing.
func FuzzAnswer(f *testing.F) {
	f.Add(wholeBody, 20, false)
	var b bytes.Buffer
	for _, e := range streamEvents {
		b.WriteString("data: " + e + "\n\n")
	}
	f.Add(b.String(), 100, true)
	for _, c := range cases(f, "responses.jsonl") {
		f.Add(c.Body, len(c.Body)/2, c.ContentType == "text/event-stream")
	}
	transport := NewTransport(nil)
	f.Fuzz(func(t *testing.T, body string, cut int, streamed bool) {
		c := &responseCase{Status: 200, ContentType: "application/json", Body: body}
		if streamed {
			c.ContentType = "text/event-stream"
		}
		if cut < 0 || cut > len(body) {
			cut = 0
		}
		whole, parts := read(c, transport, body), read(c, transport, body[:cut], body[cut:])
		require.Equal(t, whole.Outcome, parts.Outcome)
		require.Equal(t, whole.Record, parts.Record)
		require.Equal(t, whole.CorruptReason, parts.CorruptReason)
		if whole.Record != nil {
			require.NoError(t, whole.Record.Validate())
		}
		if streamed {
			// Character by character no event is known by its shape.
			wantEvents, wantChunks := watch(strings.Split(body, "")...)
			gotEvents, gotChunks := watch(body)
			require.Equal(t, wantEvents, gotEvents)
			require.Equal(t, wantChunks, gotChunks)
		}
	})
}

// watch returns the events of a stream and the number of its chunks with content.
func watch(parts ...string) (events []string, chunks int) {
	a := newAnswer(newConfig(nil))
	a.streamed = true
	a.onEvent = func(data []byte, _ time.Duration) { events = append(events, string(data)) }
	for _, p := range parts {
		a.write([]byte(p), 1)
	}
	a.end(1)
	return events, len(a.gaps)
}

// FuzzAdapters feeds each adapter arbitrary members: what it makes of them holds together or is an error.
func FuzzAdapters(f *testing.F) {
	f.Add(statsMember[len(`"metrics":{"speculative_decoding":`) : len(statsMember)-1])
	f.Add(`{"acceptance_histogram":{"0":39,"1":1,"3":3},"num_spec_steps":43,"num_accepted_draft_tokens":10,"num_draft_tokens":129,"num_spec_tokens":3}`)
	f.Add(`{"acceptance_histogram":[1,1],"num_spec_steps":2,"num_accepted_draft_tokens":1,"num_draft_tokens":2,"acceptance_histogram_by_draft_length":{"1":[1,1]}}`)
	f.Add(`{"acceptance_histogram":{"4096":1},"num_spec_steps":1e9}`)
	f.Add(sglangKeys)
	f.Add(vllmSparse)
	f.Add(trtKeys)
	f.Add(`{"predicted_n":111,"draft_kind":"x","draft_rounds":40,"draft_n":120,"draft_n_accepted":60}`)
	f.Fuzz(func(t *testing.T, member string) {
		for _, a := range adapters {
			r, _, err := a.decode([]byte(member))
			if err != nil || r.Validate() != nil {
				continue
			}
			require.Equal(t, a.engine, r.Engine)
			require.NoError(t, r.CheckByDraftLength())
			if steps, _ := r.Steps.Get(); max(steps, r.Drafted) <= acceptance.MaxCount/2 {
				r.Merge(r)
				require.NoError(t, r.Validate())
			}
		}
	})
}
