package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/specdecode/otel/instrumentation"
	otlp "github.com/specdecode/otel/loadgen/telemetry"
	"github.com/specdecode/otel/semconv"
)

// Exit statuses.
const (
	statusOK = 0
	// statusFailed: all requests failed, or the run could not be done.
	statusFailed = 1
	statusUsage  = 2
	// statusInterrupted is what a shell reports of a program that SIGINT ended.
	statusInterrupted = 130
)

// telemetry is where a run's telemetry goes.
type telemetry interface {
	// Options make the transport send what it records here.
	Options() []instrumentation.Option
	// FinishRun sends what is left, ends the run and stops everything. When the report is made in this process, it is
	// printed and its files are written on the way.
	FinishRun(ctx context.Context, o runOutcome) error
}

// runOutcome is what is said of a run as a whole.
type runOutcome struct {
	Warmup, Profiling phaseCounts
	// Cancelled is set when the run was stopped before its end.
	Cancelled bool
	// RawRecords is how many raw records were made.
	RawRecords int64
}

// phaseCounts counts the requests of one phase that were sent, that failed and that were cancelled; cancelled ones are
// not among the failed ones.
type phaseCounts struct {
	Issued, Failed, Cancelled int64
}

// dependencies are what run takes from its surroundings.
type dependencies struct {
	stdout, stderr io.Writer
	// terminal is set when stderr is one.
	terminal bool
	// signals are the user's interrupts.
	signals      <-chan os.Signal
	now          func() time.Time
	newTelemetry func(ctx context.Context, c *config, runID string, stdout, stderr io.Writer) (telemetry, error)
}

// run does what the command line asks for and returns the exit status. The first signal ends the run in good order,
// the second one at once.
func run(ctx context.Context, args []string, d dependencies) int {
	d.stderr = &lockedWriter{w: d.stderr}
	f, err := parseFlags(args, d.stdout, d.stderr)
	if f == nil && err == nil {
		return statusOK
	}
	var c *config
	if err == nil {
		c, err = newConfig(f, d.now())
	}
	if err != nil {
		fmt.Fprintf(d.stderr, "loadgen: %s\nloadgen --help lists all flags.\n", err)
		return statusUsage
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := make(chan struct{})
	b := &benchmark{dependencies: d, config: c, stop: stop}
	status := make(chan int, 1)
	go func() { status <- b.run(ctx) }()
	for stopping := false; ; stopping = true {
		select {
		case s := <-status:
			return s
		case <-d.signals:
			if stopping {
				return statusInterrupted
			}
			close(stop)
			fmt.Fprintln(d.stderr, "\nStopping when the requests in flight are finished; interrupt again to leave at once.")
		}
	}
}

// lockedWriter lets several goroutines write.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// benchmark is one run.
type benchmark struct {
	dependencies
	config *config
	stop   chan struct{}
}

// run does the run and returns the exit status.
func (b *benchmark) run(ctx context.Context) int {
	c := b.config
	transport := newTransport(c)
	defer transport.CloseIdleConnections()
	collector := otlp.External(c.OTLPEndpoint)
	undo := func() {}
	if collector == "" {
		var err error
		if undo, err = c.makeDir(); err != nil {
			return b.fail(err)
		}
	}
	if c.Simulated {
		fmt.Fprintf(b.stdout, "Simulated engine (not a real server): answers and acceptance are made up by chance, in the form of %s.\n", c.Engine)
		stopSimulator, err := startSimulator(c)
		if err != nil {
			undo()
			return b.fail(err)
		}
		defer stopSimulator()
	} else if err := reach(ctx, c, transport); err != nil {
		undo()
		return b.fail(err)
	}
	runID := uuid.NewString()
	t, err := b.newTelemetry(ctx, c, runID, b.stdout, b.stderr)
	if err != nil {
		undo()
		return b.fail(err)
	}
	l := &load{config: c, client: newClient(instrumentation.NewTransport(transport, t.Options()...)), now: b.now, stop: b.stop}

	var warmup, profiling counts
	if c.Warmup > 0 {
		warmup, err = b.do(ctx, l, phase{name: semconv.PhaseWarmup, prompts: c.WarmupPrompts, requests: c.Warmup})
	}
	if err == nil {
		index := 0
		if c.Warmup > 0 {
			index = 1
		}
		profiling, err = b.do(ctx, l, phase{name: semconv.PhaseProfiling, index: index, prompts: c.Prompts, requests: c.Requests, duration: c.Duration})
	}
	outcome := runOutcome{
		Warmup:     phaseCounts{warmup.Issued, warmup.Failed, warmup.Cancelled},
		Profiling:  phaseCounts{profiling.Issued, profiling.Failed, profiling.Cancelled},
		Cancelled:  b.stopped() || ctx.Err() != nil,
		RawRecords: warmup.RawRecords + profiling.RawRecords,
	}
	if finishErr := t.FinishRun(ctx, outcome); finishErr != nil {
		b.fail(finishErr)
		err = finishErr
	} else if err != nil {
		b.fail(err)
	}
	if collector != "" {
		fmt.Fprintf(b.stdout, "Run %s was sent to %s, where its report is made.\n", runID, printable(collector))
	}
	b.summarize(warmup, profiling)
	switch {
	case err != nil:
		return statusFailed
	case outcome.Cancelled:
		return statusInterrupted
	case profiling.Issued == 0:
		return b.fail(errors.New("no request was sent"))
	case profiling.Failed == profiling.Issued:
		return b.fail(fmt.Errorf("all %s failed", plural(profiling.Issued, "request")))
	}
	return statusOK
}

// do runs a phase and shows its progress.
func (b *benchmark) do(ctx context.Context, l *load, p phase) (counts, error) {
	var t tally
	done, shown := make(chan struct{}), make(chan struct{})
	show := &progress{w: b.stderr, terminal: b.terminal, now: b.now}
	ticker := show.ticker()
	defer ticker.Stop()
	go func() {
		show.follow(p, &t, ticker.C, done)
		close(shown)
	}()
	err := l.run(ctx, p, &t)
	close(done)
	<-shown
	return t.snapshot(), err
}

// stopped reports whether the user has asked for the run's end.
func (b *benchmark) stopped() bool {
	select {
	case <-b.stop:
		return true
	default:
		return false
	}
}

// fail says what is wrong, a line for each part of it, and returns the exit status for it.
func (b *benchmark) fail(err error) int {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintf(b.stderr, "loadgen: %s\n", printable(line))
	}
	return statusFailed
}

// summarize says what was sent and what became of it.
func (b *benchmark) summarize(warmup, profiling counts) {
	for _, p := range []struct {
		title string
		counts
	}{{"Warm-up", warmup}, {"Requests", profiling}} {
		if p.Issued == 0 && p.title == "Warm-up" {
			continue
		}
		fmt.Fprintf(b.stdout, "%s: %d sent, %d failed, %d cancelled\n", p.title, p.Issued, p.Failed, p.Cancelled)
		if p.FirstFailure != "" {
			fmt.Fprintf(b.stderr, "loadgen: %s failed; the first: %s\n", plural(p.Failed, "request"), p.FirstFailure)
		}
		if p.RawDropped > 0 {
			fmt.Fprintf(b.stderr, "loadgen: %s without bodies; the first: %s\n", plural(p.RawDropped, "raw record"), printable(p.FirstDropped))
		}
	}
}
