package main

import (
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/specdecode/otel/loadgen/simulator"
)

// blocks returns the README's code blocks of a kind.
func blocks(t *testing.T, kind string) []string {
	b, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	var list []string
	for _, m := range regexp.MustCompile("(?s)```"+kind+"\n(.*?)```").FindAllStringSubmatch(string(b), -1) {
		list = append(list, m[1])
	}
	require.NotEmpty(t, list)
	return list
}

// varying is what differs from one run to the next.
var varying = regexp.MustCompile(`\d{8}-\d{6}`)

// Every command that the README shows is run: here, or by the test that is named.
func TestReadmeCommands(t *testing.T) {
	elsewhere := []string{
		// TestCollectorBinary
		"go run go.opentelemetry.io/collector/cmd/builder@v0.165.0 --config builder-config.yaml",
		"./build/otelcol-specdecode --config examples/collector.yaml",
		"go run ./loadgen --otlp-endpoint http://localhost:4317",
		// .ci/run
		"go vet ./... && go test -timeout 20m ./...",
	}
	ran := 0
	for command := range strings.Lines(strings.Join(blocks(t, "sh"), "")) {
		command = strings.TrimSpace(command)
		args, ok := strings.CutPrefix(command, "go run ./loadgen")
		if i := slices.Index(elsewhere, command); i >= 0 || command == "" {
			continue
		}
		require.True(t, ok, "nothing runs %q", command)
		server := httptest.NewServer(simulator.New(simulator.Config{}))
		defer server.Close()
		list := strings.Fields(strings.ReplaceAll(args, "localhost:8000", server.URL))
		status, stdout, stderr := runLoadgen(t, append(list, "--artifact-dir", t.TempDir())...)
		require.Zero(t, status, stderr)
		require.Contains(t, stdout, "Spec Decode")
		ran++
	}
	require.Equal(t, 2, ran)
	status, stdout, _ := runLoadgen(t, "--help")
	require.Zero(t, status)
	require.Contains(t, stdout, "--artifact-dir")
}

// The report in the README is what the first command prints.
func TestReadmeReport(t *testing.T) {
	t.Chdir(t.TempDir())
	status, stdout, stderr := runLoadgen(t)
	require.Zero(t, status, stderr)
	t.Chdir(start)
	report := blocks(t, "text")[0]
	require.Equal(t, varying.ReplaceAllString(report, "TIME"), varying.ReplaceAllString(stdout, "TIME"))
}

// start is the package's folder, where tests begin.
var start = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}()
