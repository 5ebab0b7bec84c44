package collectorexporter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
)

// specDecodeExporter is the state that the signals of one configured exporter share.
type specDecodeExporter struct {
	config *Config
	log    *zap.Logger
	stdout io.Writer

	mu   sync.Mutex
	runs map[string]*run
	// users is how many signals have started and not shut down.
	users int
}

// start checks, before anything is accepted, that there is a place for reports.
func (e *specDecodeExporter) start(context.Context, component.Host) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.users++
	if e.users > 1 {
		return nil
	}
	return makeFolder(e.config.Directory)
}

// shutdown completes what is open, when it is the last signal's.
func (e *specDecodeExporter) shutdown(context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.users--; e.users > 0 {
		return nil
	}
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(e.runs)) {
		if r := e.runs[id]; !r.done {
			errs = append(errs, e.report(r))
		}
	}
	return errors.Join(errs...)
}

// pushTraces takes in a batch of spans. An error means that the sender should send the batch again; what of it was
// taken in is recognised then.
func (e *specDecodeExporter) pushTraces(_ context.Context, td ptrace.Traces) error {
	b := batch{e: e}
	for _, rs := range td.ResourceSpans().All() {
		res, err := decodeResource(rs.Resource())
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				switch {
				case !isRequest(span) && !isRun(span):
				case err != nil:
					b.skip(res, err)
				case isRequest(span):
					if o, err := decodeRequest(res, span); err != nil {
						b.skip(res, err)
					} else {
						b.requests = append(b.requests, o)
					}
				default:
					if n, err := decodeRun(res, span); err != nil {
						b.skip(res, err)
					} else {
						b.announcements = append(b.announcements, n)
					}
				}
			}
		}
	}
	return b.apply()
}

// pushLogs takes in a batch of logs: the raw records among them.
func (e *specDecodeExporter) pushLogs(_ context.Context, ld plog.Logs) error {
	b := batch{e: e}
	for _, rl := range ld.ResourceLogs().All() {
		res, err := decodeResource(rl.Resource())
		for _, sl := range rl.ScopeLogs().All() {
			for _, record := range sl.LogRecords().All() {
				switch {
				case !isRaw(record):
				case err != nil:
					b.skip(res, err)
				default:
					if line, err := decodeRaw(res, record); err != nil {
						b.skip(res, err)
					} else {
						b.raws = append(b.raws, line)
					}
				}
			}
		}
	}
	return b.apply()
}

// batch is what was decoded of one delivery. Decoding needs no lock; applying does.
type batch struct {
	e             *specDecodeExporter
	requests      []*observation
	announcements []*announcement
	raws          []*rawLine
	skipped       []skipped
}

// skipped is a span or record that could not be used.
type skipped struct {
	runID string
	err   error
}

func (b *batch) skip(r resource, err error) { b.skipped = append(b.skipped, skipped{r.runID, err}) }

// apply takes the batch into its runs and writes the reports of those that it completes.
func (b *batch) apply() error {
	e := b.e
	e.mu.Lock()
	defer e.mu.Unlock()
	touched := map[*run]struct{}{}
	var late int
	into := func(id string, add func(*run) error) error {
		r, err := e.run(id)
		if err != nil {
			return err
		}
		if r.done {
			// The report is written and changes no more, whether this comes again or late.
			late++
			return nil
		}
		touched[r] = struct{}{}
		return add(r)
	}
	for _, o := range b.requests {
		if err := into(o.runID, func(r *run) error { return r.add(o) }); err != nil {
			return err
		}
	}
	for _, line := range b.raws {
		if err := into(line.runID, func(r *run) error { return r.addRaw(line) }); err != nil {
			return err
		}
	}
	for _, n := range b.announcements {
		if err := into(n.runID, func(r *run) error { r.announce(n); return nil }); err != nil {
			return err
		}
	}
	if len(b.skipped) > 0 {
		e.log.Warn("skipped malformed telemetry", zap.Int("skipped", len(b.skipped)), zap.NamedError("first", b.skipped[0].err))
		for _, skipped := range b.skipped {
			// A malformed span opens no run.
			if r, ok := e.runs[skipped.runID]; ok && !r.done {
				bump(r.skipped, skipped.err.Error(), otherReasons)
			}
		}
	}
	if late > 0 {
		e.log.Warn("telemetry of a run whose report is written, late or sent again", zap.Int("dropped", late))
	}
	for r := range touched {
		if err := r.flush(); err != nil {
			return err
		}
		if r.complete() {
			if err := e.report(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// run returns the run with the id, opened if need be.
func (e *specDecodeExporter) run(id string) (*run, error) {
	if r, ok := e.runs[id]; ok {
		return r, nil
	}
	r, err := newRun(id, e.config)
	if err != nil {
		return nil, err
	}
	e.runs[id] = r
	return r, nil
}

// report writes a run's files and its console section, and lets go of its state.
func (e *specDecodeExporter) report(r *run) error {
	s := newSummary(r)
	paths, err := r.write(s, e.config)
	if err != nil {
		return err
	}
	e.log.Info("wrote the report of a run", zap.String("run", r.id), zap.String("folder", r.folder),
		zap.Int64("requests", s.Coverage.Requests), zap.Int64("records", s.Coverage.Verified),
		zap.Int64("duplicates", r.duplicates), zap.String("missing", s.IncompleteReason))
	r.phases, r.spans, r.raws = nil, nil, nil
	if e.config.Console.Enabled {
		if err := e.print(s, paths); err != nil {
			// The files are there; refusing the batch would not bring the console back.
			e.log.Error("cannot print the report", zap.String("run", r.id), zap.Error(err))
		}
	}
	return nil
}

func (e *specDecodeExporter) print(s *Summary, paths []string) error {
	if err := writeConsole(e.stdout, s, e.config.Console.TitlePrefix); err != nil {
		return err
	}
	_, err := fmt.Fprintf(e.stdout, "\nFiles: %s\n", strings.Join(paths, "\n       "))
	return err
}
