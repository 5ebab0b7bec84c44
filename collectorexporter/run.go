package collectorexporter

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/specdecode/otel/semconv"
)

// run is the state of one run. It is not safe for concurrent use.
type run struct {
	id, folder string

	phases map[string]*phase
	// spans and raws are what was seen: a delivery that comes again is dropped.
	spans, raws map[spanKey]struct{}
	// records and rawRecords are the files in the making; nil when the level has none of them.
	records, rawRecords *lines

	announcements []*announcement
	duplicates    int64
	// skipped counts spans and records that could not be used, by what was wrong with them.
	skipped map[string]int64
	// done is set when the report is written.
	done bool
}

// newRun opens what a run writes to while it goes on.
func newRun(id string, c *Config) (*run, error) {
	r := &run{
		id:     id,
		folder: c.Directory,
		phases: map[string]*phase{semconv.PhaseWarmup: newPhase(), semconv.PhaseProfiling: newPhase()},
		spans:  map[spanKey]struct{}{},
		raws:   map[spanKey]struct{}{},

		skipped: map[string]int64{},
	}
	if c.RunFolders {
		r.folder = filepath.Join(c.Directory, folderName(id))
	}
	if err := makeFolder(r.folder); err != nil {
		return nil, err
	}
	if c.Level == LevelSummary {
		return r, nil
	}
	var err error
	if r.records, err = newLines(filepath.Join(r.folder, c.Files.Records)); err != nil {
		return nil, err
	}
	if c.Level == LevelRaw {
		if r.rawRecords, err = newLines(filepath.Join(r.folder, c.Files.Raw)); err != nil {
			r.records.discard()
			return nil, err
		}
	}
	return r, nil
}

// add takes in a request, once. When it returns an error nothing of the request is in the run.
func (r *run) add(o *observation) error {
	if _, seen := r.spans[o.key]; seen {
		r.duplicates++
		return nil
	}
	p := r.phases[o.phase]
	if r.records != nil {
		if err := r.records.add(newRecordLine(o, p.requests())); err != nil {
			return err
		}
	}
	r.spans[o.key] = struct{}{}
	p.add(o)
	return nil
}

// addRaw takes in a raw record, once. Levels without raw records leave them out.
func (r *run) addRaw(line *rawLine) error {
	if r.rawRecords == nil {
		return nil
	}
	if _, seen := r.raws[line.key]; seen {
		r.duplicates++
		return nil
	}
	line.Metadata = newMetadata(&line.identity, int64(len(r.raws)))
	if err := r.rawRecords.add(line); err != nil {
		return err
	}
	r.raws[line.key] = struct{}{}
	return nil
}

// announce takes in a run's own span, once.
func (r *run) announce(n *announcement) {
	if _, seen := r.spans[n.key]; seen {
		r.duplicates++
		return
	}
	r.spans[n.key] = struct{}{}
	r.announcements = append(r.announcements, n)
}

// missing says in words what keeps the run from being complete, or is empty.
func (r *run) missing() string {
	if len(r.announcements) == 0 {
		if r.id == "" {
			// Requests outside of a benchmark announce nothing.
			return ""
		}
		return "the run's own span did not arrive"
	}
	var missing []string
	report := func(what string, announced, received int64) {
		if received < announced {
			missing = append(missing, fmt.Sprintf("%d of %d %s did not arrive", announced-received, announced, what))
		}
	}
	var warmup, profiling, raw int64
	for _, n := range r.announcements {
		warmup += n.warmup.requests
		profiling += n.profiling.requests
		raw += n.rawRecords
	}
	report("warm-up requests", warmup, r.phases[semconv.PhaseWarmup].requests())
	report("profiling requests", profiling, r.phases[semconv.PhaseProfiling].requests())
	if r.rawRecords != nil {
		report("raw records", raw, int64(len(r.raws)))
	}
	return strings.Join(missing, ", ")
}

// complete reports whether everything that the run announced is there.
func (r *run) complete() bool { return len(r.announcements) > 0 && r.missing() == "" }

// flush hands the lines of a batch to the operating system.
func (r *run) flush() error {
	for _, l := range r.files() {
		if err := l.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) files() []*lines {
	return slices.DeleteFunc([]*lines{r.records, r.rawRecords}, func(l *lines) bool { return l == nil })
}

// write makes the report's files and returns their paths. It can be called again after an error.
func (r *run) write(s *Summary, c *Config) ([]string, error) {
	paths := []string{filepath.Join(r.folder, c.Files.JSON), filepath.Join(r.folder, c.Files.CSV)}
	if err := writeFile(paths[0], func(w io.Writer) error { return writeJSON(w, s) }); err != nil {
		return nil, err
	}
	if err := writeFile(paths[1], func(w io.Writer) error { return writeCSV(w, s) }); err != nil {
		return nil, err
	}
	for _, l := range r.files() {
		if err := l.close(); err != nil {
			return nil, err
		}
		paths = append(paths, l.path)
	}
	r.done = true
	return paths, nil
}
