package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/specdecode/otel/collectorexporter"
)

// The Collector is built with the command of the README and gets golden runs from the load generator, each over real
// OTLP in a process of its own. Its figures are AIPerf's, and its files are byte for byte those that the exporter
// makes of the same telemetry inside this process.
func TestCollectorBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a Collector")
	}
	binary := buildCollector(t)
	for _, folder := range []string{"mixed", "adaptive-detailed"} {
		t.Run(folder, func(t *testing.T) {
			g := goldenRun{t, filepath.Join("testdata/golden", folder)}
			dir := t.TempDir()
			c := startCollector(t, binary, dir)
			server := scripted(t, filepath.Join(g.dir, "script.jsonl"))
			status, stdout, stderr := runLoadgen(t, append(g.options(), "--model", "tiny", "--url", server.URL, "--artifact-dir", t.TempDir(),
				"--otlp-endpoint", c.endpoint)...)
			require.Zero(t, status, stderr)
			require.NotContains(t, stdout, "┏", "the report is the Collector's")
			report := c.stop(t)

			folders, err := os.ReadDir(filepath.Join(dir, "artifacts"))
			require.NoError(t, err)
			require.Len(t, folders, 1)
			written := filepath.Join(dir, "artifacts", folders[0].Name())
			g.compare(written, report)

			again := t.TempDir()
			replay(t, filepath.Join(dir, "otlp.jsonl"), again)
			for _, name := range []string{"profile_export_aiperf.json", "profile_export.csv", "profile_export.jsonl"} {
				require.Equal(t, goldenRun{t, written}.read(name), goldenRun{t, again}.read(name))
			}
		})
	}
}

// buildCollector runs the README's build command on a copy of the configuration that puts the binary elsewhere.
func buildCollector(t *testing.T) string {
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	config, err := os.ReadFile(filepath.Join(root, "builder-config.yaml"))
	require.NoError(t, err)
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	const command = "go run go.opentelemetry.io/collector/cmd/builder@v0.165.0 --config builder-config.yaml"
	require.Contains(t, string(readme), command)

	dir := t.TempDir()
	changed := strings.NewReplacer("output_path: ./build", "output_path: "+filepath.Join(dir, "build"), "path: .\n", "path: "+root+"\n").Replace(string(config))
	path := filepath.Join(dir, "builder-config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(changed), 0o600))
	args := strings.Fields(strings.Replace(command, "builder-config.yaml", path, 1))
	build := exec.CommandContext(t.Context(), args[0], args[1:]...)
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return filepath.Join(dir, "build", "otelcol-specdecode")
}

type collector struct {
	endpoint string
	cmd      *exec.Cmd
	stdout   bytes.Buffer
	stderr   bytes.Buffer
	ready    chan struct{}
	copied   chan struct{}
}

// startCollector starts the Collector with the example's configuration, on free ports, and with a file exporter that
// keeps what arrives. It returns when the Collector says that it is ready.
func startCollector(t *testing.T, binary, dir string) *collector {
	example, err := os.ReadFile("../examples/collector.yaml")
	require.NoError(t, err)
	grpc, http, health := freeAddress(t), freeAddress(t), freeAddress(t)
	config := strings.NewReplacer(
		"127.0.0.1:4317", grpc, "127.0.0.1:4318", http, "127.0.0.1:13133", health,
		"exporters:\n  spec_decode:", "exporters:\n  file:\n    path: "+filepath.Join(dir, "otlp.jsonl")+"\n  spec_decode:",
		"exporters: [spec_decode]", "exporters: [spec_decode, file]",
	).Replace(string(example))
	path := filepath.Join(dir, "collector.yaml")
	require.NoError(t, os.WriteFile(path, []byte(config), 0o600))

	c := &collector{endpoint: "http://" + grpc, cmd: exec.CommandContext(t.Context(), binary, "--config", path), ready: make(chan struct{}), copied: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), "SPECDECODE_DIR="+filepath.Join(dir, "artifacts"))
	c.cmd.Stdout = &c.stdout
	logs, err := c.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.cmd.Start())
	go func() {
		defer close(c.copied)
		ready := false
		for s := bufio.NewScanner(io.TeeReader(logs, &c.stderr)); s.Scan(); {
			if !ready && strings.Contains(s.Text(), "Everything is ready") {
				ready = true
				close(c.ready)
			}
		}
	}()
	select {
	case <-c.ready:
	case <-c.copied:
		require.Fail(t, "the Collector did not start", c.stderr.String())
	}
	return c
}

// stop ends the Collector as a service manager does and returns its report.
func (c *collector) stop(t *testing.T) string {
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGTERM))
	<-c.copied
	require.NoError(t, c.cmd.Wait(), c.stderr.String())
	return c.stdout.String()
}

// replay gives what the file exporter kept to an exporter of this process.
func replay(t *testing.T, path, dir string) {
	f := collectorexporter.NewFactory(collectorexporter.WithStdout(io.Discard))
	cfg := f.CreateDefaultConfig().(*collectorexporter.Config)
	cfg.Directory, cfg.RunFolders = dir, false
	e, err := f.CreateTraces(context.Background(), exportertest.NewNopSettings(component.MustNewType("spec_decode")), cfg)
	require.NoError(t, err)
	require.NoError(t, e.Start(context.Background(), componenttest.NewNopHost()))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(b)) {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(line))
		require.NoError(t, err)
		require.NoError(t, e.ConsumeTraces(context.Background(), td))
	}
	require.NoError(t, e.Shutdown(context.Background()))
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}
