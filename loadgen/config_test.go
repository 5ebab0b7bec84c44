package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/specdecode/otel/loadgen/dataset"
)

// clock is a time for tests.
var clock = time.Date(2026, 12, 1, 14, 32, 0, 0, time.UTC)

// parse reads a command line that must be good.
func parse(t *testing.T, args ...string) *config {
	c, err := tryParse(args...)
	require.NoError(t, err)
	return c
}

func tryParse(args ...string) (*config, error) {
	f, err := parseFlags(args, io.Discard, io.Discard)
	if err != nil {
		return nil, err
	}
	return newConfig(f, clock)
}

func TestCommandOfTheREADME(t *testing.T) {
	c := parse(t, strings.Fields("--model M --endpoint-type chat --streaming --url localhost:8000 --synthetic-input-tokens-mean 512 "+
		"--output-tokens-mean 256 --concurrency 16 --export-level records")...)
	require.False(t, c.Simulated)
	require.Equal(t, "M", c.Model)
	require.Equal(t, "chat", c.EndpointType)
	require.True(t, c.Streaming)
	require.Equal(t, "http://localhost:8000", c.Base.String())
	require.Equal(t, "http://localhost:8000/v1/chat/completions", c.Target.String())
	require.Equal(t, dataset.FormatSynthetic, c.Prompts.Format())
	require.InDelta(t, 4*512, len(c.Prompts.Prompt(0).Text), 9)
	require.NotEqual(t, c.Prompts.Prompt(0), c.WarmupPrompts.Prompt(0))
	require.Equal(t, 256, c.OutputTokens)
	require.Equal(t, 16, c.Concurrency)
	require.EqualValues(t, 32, c.Requests)
	require.Equal(t, "records", c.ExportLevel)
	require.Equal(t, 6*time.Hour, c.Timeout)
	require.Equal(t, filepath.Join("artifacts", "M-chat-concurrency16-20261201-143200"), c.ArtifactDir)
}

func TestSimulatedDefaults(t *testing.T) {
	for _, args := range [][]string{nil, {"--simulate", "vllm"}} {
		c := parse(t, args...)
		require.True(t, c.Simulated)
		require.Equal(t, "simulated", c.Model)
		require.True(t, c.Streaming)
		require.Equal(t, "chat", c.EndpointType)
		require.EqualValues(t, 200, c.Requests)
		require.Equal(t, 8, c.Concurrency)
		require.Equal(t, dataset.FormatBuiltin, c.Prompts.Format())
		require.Zero(t, c.OutputTokens)
		require.Zero(t, c.Seed)
		require.Zero(t, c.Warmup)
		require.Equal(t, filepath.Join("artifacts", "simulated-chat-concurrency8-20261201-143200"), c.ArtifactDir)
	}
	c := parse(t, "--simulate=vllm", "--model", "m", "--no-streaming", "--isl", "9", "--concurrency", "2", "--num-requests", "3")
	require.True(t, c.Simulated)
	require.False(t, c.Streaming)
	require.Equal(t, "m", c.Model)
	require.Equal(t, dataset.FormatSynthetic, c.Prompts.Format())
	require.EqualValues(t, 3, c.Requests)
}

func TestServerDefaults(t *testing.T) {
	c := parse(t, "-m", "m")
	require.Equal(t, "http://localhost:8000/v1/chat/completions", c.Target.String())
	require.False(t, c.Streaming)
	require.Equal(t, 1, c.Concurrency)
	require.EqualValues(t, 10, c.Requests)
	require.Equal(t, 550, c.inputTokens)
	require.NotEqual(t, c.Seed, parse(t, "-m", "m").Seed)

	c = parse(t, "-m", "m", "--benchmark-duration", "1.5")
	require.Zero(t, c.Requests)
	require.Equal(t, 1500*time.Millisecond, c.Duration)
	c = parse(t, "-m", "m", "--benchmark-duration", "1.5", "--request-count", "7")
	require.EqualValues(t, 7, c.Requests)
}

func TestAliases(t *testing.T) {
	c := parse(t, "--model-names", "m", "-u", "h:1", "--num-requests", "3", "--num-warmup-requests", "4", "--isl", "5", "--osl", "6",
		"--output-artifact-dir", "d", "--random-seed", "7", "--request-timeout-seconds", "0.25", "--custom-endpoint", "x/chat/completions")
	require.EqualValues(t, 3, c.Requests)
	require.EqualValues(t, 4, c.Warmup)
	require.Equal(t, 5, c.inputTokens)
	require.Equal(t, 6, c.OutputTokens)
	require.Equal(t, "d", c.ArtifactDir)
	require.EqualValues(t, 7, c.Seed)
	require.Equal(t, 250*time.Millisecond, c.Timeout)
	require.Equal(t, "http://h:1/x/chat/completions", c.Target.String())
}

func TestURL(t *testing.T) {
	tests := []struct{ url, endpointType, endpoint, target, models string }{
		{"localhost:8000", "chat", "", "http://localhost:8000/v1/chat/completions", "http://localhost:8000/v1/models"},
		{"http://h/", "completions", "", "http://h/v1/completions", "http://h/v1/models"},
		{"https://h/v1", "chat", "", "https://h/v1/chat/completions", "https://h/v1/models"},
		{"https://h/v1/", "completions", "", "https://h/v1/completions", "https://h/v1/models"},
		{"h:1/v1/chat/completions", "chat", "", "http://h:1/v1/chat/completions", "http://h:1/v1/models"},
		{"h:1/v1/chat/completions", "completions", "", "http://h:1/v1/completions", "http://h:1/v1/models"},
		{"h/openai/v1", "chat", "", "http://h/openai/v1/chat/completions", "http://h/openai/v1/models"},
		{"h/openai", "chat", "", "http://h/openai/v1/chat/completions", "http://h/openai/v1/models"},
		{"h/openai/v1", "chat", "/chat/completions", "http://h/openai/v1/chat/completions", "http://h/openai/v1/models"},
		{"h", "completions", "api/completions/", "http://h/api/completions", "http://h/v1/models"},
		{"h/api/completions", "completions", "/api/completions", "http://h/api/completions", "http://h/v1/models"},
		{"[::1]:8000", "chat", "", "http://[::1]:8000/v1/chat/completions", "http://[::1]:8000/v1/models"},
		{"h?api-version=2#x", "chat", "", "http://h/v1/chat/completions?api-version=2", "http://h/v1/models?api-version=2"},
		{"http://user:secret@h", "chat", "", "http://user:secret@h/v1/chat/completions", "http://user:secret@h/v1/models"},
	}
	for _, tt := range tests {
		c := parse(t, "-m", "m", "--url", tt.url, "--endpoint-type", tt.endpointType, "--endpoint", tt.endpoint)
		require.Equal(t, tt.target, c.Target.String(), tt.url)
		require.Equal(t, tt.models, join(c.Base, modelsPath).String(), tt.url)
		require.NotContains(t, shown(c.Base), "secret")
		require.NotContains(t, shown(c.Base), "?")
	}
}

func TestUsageErrors(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.jsonl")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	tests := []struct{ args, want string }{
		{"--bogus", "unknown flag --bogus"},
		{"stray", "unexpected argument stray"},
		{"-u h", "--model: name the model"},
		{"--simulate vllm -u h", "--simulate: not together with --url"},
		{"--simulate nope", "--simulate must be one of"},
		{"--simulate vllm --endpoint /x/chat/completions", "--endpoint: the simulated engine has no other paths"},
		{"-m m --endpoint-type embeddings", "--endpoint-type must be one of"},
		{"-m m --endpoint /x", "--endpoint: the path for type chat must end in /chat/completions"},
		{"-m m --endpoint-type completions --endpoint /v1/chat/completions", "--endpoint: the path for type completions must end in /completions"},
		{"-m m -u ftp://h", `--url: the scheme must be http or https, not "ftp"`},
		{"-m m -u http://", "--url: the address has no host"},
		{"-m m -u http://u:secret@h:port", "--url: not an address: "},
		{"-m m --concurrency 0", "--concurrency: must be 1 to 100000, not 0"},
		{"-m m --concurrency x", "--concurrency: expected"},
		{"-m m --concurrency 1000000", "--concurrency: must be"},
		{"-m m --request-count 0", "--request-count: must be at least 1, not 0"},
		{"-m m --warmup-request-count=-1", "--warmup-request-count: must not be negative, but is -1"},
		{"-m m --benchmark-duration 0", "--benchmark-duration: must be above 0"},
		{"-m m --benchmark-duration nan", "--benchmark-duration: must be above 0"},
		{"-m m --benchmark-duration 1e300", "--benchmark-duration: must be above 0"},
		{"-m m --request-timeout-seconds=-1", "--request-timeout-seconds: must be above 0"},
		{"-m m --isl 0", "--synthetic-input-tokens-mean: must be 1 to 2000000, not 0"},
		{"-m m --osl 0", "--output-tokens-mean: must be at least 1, not 0"},
		{"-m m --random-seed=-1", "--random-seed: expected"},
		{"-m m --prompt x --input-file y", "--prompt: not together with --input-file"},
		{"-m m --prompt x --isl 5", "--synthetic-input-tokens-mean: not together with"},
		{"-m m --prompt=", "--prompt: the text is empty"},
		{"-m m --input-file nowhere.jsonl", "--input-file: open nowhere.jsonl: no such file or directory"},
		{"-m m --input-file " + empty, "--input-file: " + empty + ": no prompts in the file"},
		{"-m m --export-level all", "--export-level must be one of"},
		{"-m m -H secret", "--header: there is no colon; the form is NAME:VALUE"},
		{"-m m -H :secret", `--header: "" is no name of a header`},
		{"-m m -H X:secret\x01", "--header: the value of X has characters that no header can have"},
		{"-m m --api-key secret\n", "--api-key: the key has characters"},
		{"-m m --extra-inputs x", `--extra-inputs: "x" is not of the form KEY:VALUE`},
		{"-m m --extra-inputs 5", `--extra-inputs: "5" is not of the form KEY:VALUE`},
		{"-m m --extra-inputs :5", `--extra-inputs: ":5" is not of the form KEY:VALUE`},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			_, err := tryParse(strings.Split(tt.args, " ")...)
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	var out bytes.Buffer
	f, err := parseFlags([]string{"--help"}, &out, io.Discard)
	require.NoError(t, err)
	require.Nil(t, f)
	for _, want := range []string{"Usage: loadgen [flags]", "Example:", "\nServer:\n", "\nLoad:\n", "\nPrompts:\n", "\nOutput:\n",
		"-m, --model=NAME", "${OTEL_EXPORTER_OTLP_ENDPOINT}", "--[no-]streaming", "--isl", "--osl", "(default: 21600)"} {
		require.Contains(t, out.String(), want)
	}
	out.Reset()
	f, err = parseFlags([]string{"--version"}, &out, io.Discard)
	require.NoError(t, err)
	require.Nil(t, f)
	require.Equal(t, "specdecode-loadgen "+version+"\n", out.String())
}

func TestInputConfig(t *testing.T) {
	secrets := []string{"-m", "org/m", "-u", "http://user:secret@h:1/v1?key=secret", "--api-key", "secret", "-H", "X-Key: secret", "--extra-inputs", "k:secret"}
	path := filepath.Join(t.TempDir(), "question.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"question_id": 1, "category": "writing", "turns": ["secret"]}`), 0o600))
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"synthetic", append(secrets, "--streaming", "--isl", "512", "--osl", "256", "--request-count", "20", "--warmup-request-count", "3",
			"--concurrency", "4", "--random-seed", "9", "--artifact-dir", "out", "--export-level", "raw"), `{
			"models": {"items": [{"name": "org/m"}]},
			"endpoint": {"urls": ["http://h:1/v1"], "type": "chat", "streaming": true},
			"datasets": [{"name": "main", "type": "synthetic", "entries": 20, "prompts": {"isl": {"mean": 512}, "osl": {"mean": 256}}}],
			"phases": [
				{"name": "warmup", "kind": "warmup", "type": "concurrency", "exclude_from_results": true, "requests": 3, "concurrency": 4},
				{"name": "profiling", "kind": "profiling", "type": "concurrency", "requests": 20, "concurrency": 4}],
			"artifacts": {"dir": "out", "records": ["jsonl"], "raw": true},
			"random_seed": 9}`},
		{"file", append(secrets, "--input-file", path, "--benchmark-duration", "2.5", "--random-seed", "9", "--artifact-dir", "out",
			"--export-level", "summary", "--endpoint-type", "completions"), `{
			"models": {"items": [{"name": "org/m"}]},
			"endpoint": {"urls": ["http://h:1/v1"], "type": "completions", "streaming": false},
			"datasets": [{"name": "main", "type": "file", "format": "spec_bench", "path": "` + path + `", "entries": 1}],
			"phases": [{"name": "profiling", "kind": "profiling", "type": "concurrency", "duration": 2.5, "concurrency": 1}],
			"artifacts": {"dir": "out", "records": false, "raw": false},
			"random_seed": 9}`},
		{"prompt", append(secrets, "--prompt", "secret", "--osl", "5", "--random-seed", "9", "--artifact-dir", "out"), `{
			"models": {"items": [{"name": "org/m"}]},
			"endpoint": {"urls": ["http://h:1/v1"], "type": "chat", "streaming": false},
			"datasets": [{"name": "main", "type": "file", "format": "literal", "entries": 1, "prompts": {"osl": {"mean": 5}}}],
			"phases": [{"name": "profiling", "kind": "profiling", "type": "concurrency", "requests": 10, "concurrency": 1}],
			"artifacts": {"dir": "out", "records": ["jsonl"], "raw": false},
			"random_seed": 9}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := parse(t, tt.args...).inputConfig()
			require.JSONEq(t, tt.want, got)
			require.NotContains(t, got, "secret")
		})
	}
	c := parse(t)
	require.NoError(t, c.setURL("127.0.0.1:9"))
	var got struct {
		Simulated bool
		Datasets  []struct{ Format string }
	}
	require.NoError(t, json.Unmarshal([]byte(c.inputConfig()), &got))
	require.True(t, got.Simulated)
	require.Equal(t, "builtin", got.Datasets[0].Format)
}
