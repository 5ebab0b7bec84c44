package instrumentation

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdklog "go.opentelemetry.io/otel/sdk/log"

	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

var (
	plain    = &responseCase{Status: 200, ContentType: "application/json"}
	streamed = &responseCase{Status: 200, ContentType: "text/event-stream"}
)

func TestErrorBesideChoices(t *testing.T) {
	body := `{"error":"slow today","choices":[{"text":"a","finish_reason":"stop"}]}`
	require.Equal(t, semconv.OutcomeNoStats, read(plain, NewTransport(nil), body).Outcome, "an answer is an answer")
	require.Equal(t, semconv.OutcomeError, read(streamed, NewTransport(nil), sse(body)).Outcome, "a stream with an error has failed")
}

// "No limit" is a limit too.
func TestGreatestLimit(t *testing.T) {
	transport := NewTransport(nil, WithMaxBody(math.MaxInt))
	require.Equal(t, semconv.OutcomeVerified, read(streamed, transport, "da", "ta: "+streamEvents[5]+"\n\ndata: [DONE]\n\n").Outcome)
	require.Equal(t, semconv.OutcomeVerified, read(plain, transport, wholeBody).Outcome)
}

// A body that is not read has arrived all the same, and its size decides nothing about success.
func TestUnreadIsNoFailure(t *testing.T) {
	r := read(plain, NewTransport(nil, WithMaxBody(10)), `{"choices"`, `:[],"aaaaa":1}`)
	require.Equal(t, semconv.OutcomeNoStats, r.Outcome)
	require.NotZero(t, r.LastChunk)
	require.Equal(t, r.FirstChunk, r.LastChunk)

	finish := `{"choices":[{"text":"` + strings.Repeat("x", 100) + `","finish_reason":"stop"}]}`
	r = read(streamed, NewTransport(nil, WithMaxBody(60)), sse(finish))
	require.Equal(t, semconv.OutcomeNoStats, r.Outcome, "the event that was not read may have had the finish_reason")
}

// choiceStats is a choice with stats of one step that accepts n tokens.
func choiceStats(index, n int64) string {
	return fmt.Sprintf(`{"index":%d,"text":"a","finish_reason":"stop","speculative_decoding_stats":`+
		`{"acceptance_histogram":{"1":%d},"num_spec_steps":%[2]d,"num_accepted_draft_tokens":%[2]d,"num_draft_tokens":%[2]d}}`, index, n)
}

// The choices of a request are one record, in whatever events they come, and the last of each choice counts.
func TestChoices(t *testing.T) {
	want := &acceptance.Record{Engine: semconv.EngineVLLM, Accepted: 5, Drafted: 5, Steps: acceptance.Some(5), Histogram: acceptance.Histogram{0, 5}}
	for _, body := range []string{
		sse(`{"choices":[`+choiceStats(0, 9)+`]}`, `{"choices":[`+choiceStats(1, 3)+`]}`, `{"choices":[`+choiceStats(0, 2)+`]}`),
		sse(`{"choices":[]}`, `{"choices":[`+choiceStats(0, 2)+`,`+choiceStats(1, 3)+`]}`),
		// The first choice of the event has nothing to read.
		sse(`{"choices":[]}`, `{"choices":[`+choiceStats(1, 3)+`]}`, `{"choices":[{"index":1,"text":"","finish_reason":null,"speculative_decoding_stats":null},`+choiceStats(0, 2)+`]}`),
	} {
		require.Equal(t, want, read(streamed, NewTransport(nil), body).Record, body)
	}
	body := `{"choices":[` + choiceStats(0, 2) + `,` + choiceStats(1, 3) + `]}`
	require.Equal(t, want, read(plain, NewTransport(nil), body).Record)

	// Each alone is in range, the sum is not.
	body = `{"choices":[` + choiceStats(0, acceptance.MaxCount) + `,` + choiceStats(1, acceptance.MaxCount) + `]}`
	r := read(plain, NewTransport(nil), body)
	require.Equal(t, semconv.OutcomeCorruptStats, r.Outcome)
	require.Equal(t, "speculative_decoding_stats of all choices: a count is out of range (2199023255552)", r.CorruptReason)

	// Of several faults the first choice's is named.
	r = read(plain, NewTransport(nil), `{"choices":[{"index":1,"speculative_decoding_stats":1},{"index":0,"speculative_decoding_stats":{}}]}`)
	require.Equal(t, "speculative_decoding_stats: num_spec_steps is missing", r.CorruptReason)
}

// Part of the stats would be no record of the request.
func TestTooManyStats(t *testing.T) {
	for name, c := range map[string]struct {
		limit int
		body  string
		want  string
	}{
		"choices": {DefaultMaxBody, sse(`{"choices":[` + choiceStats(0, 1) + `,` + choiceStats(1e12, 1) + `]}`), "stats of more than 1024 choices not read"},
		"bytes":   {300, sse(`{"choices":[`+choiceStats(0, 1)+`]}`, `{"choices":[`+choiceStats(1, 1)+`]}`, `{"choices":[`+choiceStats(2, 1)+`]}`), "stats over 300 bytes not read"},
	} {
		f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, c.body)
		}, WithMaxBody(c.limit))
		resp, err := f.post(t, context.Background(), "/v1/completions", `{}`)
		drain(t, resp, err)
		_, a := f.span(t)
		require.Equal(t, semconv.OutcomeNoStats, a["spec_decode.request.outcome"], name)
		require.Equal(t, c.want, a["spec_decode.stats.ignored"])
	}
}

// One choice has one finish reason, however often a server sends it.
func TestFinishReasons(t *testing.T) {
	a := newAnswer(newConfig(nil))
	a.streamed = true
	for range 5000 {
		a.write([]byte(sse(`{"choices":[{"index":2,"finish_reason":"length"},{"index":0,"finish_reason":"stop"},{"index":99999,"finish_reason":"stop"}]}`)), 1)
	}
	require.Equal(t, []string{"stop", "", "length"}, a.finishReasons)
}

// What a later event leaves out is known from an earlier one.
func TestIdentityStays(t *testing.T) {
	a := newAnswer(newConfig(nil))
	a.streamed = true
	a.write([]byte(sse(`{"model":"m","usage":{}}`, `{"id":"1","usage":{}}`, `{"id":"2","model":"other","usage":{}}`)), 1)
	require.Equal(t, "1", a.id)
	require.Equal(t, "m", a.model)
}

// Lines that end in CR alone are read in time that grows with their number only: with its square, this takes minutes.
func TestManyLinesInOneRead(t *testing.T) {
	stream := []byte(strings.Repeat("\r", 4<<20) + "data: a\r\r")
	var got []string
	e := events{max: 100}
	e.write(stream, func(b []byte) { got = append(got, string(b)) }, nil)
	require.Equal(t, []string{"a"}, got)
}

// Values inside each other cost time that grows with their number only: with its square, this takes minutes.
func TestNestedResponses(t *testing.T) {
	body := strings.Repeat(`{"response":`, 9990) + `{"a":[` + strings.Repeat("1,", 3<<20) + `1]}` + strings.Repeat("}", 9990)
	require.Equal(t, semconv.OutcomeNoStats, read(plain, NewTransport(nil), body).Outcome)
	require.Equal(t, semconv.OutcomeNoStats, read(streamed, NewTransport(nil), sse(body, "[DONE]")).Outcome)
}

// However a body is made up, what is kept of it stays in proportion to its size.
func TestMemoryOfManyElements(t *testing.T) {
	const size = 4 << 20
	empty := strings.Repeat("{},", size/3) + "{}"
	for name, body := range map[string]string{
		"batch":   "[" + empty + "]",
		"choices": `{"choices":[` + empty + `]}`,
		"members": "{" + strings.Repeat(`"":0,`, size/5) + `"":0}`,
		"joint":   `{"metrics":{"speculative_decoding":{"num_spec_steps":0,"num_accepted_draft_tokens":0,"num_draft_tokens":0,"acceptance_histogram":[0],"acceptance_histogram_by_draft_length":[` + strings.Repeat("0,", size/2) + `0]}}}`,
	} {
		before := allocated()
		read(plain, NewTransport(nil), body)
		require.Less(t, allocated()-before, uint64(100*size), name)
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// Of more choices than are read a part would be no record of the request, wherever the stats are.
func TestMoreChoicesThanAreRead(t *testing.T) {
	many := strings.Repeat(`{"text":"a"},`, 2*maxChoices)
	const timings = `{"timings":{"draft_n":1,"draft_n_accepted":1}}`
	for _, body := range []string{
		`{"choices":[` + many + choiceStats(2*maxChoices, 1) + `]}`,
		`{"choices":[` + choiceStats(0, 1) + "," + many + choiceStats(2*maxChoices, 1) + `]}`,
		`[` + timings + `,` + many + timings + `]`,
	} {
		require.Equal(t, semconv.OutcomeNoStats, read(plain, NewTransport(nil), body).Outcome)
	}
}

func TestCleaned(t *testing.T) {
	for s, want := range map[string]string{
		"plain":                "plain",
		"a\nb\tc\rd":           "a b c d",
		"\x1b[31m":             "\uFFFD[31m",
		"\x00\x01\x02\x03\x04": "\uFFFD\uFFFD",
		"a\xffb":               "a\uFFFDb",
		"日本語":                  "日本",
		"\u0085x":              "\uFFFDx",
		"12345678":             "12345678",
		"123456789":            "12345678",
	} {
		require.Equal(t, want, cleaned(s, 8), "%q", s)
	}
	require.Empty(t, cleaned("x", 0))
}

// Events take room even when they are empty.
func TestRawRecordIsBounded(t *testing.T) {
	r := newRawRecord(1000, http.Header{}, &request{endpoint: endpoints[0]})
	for range 100_000 {
		r.event(nil, 1)
		require.LessOrEqual(t, len(r.body.Responses), 1000/eventRoom)
	}
	require.True(t, r.over)
}

// A raw record has its bodies whole or not at all, and says why.
func TestRawRecordsOfWhatIsNotRead(t *testing.T) {
	logs := &keepLogs{}
	loggers := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewSimpleProcessor(logs)))
	big := strings.Repeat("x", 200)
	for want, c := range map[string]struct {
		request string
		handler http.HandlerFunc
	}{
		"request body over 150 bytes not read": {`{"pad":"` + big + `"}`, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{}`) }},
		"event over 150 bytes not read":        {`{}`, func(w http.ResponseWriter, r *http.Request) { stream(w, `{"pad":"`+big+`"}`, "[DONE]") }},
		"body in encoding zstd not read": {`{}`, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "zstd")
			io.WriteString(w, "\x28\xb5\x2f\xfd")
		}},
	} {
		f := newFixture(t, c.handler, WithRaw(loggers, 10_000), WithMaxBody(150))
		resp, err := f.post(t, context.Background(), "/v1/completions", c.request)
		drain(t, resp, err)
		require.Equal(t, want, f.result.RawDropped)
		var raw map[string]any
		require.NoError(t, json.Unmarshal([]byte(logs.records[len(logs.records)-1].Body().AsString()), &raw))
		require.Equal(t, want, raw["dropped"])
		require.NotContains(t, raw, "payload")
		require.NotContains(t, raw, "responses")
	}
}

// An event that is cut off is no chunk, whatever was in it.
func TestCutEventIsNoChunk(t *testing.T) {
	a := newAnswer(newConfig(nil))
	a.streamed = true
	a.write([]byte(sse(streamEvents[:5]...)+"data: "+`{"choices":[{"delta":{"reasoning":"x`), time.Second)
	last := a.last
	require.Equal(t, time.Second, last)
	a.end(2 * time.Second)
	require.Equal(t, last, a.last)
	require.Nil(t, a.failure)
}
