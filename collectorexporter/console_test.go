package collectorexporter

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

var update = flag.Bool("update", false, "write golden files")

// golden compares got with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// buckets is a summary of one request whose histogram has n buckets, j+1 steps in bucket j.
func buckets(n int) *Summary {
	r := &acceptance.Record{Engine: semconv.EngineVLLM, Histogram: make(acceptance.Histogram, n), Steps: acceptance.Some(0)}
	for j := range n {
		r.Histogram[j] = int64(j + 1)
		r.Accepted += int64(j * (j + 1))
	}
	r.Steps, r.Drafted = acceptance.Some(r.Histogram.Steps()), 2*r.Accepted
	outcome := semconv.OutcomeVerified
	if r.ZeroStep() {
		outcome = semconv.OutcomeZeroStep
	}
	m := memoryRun()
	m.phases[semconv.PhaseProfiling].add(&observation{outcome: outcome, record: r, identity: identity{start: 1, end: 2}})
	return newSummary(m)
}

// memoryRun is a run without files.
func memoryRun() *run {
	return &run{
		phases: map[string]*phase{semconv.PhaseProfiling: newPhase(), semconv.PhaseWarmup: newPhase()},
		spans:  map[spanKey]struct{}{}, raws: map[spanKey]struct{}{},
	}
}

func TestConsoleByBuckets(t *testing.T) {
	for _, n := range []int{0, 1, 8, 64} {
		var b bytes.Buffer
		require.NoError(t, writeConsole(&b, buckets(n), ""))
		golden(t, "console-"+strconv.Itoa(n)+".txt", b.String())
	}
}

func TestHistogramLine(t *testing.T) {
	for want, h := range map[string]acceptance.Histogram{
		"": nil,
		// Halves round to even: 12.5 % down, 37.5 % up.
		"  Accepted drafts per step (% of steps):  0: 12%   1: 38%   2: 50%":                                                  {1, 3, 4},
		"  Accepted drafts per step (% of steps):  0: 58%   1: 42%":                                                           {115, 85},
		"  Accepted drafts per step (% of steps):  0: 0%   1: 0%   2: 0%   3: 0%   4: 0%   5: 0%   6: 0%   7: 0%   >=8: 100%": {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1},
	} {
		require.Equal(t, want, histogramLine(h))
	}
}

func TestThousands(t *testing.T) {
	for want, v := range map[string]float64{
		"0.00": 0, "999.99": 999.99, "1,000.00": 1000, "1,234,567.89": 1234567.89, "-1,000.00": -1000, "-100.00": -100, "0.12": 0.125,
	} {
		require.Equal(t, want, thousands(v))
	}
}
