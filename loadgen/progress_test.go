package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/specdecode/otel/instrumentation"
	"github.com/specdecode/otel/semconv"
)

func TestProgressLine(t *testing.T) {
	tests := []struct {
		name    string
		phase   phase
		counts  counts
		elapsed time.Duration
		want    string
	}{
		{"nothing yet", phase{name: "warmup", requests: 12}, counts{Issued: 4}, 0, "warmup: 0 of 12 requests, 0 failed"},
		{"no stats", phase{name: "profiling", requests: 200}, counts{Outcomes: map[string]int64{"no_stats": 5, "error": 2}, Failed: 2}, 2 * time.Second,
			"profiling: 7 of 200 requests, 3.5/s, 2 failed"},
		// 1 + 18/8, the record that definitions are explained with.
		{"stats", phase{name: "profiling", requests: 200}, counts{Outcomes: map[string]int64{"verified": 1}, Accepted: 18, Steps: 8}, 4 * time.Second,
			"profiling: 1 of 200 requests, 0.2/s, 0 failed, acceptance length 3.25"},
		{"duration", phase{name: "profiling", duration: time.Minute}, counts{Outcomes: map[string]int64{"verified": 120}}, 12 * time.Second,
			"profiling: 120 requests, 12 of 60 s, 10.0/s, 0 failed"},
		{"both", phase{name: "profiling", requests: 500, duration: time.Minute}, counts{}, time.Second, "profiling: 0 of 500 requests, 1 of 60 s, 0.0/s, 0 failed"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, progressLine(tt.phase, tt.counts, tt.elapsed), tt.name)
	}
}

func TestProgress(t *testing.T) {
	tests := []struct {
		name     string
		terminal bool
		want     string
	}{
		{"terminal", true, "\rprofiling: 1 of 3 requests, 0.2/s, 0 failed\x1b[K" +
			"\rprofiling: 2 of 3 requests, 0.2/s, 0 failed\x1b[K" +
			"\rprofiling: 3 of 3 requests, 0.2/s, 0 failed\x1b[K\n"},
		{"plain", false, "profiling: 1 of 3 requests, 0.2/s, 0 failed\n" +
			"profiling: 2 of 3 requests, 0.2/s, 0 failed\n" +
			"profiling: 3 of 3 requests, 0.2/s, 0 failed\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			var counted tally
			finishOne := func() { counted.add(instrumentation.Result{Outcome: semconv.OutcomeNoStats}) }
			times := []time.Duration{0, 5 * time.Second, 10 * time.Second, 15 * time.Second}
			p := &progress{
				terminal: tt.terminal,
				now: func() time.Time {
					now := clock.Add(times[0])
					times = times[1:]
					return now
				},
				// Each time that something is shown, one more request is finished.
				w: writerFunc(func(b []byte) (int, error) {
					finishOne()
					return out.Write(b)
				}),
			}
			finishOne()
			ticks, done, shown := make(chan time.Time), make(chan struct{}), make(chan struct{})
			go func() {
				p.follow(phase{name: semconv.PhaseProfiling, requests: 3}, &counted, ticks, done)
				close(shown)
			}()
			ticks <- clock
			ticks <- clock
			close(done)
			<-shown
			require.Equal(t, tt.want, out.String())
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
