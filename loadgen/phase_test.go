package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	noopmetric "go.opentelemetry.io/otel/metric/noop"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/specdecode/otel/instrumentation"
	"github.com/specdecode/otel/loadgen/dataset"
	"github.com/specdecode/otel/loadgen/simulator"
	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

// rig is a load against a server, with a recorder for its spans.
type rig struct {
	*load
	spans *tracetest.SpanRecorder
	stop  chan struct{}
	tally tally
}

func newRig(t *testing.T, handler http.Handler, args ...string) *rig {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c := parse(t, append([]string{"--model", "m", "--url", server.URL}, args...)...)
	transport := newTransport(c)
	t.Cleanup(transport.CloseIdleConnections)
	r := &rig{spans: tracetest.NewSpanRecorder(), stop: make(chan struct{})}
	instrumented := instrumentation.NewTransport(transport,
		instrumentation.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r.spans))),
		instrumentation.WithMeterProvider(noopmetric.NewMeterProvider()))
	r.load = &load{config: c, client: newClient(instrumented), now: time.Now, stop: r.stop}
	return r
}

// profile runs a phase of the configured length.
func (r *rig) profile(t *testing.T, ctx context.Context) counts {
	c := r.config
	p := phase{name: semconv.PhaseProfiling, index: 1, prompts: c.Prompts, requests: c.Requests, duration: c.Duration}
	require.NoError(t, r.run(ctx, p, &r.tally))
	return r.tally.snapshot()
}

// promptOf reads the prompt of a chat request.
func promptOf(r *http.Request) string {
	var body struct{ Messages []struct{ Content string } }
	if b, err := io.ReadAll(r.Body); err != nil || json.Unmarshal(b, &body) != nil || len(body.Messages) != 1 {
		return "not a chat request"
	}
	return body.Messages[0].Content
}

const goodAnswer = `{"id":"x","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":5}}`

func answer(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, goodAnswer)
}

func TestOrder(t *testing.T) {
	var got []string
	var ids, correlations []string
	busy := atomic.Int32{}
	r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if busy.Add(1) > 1 {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		defer busy.Add(-1)
		got = append(got, promptOf(q))
		ids = append(ids, q.Header.Get("X-Request-Id"))
		correlations = append(correlations, q.Header.Get("X-Correlation-ID"))
		answer(w)
	}), "--request-count", "30")
	r.config.Prompts = dataset.Builtin()
	before := time.Now()
	c := r.profile(t, t.Context())
	require.EqualValues(t, 30, c.Issued)
	require.Equal(t, map[string]int64{semconv.OutcomeNoStats: 30}, c.Outcomes)
	require.EqualValues(t, 30*5, c.OutputTokens)
	require.Zero(t, c.Failed)
	require.Len(t, got, 30)

	spans := r.spans.Ended()
	require.Len(t, spans, 30)
	conversations := map[string]bool{}
	for i, s := range spans {
		want := dataset.Builtin().Prompt(int64(i))
		require.Equal(t, want.Text, got[i])
		set := attribute.NewSet(s.Attributes()...)
		value := func(key attribute.Key) attribute.Value {
			v, ok := set.Value(key)
			require.True(t, ok, key)
			return v
		}
		require.Equal(t, "chat m", s.Name())
		require.EqualValues(t, i, value(semconv.RequestIndexKey).AsInt64())
		require.EqualValues(t, 1, value(semconv.RunPhaseIndexKey).AsInt64())
		require.Zero(t, value(semconv.RequestTurnKey).AsInt64())
		require.Equal(t, semconv.PhaseProfiling, value(semconv.RunPhaseKey).AsString())
		require.Equal(t, want.Category, value(semconv.RequestCategoryKey).AsString())
		require.Equal(t, ids[i], value(semconv.RequestIDKey).AsString())
		require.Equal(t, correlations[i], value(semconv.RequestCorrelationIDKey).AsString())
		issued := time.Unix(0, value(semconv.RequestIssuedKey).AsInt64())
		require.WithinRange(t, issued, before, s.StartTime())
		conversations[value("gen_ai.conversation.id").AsString()] = true
		require.NoError(t, uuid.Validate(ids[i]))
	}
	require.Len(t, conversations, 30)
}

// Prompts without a category have no attribute for it.
func TestNoCategory(t *testing.T) {
	r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }), "--request-count", "1", "--prompt", "x")
	r.profile(t, t.Context())
	set := attribute.NewSet(r.spans.Ended()[0].Attributes()...)
	require.False(t, set.HasValue(semconv.RequestCategoryKey))
}

// As many requests as the concurrency are in flight, and never more.
func TestConcurrency(t *testing.T) {
	const concurrency = 5
	var mu sync.Mutex
	inFlight, most := 0, 0
	full := make(chan struct{})
	r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		mu.Lock()
		inFlight++
		most = max(most, inFlight)
		if inFlight == concurrency && most == concurrency {
			select {
			case <-full:
			default:
				close(full)
			}
		}
		mu.Unlock()
		select {
		case <-full:
		case <-q.Context().Done():
		}
		mu.Lock()
		inFlight--
		mu.Unlock()
		answer(w)
	}), "--request-count", "40", "--concurrency", "5")
	c := r.profile(t, t.Context())
	require.EqualValues(t, 40, c.Issued)
	require.EqualValues(t, 40, c.finished())
	require.Zero(t, c.Failed)
	require.Equal(t, concurrency, most)
	seen := map[int64]bool{}
	for _, s := range r.spans.Ended() {
		set := attribute.NewSet(s.Attributes()...)
		v, _ := set.Value(semconv.RequestIndexKey)
		seen[v.AsInt64()] = true
	}
	require.Len(t, seen, 40)
}

// With a clock that moves 3 s with each request, 10 s are over after the fourth.
func TestDuration(t *testing.T) {
	var elapsed atomic.Int64
	r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		elapsed.Add(3)
		answer(w)
	}), "--benchmark-duration", "10")
	r.now = func() time.Time { return clock.Add(time.Duration(elapsed.Load()) * time.Second) }
	require.EqualValues(t, 4, r.profile(t, t.Context()).Issued)
}

// Whichever of count and duration is first ends the phase.
func TestCountBeforeDuration(t *testing.T) {
	r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }), "--benchmark-duration", "10", "--request-count", "3")
	r.now = func() time.Time { return clock }
	require.EqualValues(t, 3, r.profile(t, t.Context()).Issued)
}

// When the phase is stopped, what is in flight is finished, and nothing else is sent.
func TestStop(t *testing.T) {
	var served atomic.Int64
	arrived := make(chan struct{}, 4)
	stopped := make(chan struct{})
	r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
		arrived <- struct{}{}
		<-stopped
		answer(w)
	}), "--request-count", "100", "--concurrency", "4")
	go func() {
		for range 4 {
			<-arrived
		}
		close(r.stop)
		close(stopped)
	}()
	c := r.profile(t, t.Context())
	require.EqualValues(t, 4, c.Issued)
	require.EqualValues(t, 4, served.Load())
	require.Equal(t, map[string]int64{semconv.OutcomeNoStats: 4}, c.Outcomes)
}

// When the context ends, what is in flight is cancelled, whether or not an answer has begun.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	arrived := make(chan struct{})
	r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.Contains(promptOf(q), "travel") {
			io.WriteString(w, "{")
			w.(http.Flusher).Flush()
		}
		arrived <- struct{}{}
		<-q.Context().Done()
	}), "--request-count", "100", "--concurrency", "4")
	r.config.Prompts = dataset.Builtin()
	go func() {
		for range 4 {
			<-arrived
		}
		cancel()
	}()
	c := r.profile(t, ctx)
	require.EqualValues(t, 4, c.Issued)
	require.EqualValues(t, 4, c.Cancelled)
	require.Zero(t, c.Failed)
	require.EqualValues(t, 4, c.finished())
}

func TestTimeout(t *testing.T) {
	r := newRig(t, http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		io.ReadAll(q.Body) // Only then does the server see that the client goes away.
		<-q.Context().Done()
	}), "--request-count", "2", "--request-timeout-seconds", "0.02")
	c := r.profile(t, t.Context())
	require.EqualValues(t, 2, c.Issued)
	require.EqualValues(t, 2, c.Failed)
	require.Contains(t, c.FirstFailure, "timeout: ")
}

// A server that breaks off, answers with errors, or sends elsewhere fails requests, each once; the rest goes on.
func TestFailures(t *testing.T) {
	tests := []struct {
		name, failure string
		handler       http.HandlerFunc
	}{
		{"connection reset", "connection reset by peer", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				conn.(*net.TCPConn).SetLinger(0)
				conn.Close()
			}
		}},
		{"answer broken off", "connection_error: unexpected EOF", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"choices"`)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}},
		{"error", "503 Service Unavailable", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }},
		{"redirect", "307 Temporary Redirect", func(w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, "/elsewhere/v1/chat/completions", http.StatusTemporaryRedirect)
		}},
		{"not JSON", "invalid_body", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var served atomic.Int64
			r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				promptOf(q)
				if served.Add(1)%2 == 0 {
					tt.handler(w, q)
				} else {
					answer(w)
				}
			}), "--request-count", "6")
			c := r.profile(t, t.Context())
			require.EqualValues(t, 6, c.Issued)
			require.EqualValues(t, 6, served.Load())
			require.Equal(t, map[string]int64{semconv.OutcomeNoStats: 3, semconv.OutcomeError: 3}, c.Outcomes)
			require.EqualValues(t, 3, c.Failed)
			require.Contains(t, c.FirstFailure, tt.failure)
		})
	}
}

// A server that is gone in the middle of the run fails what is left.
func TestServerDies(t *testing.T) {
	var served atomic.Int64
	var server *httptest.Server
	closed := make(chan struct{})
	r := newRig(t, http.NotFoundHandler(), "--request-count", "10")
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if served.Add(1) == 4 {
			go func() {
				server.Close() // It waits for this request.
				close(closed)
			}()
		}
		w.Header().Set("Connection", "close")
		answer(w)
		if served.Load() == 4 {
			server.Listener.Close()
		}
	}))
	require.NoError(t, r.config.setURL(server.URL))
	c := r.profile(t, t.Context())
	<-closed
	require.EqualValues(t, 10, c.Issued)
	require.EqualValues(t, 6, c.Failed)
	require.Contains(t, c.FirstFailure, "connection refused")
}

// The counts of a run against the simulated engine are those of its answers.
func TestSums(t *testing.T) {
	var mu sync.Mutex
	var accepted, steps, tokens int64
	engine := simulator.New(simulator.Config{})
	r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		recorder := httptest.NewRecorder()
		engine.ServeHTTP(recorder, q)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write(recorder.Body.Bytes())
		mu.Lock()
		defer mu.Unlock()
		for _, sum := range []struct {
			key string
			to  *int64
		}{{`"num_accepted_draft_tokens":`, &accepted}, {`"num_spec_steps":`, &steps}, {`"completion_tokens":`, &tokens}} {
			_, rest, _ := strings.Cut(recorder.Body.String(), sum.key)
			n, err := strconv.ParseInt(rest[:strings.IndexAny(rest, ",}")], 10, 64)
			if err != nil {
				panic(err)
			}
			*sum.to += n
		}
	}), "--streaming", "--request-count", "24", "--concurrency", "3")
	r.config.Prompts = dataset.Builtin()
	c := r.profile(t, t.Context())
	require.Equal(t, map[string]int64{semconv.OutcomeVerified: 24}, c.Outcomes)
	require.Positive(t, steps)
	require.Equal(t, []int64{accepted, steps, tokens}, []int64{c.Accepted, c.Steps, c.OutputTokens})
	length, ok := c.acceptanceLength()
	require.True(t, ok)
	require.Equal(t, 1+float64(accepted)/float64(steps), length)
}

func TestTally(t *testing.T) {
	var tl tally
	_, ok := tl.counts.acceptanceLength()
	require.False(t, ok, "without steps there is no length")
	for _, r := range []instrumentation.Result{
		{Outcome: semconv.OutcomeVerified, Record: &acceptance.Record{Accepted: 18, Drafted: 32, Steps: acceptance.Some(8)}, OutputTokens: acceptance.Some(27), Raw: true},
		{Outcome: semconv.OutcomeVerified, Record: &acceptance.Record{Accepted: 7, Drafted: 9}, Raw: true, RawDropped: "too large"},
		{Outcome: semconv.OutcomeZeroStep, Record: &acceptance.Record{Steps: acceptance.Some(0)}, Raw: true, RawDropped: "larger"},
		{Outcome: semconv.OutcomeError, Failure: &instrumentation.Failure{Type: semconv.ErrorCancelled}},
		{Outcome: semconv.OutcomeError, Failure: &instrumentation.Failure{Code: 404, Type: "404", Message: "no \x1b[31mmodel\n"}},
		{Outcome: semconv.OutcomeError, Failure: &instrumentation.Failure{Type: semconv.ErrorTimeout, Message: "late"}},
		{Outcome: semconv.OutcomeCorruptStats},
	} {
		tl.issue()
		tl.add(r)
	}
	require.Equal(t, counts{
		Issued: 7, Failed: 2, Cancelled: 1,
		Outcomes: map[string]int64{semconv.OutcomeVerified: 2, semconv.OutcomeZeroStep: 1, semconv.OutcomeError: 3, semconv.OutcomeCorruptStats: 1},
		Accepted: 18, Steps: 8, OutputTokens: 27, RawRecords: 3, RawDropped: 2,
		FirstFailure: "404 no \uFFFD[31mmodel", FirstDropped: "too large",
	}, tl.snapshot())
	length, _ := tl.counts.acceptanceLength()
	require.Equal(t, 3.25, length)
}

func TestTransport(t *testing.T) {
	tr := newTransport(&config{Concurrency: 7})
	require.Equal(t, 7, tr.MaxIdleConnsPerHost)
	require.Less(t, tr.IdleConnTimeout, 5*time.Second)
	require.NotNil(t, tr.Proxy)
}

func TestPrintable(t *testing.T) {
	require.Equal(t, "a\uFFFDb\uFFFD\uFFFDc d", printable(" a\nb\xff\u202ec d\t"))
	require.Equal(t, strings.Repeat("ж", maxText)+"...", printable(strings.Repeat("ж", maxText+1)))
}
