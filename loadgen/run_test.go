package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	noopmetric "go.opentelemetry.io/otel/metric/noop"
	nooptrace "go.opentelemetry.io/otel/trace/noop"

	"github.com/specdecode/otel/instrumentation"
)

// program is a run with telemetry that goes nowhere.
type program struct {
	*testing.T
	stdout, stderr buffer
	signals        chan os.Signal
	startErr       error
	finishErr      error
	// config is what telemetry was started with; nil when it was not.
	config *config
	// finished gets what the run says of itself at its end.
	finished chan runOutcome
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
	// stopping, when not nil, is closed when the program says that it stops.
	stopping chan struct{}
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopping != nil && bytes.Contains(p, []byte("Stopping")) {
		close(b.stopping)
	}
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func newProgram(t *testing.T) *program {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	return &program{T: t, signals: make(chan os.Signal), finished: make(chan runOutcome, 1)}
}

func (p *program) run(args ...string) int {
	return run(context.Background(), args, dependencies{
		stdout: &p.stdout, stderr: &p.stderr, signals: p.signals, now: time.Now,
		newTelemetry: func(_ context.Context, c *config, runID string, _, _ io.Writer) (telemetry, error) {
			require.Len(p, runID, 36)
			p.config = c
			return p, p.startErr
		},
	})
}

func (p *program) Options() []instrumentation.Option {
	return []instrumentation.Option{
		instrumentation.WithTracerProvider(nooptrace.NewTracerProvider()),
		instrumentation.WithMeterProvider(noopmetric.NewMeterProvider()),
		instrumentation.WithErrorBody(100),
	}
}

func (p *program) FinishRun(_ context.Context, o runOutcome) error {
	io.WriteString(&p.stdout, "the report\n")
	p.finished <- o
	return p.finishErr
}

// server answers requests with handler, and knows how many there were.
type server struct {
	*httptest.Server
	requests atomic.Int64
	// models is set when the list of models was asked for with the key of the tests.
	models atomic.Bool
}

func newServer(t *testing.T, handler func(n int64, w http.ResponseWriter, r *http.Request)) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			s.models.Store(r.URL.Path == "/v1/models" && r.Header.Get("Authorization") == "Bearer key")
			w.WriteHeader(http.StatusNotFound)
			return
		}
		promptOf(r)
		handler(s.requests.Add(1), w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestRunSimulated(t *testing.T) {
	p := newProgram(t)
	dir := filepath.Join(t.TempDir(), "new", "folder")
	require.Equal(t, statusOK, p.run("--request-count", "20", "--warmup-request-count", "3", "--artifact-dir", dir), p.stderr.String())
	require.Equal(t, runOutcome{Warmup: phaseCounts{Issued: 3}, Profiling: phaseCounts{Issued: 20}}, <-p.finished)
	require.DirExists(t, dir)
	lines := strings.Split(p.stdout.String(), "\n")
	require.True(t, strings.HasPrefix(lines[0], "Simulated engine (not a real server): "))
	require.Equal(t, []string{"the report", "Warm-up: 3 sent, 0 failed, 0 cancelled", "Requests: 20 sent, 0 failed, 0 cancelled", ""}, lines[1:])
	require.Contains(t, p.stderr.String(), "warmup: 3 of 3 requests")
	require.Regexp(t, `profiling: 20 of 20 requests, [0-9.]+/s, 0 failed, acceptance length [1-5]\.\d\d\n`, p.stderr.String())
	require.Contains(t, p.config.inputConfig(), `"simulated":true`)
	require.Contains(t, p.config.inputConfig(), `"urls":["http://127.0.0.1:`)
}

func TestRunServer(t *testing.T) {
	tests := []struct {
		name    string
		handler func(n int64, w http.ResponseWriter, r *http.Request)
		status  int
		want    runOutcome
		stderr  string
	}{
		{"all good", func(_ int64, w http.ResponseWriter, _ *http.Request) { answer(w) }, statusOK, runOutcome{Profiling: phaseCounts{Issued: 10}}, "0 failed"},
		{"some fail", func(n int64, w http.ResponseWriter, _ *http.Request) {
			if n > 1 {
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			answer(w)
		}, statusOK, runOutcome{Profiling: phaseCounts{Issued: 10, Failed: 9}}, "loadgen: 9 requests failed; the first: 429 Too Many Requests\n"},
		{"all fail", func(_ int64, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, "no \x1b]0;title\x07 model")
		}, statusFailed, runOutcome{Profiling: phaseCounts{Issued: 10, Failed: 10}}, "loadgen: all 10 requests failed\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, tt.handler)
			p := newProgram(t)
			require.Equal(t, tt.status, p.run("--model", "m", "--url", s.URL, "--api-key", "key", "--artifact-dir", t.TempDir()))
			require.Equal(t, tt.want, <-p.finished)
			require.EqualValues(t, 10, s.requests.Load())
			require.True(t, s.models.Load(), "the server was looked for first")
			require.Contains(t, p.stderr.String(), tt.stderr)
			require.Contains(t, p.stdout.String(), "the report\n")
			for _, text := range []string{p.stdout.String(), p.stderr.String()} {
				require.NotContains(t, text, "\x1b")
				require.NotContains(t, text, "\x07")
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	p := newProgram(t)
	root := t.TempDir()
	require.Equal(t, statusFailed, p.run("--model", "m", "--url", "http://user:secret@"+address+"/v1", "--artifact-dir", filepath.Join(root, "a", "b")))
	require.Equal(t, "loadgen: cannot reach http://"+address+"/v1: connection refused\n", p.stderr.String())
	require.Empty(t, p.stdout.String())
	require.Nil(t, p.config, "no telemetry was started")
	require.NoDirExists(t, filepath.Join(root, "a"))
}

func TestRootCause(t *testing.T) {
	require.Equal(t, "no answer within 5s", rootCause(&net.OpError{Op: "dial", Err: context.DeadlineExceeded}))
	require.Equal(t, "no such host", rootCause(&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x"}}))
	require.Equal(t, "odd", rootCause(errors.New("odd")))
}

func TestUnwritable(t *testing.T) {
	s := newServer(t, func(_ int64, w http.ResponseWriter, _ *http.Request) { answer(w) })
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	p := newProgram(t)
	require.Equal(t, statusFailed, p.run("--model", "m", "--url", s.URL, "--artifact-dir", filepath.Join(file, "x")))
	require.Equal(t, "loadgen: cannot write to "+filepath.Join(file, "x")+": not a directory\n", p.stderr.String())
	require.Zero(t, s.requests.Load())
	require.Nil(t, p.config)
}

func TestTelemetryFails(t *testing.T) {
	p := newProgram(t)
	p.startErr = errors.New("no way\nno other way")
	dir := filepath.Join(t.TempDir(), "x")
	require.Equal(t, statusFailed, p.run("--artifact-dir", dir))
	require.Equal(t, "loadgen: no way\nloadgen: no other way\n", p.stderr.String())
	require.NoDirExists(t, dir)

	p = newProgram(t)
	p.finishErr = errors.New("disk full")
	require.Equal(t, statusFailed, p.run("--artifact-dir", dir, "--request-count", "2"))
	require.Contains(t, p.stderr.String(), "\nloadgen: disk full\n")
	require.Contains(t, p.stdout.String(), "Requests: 2 sent")
}

// With a Collector there are no files here.
func TestCollectorHasTheReport(t *testing.T) {
	for name, args := range map[string][]string{"http://collector:4317": {"--otlp-endpoint", "collector:4317"}, "http://other:1": nil} {
		p := newProgram(t)
		if args == nil {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", name)
		}
		dir := filepath.Join(t.TempDir(), "x")
		require.Equal(t, statusOK, p.run(append(args, "--artifact-dir", dir, "--request-count", "2")...))
		require.Regexp(t, "Run [0-9a-f-]{36} was sent to "+name+", where its report is made.\n", p.stdout.String())
		require.NoDirExists(t, dir)
	}
}

func TestUsage(t *testing.T) {
	p := newProgram(t)
	require.Equal(t, statusUsage, p.run("--concurrency", "0"))
	require.Equal(t, "loadgen: --concurrency: must be 1 to 100000, not 0\nloadgen --help lists all flags.\n", p.stderr.String())
	require.Empty(t, p.stdout.String())
	p = newProgram(t)
	require.Equal(t, statusUsage, p.run("--bogus"))
	require.Contains(t, p.stderr.String(), "--bogus")
	p = newProgram(t)
	require.Equal(t, statusOK, p.run("--help"))
	require.Contains(t, p.stdout.String(), "--concurrency")
	require.Empty(t, p.stderr.String())
	require.Nil(t, p.config)
}

// The first signal stops sending, and the run is reported as cancelled.
func TestInterrupt(t *testing.T) {
	p := newProgram(t)
	p.stderr.stopping = make(chan struct{})
	s := newServer(t, func(n int64, w http.ResponseWriter, _ *http.Request) {
		if n == 7 {
			p.signals <- os.Interrupt
			<-p.stderr.stopping
		}
		answer(w)
	})
	require.Equal(t, statusInterrupted, p.run("--model", "m", "--url", s.URL, "--request-count", "100", "--warmup-request-count", "4", "--artifact-dir", t.TempDir()))
	o := <-p.finished
	require.True(t, o.Cancelled)
	require.Equal(t, phaseCounts{Issued: 4}, o.Warmup)
	require.Equal(t, phaseCounts{Issued: 3}, o.Profiling, "what was in flight is finished")
	require.Contains(t, p.stdout.String(), "the report\n")
}

func TestInterruptWarmup(t *testing.T) {
	p := newProgram(t)
	p.stderr.stopping = make(chan struct{})
	s := newServer(t, func(n int64, w http.ResponseWriter, _ *http.Request) {
		if n == 2 {
			p.signals <- syscall.SIGTERM
			<-p.stderr.stopping
		}
		answer(w)
	})
	require.Equal(t, statusInterrupted, p.run("--model", "m", "--url", s.URL, "--warmup-request-count", "50", "--artifact-dir", t.TempDir()))
	o := <-p.finished
	require.True(t, o.Cancelled)
	require.Equal(t, phaseCounts{Issued: 2}, o.Warmup)
	require.Zero(t, o.Profiling)
}

// The second signal leaves at once, whatever is in flight.
func TestDoubleInterrupt(t *testing.T) {
	p := newProgram(t)
	arrived := make(chan struct{})
	s := newServer(t, func(_ int64, _ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	go func() {
		for range 4 {
			<-arrived
		}
		p.signals <- os.Interrupt
		p.signals <- os.Interrupt
	}()
	require.Equal(t, statusInterrupted, p.run("--model", "m", "--url", s.URL, "--concurrency", "4", "--artifact-dir", t.TempDir()))
	// The program would have ended now. Here, what goes on shows that everything in flight was cancelled.
	o := <-p.finished
	require.True(t, o.Cancelled)
	require.Equal(t, phaseCounts{Issued: 4, Cancelled: 4}, o.Profiling)
}
