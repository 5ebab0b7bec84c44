package collectorexporter

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/specdecode/otel/collectorexporter/internal/metadata"
)

// running is a started exporter with both signals, what it prints and what it logs.
type running struct {
	traces exporter.Traces
	logs   exporter.Logs
	out    bytes.Buffer
	logged *observer.ObservedLogs
	dir    string
}

func start(t *testing.T, change func(*Config)) *running {
	r := &running{dir: t.TempDir()}
	f := NewFactory(WithStdout(&r.out))
	cfg := f.CreateDefaultConfig().(*Config)
	cfg.Directory = r.dir
	if change != nil {
		change(cfg)
	}
	require.NoError(t, cfg.Validate())
	set := exportertest.NewNopSettings(metadata.Type)
	var core, logged = observer.New(zap.InfoLevel)
	set.Logger, r.logged = zap.New(core), logged
	var err error
	r.traces, err = f.CreateTraces(context.Background(), set, cfg)
	require.NoError(t, err)
	r.logs, err = f.CreateLogs(context.Background(), set, cfg)
	require.NoError(t, err)
	require.NoError(t, r.traces.Start(context.Background(), componenttest.NewNopHost()))
	require.NoError(t, r.logs.Start(context.Background(), componenttest.NewNopHost()))
	return r
}

func (r *running) stop(t *testing.T) {
	require.NoError(t, r.logs.Shutdown(context.Background()))
	require.NoError(t, r.traces.Shutdown(context.Background()))
}

func (r *running) push(t *testing.T, td ptrace.Traces) {
	require.NoError(t, r.traces.ConsumeTraces(context.Background(), td))
}

func (r *running) file(t *testing.T, name string) string {
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	require.NoError(t, err)
	return string(b)
}

func (r *running) json(t *testing.T, name string) map[string]any {
	var v map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.file(t, name)), &v))
	return v
}

type kv = map[string]any

// spans is a batch of a run with spans of the given attributes; a span's id is its number.
func spans(t *testing.T, runID string, first int, list ...kv) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	require.NoError(t, rs.Resource().Attributes().FromRaw(kv{"spec_decode.run.id": runID, "service.instance.id": "worker"}))
	ss := rs.ScopeSpans().AppendEmpty()
	for i, attrs := range list {
		span := ss.Spans().AppendEmpty()
		n := first + i
		var id [8]byte
		binary.BigEndian.PutUint64(id[:], uint64(n+1))
		span.SetSpanID(id)
		span.SetTraceID(pcommon.TraceID{15: byte(n), 0: 1})
		span.SetStartTimestamp(pcommon.Timestamp(1_000_000_000 + n*1_000_000))
		span.SetEndTimestamp(span.StartTimestamp() + 500_000)
		span.SetKind(ptrace.SpanKindClient)
		if _, isRun := attrs["spec_decode.run.config"]; isRun {
			span.SetName("spec_decode.run")
			span.SetKind(ptrace.SpanKindInternal)
		}
		require.NoError(t, span.Attributes().FromRaw(attrs))
	}
	return td
}

// worked1 and worked2 are the two requests of the worked example of pooling.
func worked1() kv {
	return kv{"spec_decode.request.outcome": "verified", "spec_decode.engine": "vllm", "spec_decode.steps": 8,
		"spec_decode.accepted_draft_tokens": 18, "spec_decode.draft_tokens": 32, "spec_decode.max_draft_tokens": 4,
		"spec_decode.acceptance.histogram": []any{1, 1, 2, 3, 1}, "gen_ai.usage.output_tokens": 27}
}

func worked2() kv {
	return kv{"spec_decode.request.outcome": "verified", "spec_decode.engine": "vllm", "spec_decode.steps": 3,
		"spec_decode.accepted_draft_tokens": 2, "spec_decode.draft_tokens": 12,
		"spec_decode.acceptance.histogram": []any{1, 2}, "gen_ai.usage.output_tokens": 6}
}

func runSpan(profiling int) kv {
	return kv{"spec_decode.run.config": `{"models":{}}`, "spec_decode.run.profiling.requests": profiling, "spec_decode.run.tool_version": "v1"}
}

func with(a kv, b kv) kv {
	for k, v := range b {
		a[k] = v
	}
	return a
}

func TestWorkedExample(t *testing.T) {
	r := start(t, nil)
	r.push(t, spans(t, "w", 0, worked1(), worked2()))
	require.NoFileExists(t, filepath.Join(r.dir, "w/profile_export_aiperf.json"))
	r.push(t, spans(t, "w", 2, runSpan(2)))
	// The run's span completes the run, before any Shutdown.
	got := r.json(t, "w/profile_export_aiperf.json")
	require.Equal(t, kv{"0": 2., "1": 3., "2": 2., "3": 3., "4": 1.}, got["pooled_spec_decode_acceptance_histogram"])
	value := func(tag, key string) any { return got[tag].(kv)[key] }
	require.Equal(t, 1+20./11, value("spec_decode_token_weighted_acceptance_length", "avg"))
	require.Equal(t, 20./44*100, value("spec_decode_overall_draft_acceptance_rate", "avg"))
	require.Equal(t, 3.25, value("spec_decode_acceptance_length", "max"))
	require.Equal(t, 56.25, value("spec_decode_draft_acceptance_rate", "max"))
	require.Equal(t, 0.65, value("spec_decode_accepted_per_verified", "max"))
	require.Equal(t, 33., value("output_sequence_length", "sum"))
	require.Equal(t, true, got["is_complete"])
	require.Equal(t, kv{"models": kv{}}, got["input_config"])
	require.NotContains(t, got, "spec_decode_zero_step_requests")
	require.NotContains(t, got, "error_request_count")
	require.Contains(t, r.out.String(), "0: 18%   1: 27%   2: 18%   3: 27%   4: 9%")
	require.Equal(t, 2, strings.Count(r.file(t, "w/profile_export.jsonl"), "\n"))

	rows, err := csv.NewReader(strings.NewReader(strings.Split(r.file(t, "w/profile_export.csv"), "\r\n\r\n")[1])).ReadAll()
	require.NoError(t, err)
	require.Contains(t, rows, []string{"Total Spec Decode Steps", "11.00"})
	require.Contains(t, rows, []string{"Overall Draft Acceptance Rate (%)", "45.45"})
	r.stop(t)
	require.Equal(t, 1, strings.Count(r.out.String(), "Files:"))
}

// A span with something wrong is counted and skipped; its batch goes on.
func TestMalformedSpansAreSkipped(t *testing.T) {
	for name, bad := range map[string]kv{
		"steps as text":      with(worked1(), kv{"spec_decode.steps": "8"}),
		"steps as double":    with(worked1(), kv{"spec_decode.steps": 8.0}),
		"histogram as text":  with(worked1(), kv{"spec_decode.acceptance.histogram": "[1]"}),
		"histogram of texts": with(worked1(), kv{"spec_decode.acceptance.histogram": []any{"1"}}),
		"outcome as int":     {"spec_decode.request.outcome": 1},
		"unknown outcome":    {"spec_decode.request.outcome": "lovely"},
		"unknown phase":      with(worked1(), kv{"spec_decode.run.phase": "cooldown"}),
		"joint histogram":    with(worked1(), kv{"spec_decode.acceptance.histogram_by_draft_length": []any{1, 2}}),
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, nil)
			r.push(t, spans(t, "w", 0, bad, worked2()))
			r.stop(t)
			got := r.json(t, "w/profile_export_aiperf.json")
			require.Equal(t, 1., got["request_count"].(kv)["avg"])
			require.Len(t, got["spec_decode_coverage"].(kv)["skipped"], 1)
			require.Contains(t, r.out.String(), "Skipped malformed telemetry, once: attribute spec_decode")
			warned := r.logged.FilterMessage("skipped malformed telemetry").All()
			require.Len(t, warned, 1)
			require.EqualValues(t, 1, warned[0].ContextMap()["skipped"])
			require.Regexp(t, "attribute spec_decode", warned[0].ContextMap()["first"])
		})
	}
}

// A record that breaks an identity is no record, and its request counts.
func TestCorruptRecordCountsAsRequest(t *testing.T) {
	r := start(t, nil)
	r.push(t, spans(t, "w", 0, with(worked1(), kv{"spec_decode.steps": 9}), worked2(),
		kv{"spec_decode.request.outcome": "no_stats"}, kv{"spec_decode.request.outcome": "zero_step", "spec_decode.steps": 0},
		kv{"spec_decode.request.outcome": "corrupt_stats", "spec_decode.stats.corrupt_reason": "bad \x1b[31mcount"},
		kv{"spec_decode.request.outcome": "error", "error.type": "500", "http.response.status_code": 500},
		kv{"spec_decode.request.outcome": "error", "error.type": "cancelled"}))
	r.stop(t)
	got := r.json(t, "w/profile_export_aiperf.json")
	require.Equal(t, kv{"requests": 5., "verified": 1., "zero_step": 1., "no_stats": 1., "corrupt_stats": 2., "failed": 1., "cancelled": 1.,
		"with_histogram": 1., "corrupt_reasons": kv{"the histogram counts 8 steps, not 9": 1., "bad \x1b[31mcount": 1.}}, got["spec_decode_coverage"])
	require.Equal(t, 5., got["request_count"].(kv)["avg"])
	require.Equal(t, 1., got["error_request_count"].(kv)["avg"])
	require.Equal(t, 1., got["spec_decode_zero_step_requests"].(kv)["avg"])
	require.Equal(t, 1., got["spec_decode_steps"].(kv)["count"])
	out := r.out.String()
	require.Contains(t, out, "Stats of 1 of 5 answers: 1 ran no verify step, 1 carried none, 2 were corrupt.")
	require.Contains(t, out, "Corrupt stats, once: the histogram counts 8 steps, not 9")
	require.Contains(t, out, "n > 1, several prompts, beam search, stop strings and /v1/responses")
	require.NotContains(t, out, "\x1b")
}

// Deliveries that come twice, in any order and among the server's own spans give the same files and console, byte for
// byte.
func TestOrderAndDuplicatesChangeNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var requests []kv
	for i := range 40 {
		requests = append(requests, kv{"spec_decode.request.outcome": "verified", "spec_decode.engine": "vllm", "spec_decode.steps": i + 1,
			"spec_decode.accepted_draft_tokens": r.IntN(i + 1), "spec_decode.draft_tokens": i + r.IntN(50), "gen_ai.request.stream": true,
			"gen_ai.usage.output_tokens": 2 + r.IntN(9), "spec_decode.response.first_chunk": 1000 + r.IntN(1e6), "spec_decode.response.last_chunk": 2e6 + r.IntN(1e6)})
	}
	var want [3]string
	for trial := range 20 {
		e := start(t, nil)
		order := r.Perm(len(requests))
		if trial == 0 {
			order = order[:0]
			for i := range requests {
				order = append(order, i)
			}
		}
		for _, i := range order {
			e.push(t, spans(t, "run", i, requests[i]))
			if trial > 0 && r.IntN(3) == 0 {
				e.push(t, spans(t, "run", i, requests[i]))
				e.push(t, serverSpans(t))
			}
		}
		e.push(t, spans(t, "run", 100, runSpan(len(requests))))
		e.stop(t)
		console, _, _ := strings.Cut(e.out.String(), "\nFiles:")
		got := [3]string{e.file(t, "run/profile_export_aiperf.json"), e.file(t, "run/profile_export.csv"), console}
		if trial == 0 {
			want = got
		}
		require.Equal(t, want, got)
	}
}

func TestIncompleteRunSaysWhatIsMissing(t *testing.T) {
	r := start(t, nil)
	r.push(t, spans(t, "short", 0, worked1(), runSpan(3)))
	r.push(t, spans(t, "open", 10, worked1()))
	r.push(t, spans(t, "", 20, worked1()))
	r.stop(t)
	short, open, none := r.json(t, "short/profile_export_aiperf.json"), r.json(t, "open/profile_export_aiperf.json"), r.json(t, "no-run-id/profile_export_aiperf.json")
	require.Equal(t, false, short["is_complete"])
	require.Equal(t, "2 of 3 profiling requests did not arrive", short["incomplete_reason"])
	require.Equal(t, "the run's own span did not arrive", open["incomplete_reason"])
	require.Equal(t, true, none["is_complete"])
}

// No answer had stats: no table, one line that names the server's flag. All failed: the files are there.
func TestNoStatsAndAllErrors(t *testing.T) {
	r := start(t, nil)
	r.push(t, spans(t, "none", 0, kv{"spec_decode.request.outcome": "no_stats"}, kv{"spec_decode.request.outcome": "no_stats"}, runSpan(2)))
	require.True(t, strings.HasPrefix(r.out.String(), "No speculative decoding stats in 2 answers. vLLM sends them with --per-request-spec-decode-metrics summary"), r.out.String())
	require.NotContains(t, r.out.String(), "┏")
	r.out.Reset()
	r.push(t, spans(t, "failed", 10, kv{"spec_decode.request.outcome": "error", "error.type": "500", "http.response.status_code": 500}, runSpan(1)))
	r.stop(t)
	require.Contains(t, r.out.String(), "Failed: 1 of 1 request.")
	got := r.json(t, "failed/profile_export_aiperf.json")
	require.Equal(t, 0., got["request_count"].(kv)["avg"])
	require.Equal(t, 100., got["request_error_rate"].(kv)["avg"])
	require.Contains(t, r.file(t, "failed/profile_export.csv"), "Error Request Count,1.00\r\n")
	require.Contains(t, r.file(t, "failed/profile_export.jsonl"), `"error":{"code":500,"type":"Internal Server Error"`)
}

// The server's own spans arrive in the same traces and change nothing.
func TestServerSpansAreIgnored(t *testing.T) {
	r := start(t, nil)
	r.push(t, serverSpans(t))
	require.Empty(t, r.logged.All())
	entries, err := os.ReadDir(r.dir)
	require.NoError(t, err)
	require.Empty(t, entries)
	r.stop(t)
}

func serverSpans(t *testing.T) ptrace.Traces {
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	b, err := os.ReadFile("testdata/server-spans.jsonl")
	require.NoError(t, err)
	for line := range strings.Lines(string(b)) {
		var s struct {
			TraceID, SpanID []byte
			Name            string
			Attributes      []struct {
				Key   string
				Value map[string]any
			}
		}
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		span := ss.Spans().AppendEmpty()
		span.SetName(s.Name)
		span.SetKind(ptrace.SpanKindServer)
		span.SetTraceID(pcommon.TraceID(s.TraceID))
		span.SetSpanID(pcommon.SpanID(s.SpanID))
		for _, a := range s.Attributes {
			for _, v := range a.Value {
				require.NoError(t, span.Attributes().PutEmpty(a.Key).FromRaw(v))
			}
		}
	}
	require.Equal(t, 170, ss.Spans().Len())
	return td
}

func TestUnwritableDirectoryIsRefusedAtStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	f := NewFactory()
	cfg := f.CreateDefaultConfig().(*Config)
	cfg.Directory = filepath.Join(file, "sub")
	e, err := f.CreateTraces(context.Background(), exportertest.NewNopSettings(metadata.Type), cfg)
	require.NoError(t, err)
	require.ErrorContains(t, e.Start(context.Background(), componenttest.NewNopHost()), cfg.Directory)
	require.NoError(t, e.Shutdown(context.Background()))
}
