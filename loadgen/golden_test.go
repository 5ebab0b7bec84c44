package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The golden folders are runs of AIPerf 0.13 on scripted answers. Each is run again, through a real server, real OTLP
// and the exporter, and must give AIPerf's figures.
func TestGolden(t *testing.T) {
	folders, err := os.ReadDir("testdata/golden")
	require.NoError(t, err)
	for _, f := range folders {
		t.Run(f.Name(), func(t *testing.T) {
			g := goldenRun{t, filepath.Join("testdata/golden", f.Name())}
			dir := t.TempDir()
			server := scripted(t, filepath.Join(g.dir, "script.jsonl"))
			status, stdout, stderr := runLoadgen(t, append(g.options(), "--model", "tiny", "--url", server.URL, "--artifact-dir", dir)...)
			require.Equal(t, g.read("exit.txt"), fmt.Sprintf("exit %d\n", status), stderr)
			g.compare(dir, stdout)
		})
	}
}

// goldenRun is one golden folder.
type goldenRun struct {
	*testing.T
	dir string
}

func (g goldenRun) read(name string) string {
	b, err := os.ReadFile(filepath.Join(g.dir, name))
	require.NoError(g, err)
	return string(b)
}

func (g goldenRun) has(name string) bool {
	_, err := os.Stat(filepath.Join(g.dir, name))
	return err == nil
}

// options are the client's options that made the folder.
func (g goldenRun) options() []string {
	_, options, ok := strings.Cut(g.read("how.txt"), " | ")
	require.True(g, ok)
	return append(strings.Fields(options), "--synthetic-input-tokens-mean", "32", "--output-tokens-mean", "16")
}

// compare holds the files in dir and the console against AIPerf's.
func (g goldenRun) compare(dir, stdout string) {
	got := goldenRun{g.T, dir}
	if !g.has("profile_export_aiperf.json") {
		// AIPerf writes nothing when all requests fail; we do.
		require.FileExists(g, filepath.Join(dir, "profile_export_aiperf.json"))
		require.Contains(g, got.read("profile_export.csv"), "Request Error Rate (%),100.00\r\n")
		require.NotContains(g, stdout, "┏")
	} else {
		g.compareJSON(got)
		g.compareCSV(got)
		g.compareConsole(stdout)
	}
	if g.has("profile_export.jsonl") {
		g.compareRecords(got)
	} else {
		require.NoFileExists(g, filepath.Join(dir, "profile_export.jsonl"))
	}
	if g.has("profile_export_raw.jsonl") {
		g.compareRaw(got)
	} else {
		require.NoFileExists(g, filepath.Join(dir, "profile_export_raw.jsonl"))
	}
}

type object = map[string]any

// exact matches the tags of the metrics that do not depend on the machine's speed.
var exact = regexp.MustCompile(`spec_decode|draft_tokens|^(input|output)_sequence_length$|^total_(isl|osl)$|^(error_)?request_count$|^request_error_rate$`)

func (g goldenRun) compareJSON(got goldenRun) {
	var want, have object
	require.NoError(g, json.Unmarshal([]byte(g.read("profile_export_aiperf.json")), &want))
	require.NoError(g, json.Unmarshal([]byte(got.read("profile_export_aiperf.json")), &have))
	compared := 0
	for tag, metric := range want {
		if !exact.MatchString(tag) || tag == "pooled_spec_decode_acceptance_histogram" {
			continue
		}
		compared++
		require.Contains(g, have, tag)
		g.compareStats(tag, metric.(object), have[tag].(object))
	}
	require.Greater(g, compared, 5)
	for tag := range have {
		if exact.MatchString(tag) && tag != "spec_decode_coverage" {
			require.Contains(g, want, tag)
		}
	}
	for _, key := range []string{"pooled_spec_decode_acceptance_histogram", "error_summary", "was_cancelled", "is_complete"} {
		require.Equal(g, want[key], have[key], key)
	}
	config := have["input_config"].(object)
	require.Equal(g, "tiny", config["models"].(object)["items"].([]any)[0].(object)["name"])
	require.Equal(g, want["input_config"].(object)["endpoint"].(object)["type"], config["endpoint"].(object)["type"])
	if warmup, ok := want["warmup_metrics"]; ok {
		for tag, metric := range warmup.(object) {
			if exact.MatchString(tag) {
				g.compareStats("warm-up "+tag, metric.(object), have["warmup_metrics"].(object)[tag].(object))
			}
		}
	} else {
		require.NotContains(g, have, "warmup_metrics")
	}
}

func (g goldenRun) compareStats(tag string, want, have object) {
	keys := func(o object) (keys []string) {
		for k := range o {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		return keys
	}
	require.Equal(g, keys(want), keys(have), tag)
	for key, w := range want {
		if key == "unit" {
			require.Equal(g, w, have[key], tag)
			continue
		}
		// The bound on equal values' deviation is that of the values themselves, which are never larger than 1e4.
		require.InDelta(g, w, have[key], math.Max(1e-12*math.Abs(w.(float64)), 1e-14), "%s %s", tag, key)
	}
}

// exactRows are the CSV's first cells of the same metrics.
var exactRows = regexp.MustCompile(`Accept|Draft|Spec Decode Steps|Zero-Step|Sequence Length|Request Count|Request Error Rate`)

func (g goldenRun) compareCSV(got goldenRun) {
	csv := got.read("profile_export.csv")
	compared := 0
	rows := func(text string) (rows []string) {
		for line := range strings.SplitSeq(text, "\r\n") {
			if cell, _, _ := strings.Cut(line, ","); exactRows.MatchString(cell) || cell == "Metric" && !strings.Contains(line, "GPU") {
				rows = append(rows, line)
				compared++
			}
		}
		return rows
	}
	require.Equal(g, rows(g.read("profile_export_aiperf.csv")), rows(csv))
	require.Greater(g, compared, 10)
}

func (g goldenRun) compareConsole(stdout string) {
	if !g.has("console_spec_decode.txt") {
		require.NotContains(g, stdout, "┏")
		require.Contains(g, stdout, "No speculative decoding stats")
		require.Contains(g, stdout, "--per-request-spec-decode-metrics summary")
		return
	}
	_, section, _ := strings.Cut(g.read("console_spec_decode.txt"), "\n")
	require.Contains(g, stdout, "Spec Decode\n"+section)
}

type recordLine struct {
	Metadata object
	Metrics  map[string]object
	Error    object
	Record   object `json:"spec_decode_acceptance"`
}

func (g goldenRun) records(name string) []recordLine {
	var lines []recordLine
	s := bufio.NewScanner(strings.NewReader(g.read(name)))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var line recordLine
		require.NoError(g, json.Unmarshal(s.Bytes(), &line))
		lines = append(lines, line)
	}
	return lines
}

func (g goldenRun) compareRecords(got goldenRun) {
	want, have := g.records("profile_export.jsonl"), got.records("profile_export.jsonl")
	require.Len(g, have, len(want))
	for i, w := range want {
		h := have[i]
		for _, key := range []string{"session_num", "turn_index", "benchmark_phase", "phase_kind", "phase_index", "was_cancelled"} {
			require.Equal(g, w.Metadata[key], h.Metadata[key], key)
		}
		for _, key := range []string{"x_request_id", "x_correlation_id", "conversation_id", "credit_issued_ns", "request_start_ns", "request_end_ns", "worker_id", "trace_id", "span_id"} {
			require.NotEmpty(g, h.Metadata[key], key)
		}
		require.Equal(g, w.Error, h.Error)
		require.Equal(g, w.Record, h.Record)
		for tag := range h.Metrics {
			if exact.MatchString(tag) {
				require.Contains(g, w.Metrics, tag)
			}
		}
		for tag, metric := range w.Metrics {
			if exact.MatchString(tag) {
				require.Equal(g, metric, h.Metrics[tag], tag)
			}
		}
	}
}

type rawLine struct {
	Metadata  object
	Headers   map[string]string `json:"request_headers"`
	Payload   object
	Status    int
	Responses []struct {
		PerfNs  int64 `json:"perf_ns"`
		Packets []struct{ Name, Value string }
		Text    string
	}
}

func (g goldenRun) raws(name string) []rawLine {
	var lines []rawLine
	d := json.NewDecoder(strings.NewReader(g.read(name)))
	for d.More() {
		var line rawLine
		require.NoError(g, d.Decode(&line))
		lines = append(lines, line)
	}
	return lines
}

func (g goldenRun) compareRaw(got goldenRun) {
	want, have := g.raws("profile_export_raw.jsonl"), got.raws("profile_export_raw.jsonl")
	require.Len(g, have, len(want))
	for i, w := range want {
		h := have[i]
		require.Equal(g, w.Metadata["session_num"], h.Metadata["session_num"])
		require.Equal(g, w.Status, h.Status)
		for key := range w.Payload {
			require.Contains(g, h.Payload, key)
		}
		require.Equal(g, w.Payload["stream_options"], h.Payload["stream_options"])
		require.Equal(g, "application/json", h.Headers["Content-Type"])
		require.Len(g, h.Responses, len(w.Responses))
		for j := range w.Responses {
			require.NotZero(g, h.Responses[j].PerfNs)
			require.Equal(g, w.Responses[j].Packets, h.Responses[j].Packets)
			require.Equal(g, w.Responses[j].Text, h.Responses[j].Text)
		}
	}
}
