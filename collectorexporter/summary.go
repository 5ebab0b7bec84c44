package collectorexporter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

// Summary is everything that the reports of a run say. It is derived from the run's state and never changed.
type Summary struct {
	RunID string
	// Config is the sender's configuration, a JSON object; nil when it sent none.
	Config json.RawMessage
	// ToolVersion is the sender's version.
	ToolVersion string
	// Start and End span the profiling phase; zero when there was no request.
	Start, End time.Time
	// Cancelled is set when the run was stopped before its end.
	Cancelled bool
	// IncompleteReason says what is missing; empty when all that was announced is there.
	IncompleteReason string
	// Figures are the metrics of the profiling phase that exist, sorted by tag; Warmup those of the warm-up.
	Figures, Warmup []Figure
	// Histogram is the pooled acceptance histogram of the profiling phase; nil when there is none.
	Histogram acceptance.Histogram
	Coverage  Coverage
	// Missing is the most frequent reason for answers without stats, a Missing constant of semconv or "".
	Missing string
	// Errors are the failures of the profiling phase, the most frequent first.
	Errors []ErrorCount
}

// Figure is one metric of a phase: statistics over requests, or one value of the whole phase when Stats is nil.
type Figure struct {
	*metric
	Stats *Stats
	Value float64
}

// avg is what the column avg shows.
func (f *Figure) avg() float64 {
	if f.Stats != nil {
		return f.Stats.Avg
	}
	return f.Value
}

// Coverage says which requests of the profiling phase the figures are made of.
type Coverage struct {
	// Requests is the number of requests that succeeded; each is one of the following four.
	Requests int64 `json:"requests"`
	Verified int64 `json:"verified"`
	ZeroStep int64 `json:"zero_step"`
	NoStats  int64 `json:"no_stats"`
	Corrupt  int64 `json:"corrupt_stats"`
	// Failed and Cancelled requests are in no figure.
	Failed    int64 `json:"failed"`
	Cancelled int64 `json:"cancelled"`
	// Histograms is how many of the verified requests are in the pooled histogram.
	Histograms int64 `json:"with_histogram"`
	// CorruptReasons and Ignored count requests by what was wrong.
	CorruptReasons map[string]int64 `json:"corrupt_reasons,omitempty"`
	Ignored        map[string]int64 `json:"ignored_members,omitempty"`
	// Skipped counts spans and raw records of the run that could not be read, by what was wrong.
	Skipped map[string]int64 `json:"skipped,omitempty"`
}

// ErrorCount is a failure and how many requests it hit.
type ErrorCount struct {
	Details failure `json:"error_details"`
	Count   int64   `json:"count"`
}

// newSummary derives the summary of a run.
func newSummary(r *run) *Summary {
	p := r.phases[semconv.PhaseProfiling]
	s := &Summary{
		RunID:            r.id,
		IncompleteReason: r.missing(),
		Figures:          figures(p),
		Histogram:        p.pool.Histogram.Trim(),
		Coverage: Coverage{
			Requests:       p.succeeded,
			Verified:       p.outcomes[semconv.OutcomeVerified],
			ZeroStep:       p.outcomes[semconv.OutcomeZeroStep],
			NoStats:        p.outcomes[semconv.OutcomeNoStats],
			Corrupt:        p.outcomes[semconv.OutcomeCorruptStats],
			Failed:         p.failed,
			Cancelled:      p.cancelled,
			Histograms:     p.pool.Histograms,
			CorruptReasons: p.corrupt,
			Ignored:        p.ignored,
			Skipped:        r.skipped,
		},
	}
	for reason, n := range p.missing {
		if n > p.missing[s.Missing] || n == p.missing[s.Missing] && reason > s.Missing {
			s.Missing = reason
		}
	}
	if w := r.phases[semconv.PhaseWarmup]; w.requests() > 0 {
		s.Warmup = figures(w)
	}
	if p.requests() > 0 {
		s.Start, s.End = time.Unix(0, p.firstStart), time.Unix(0, p.lastEnd)
	}
	for _, n := range r.announcements {
		s.Cancelled = s.Cancelled || n.cancelled
		s.ToolVersion = cmp.Or(s.ToolVersion, n.version)
		if s.Config == nil && json.Valid([]byte(n.config)) {
			s.Config = json.RawMessage(n.config)
		}
	}
	for f, n := range p.failures {
		s.Errors = append(s.Errors, ErrorCount{f, n})
	}
	slices.SortFunc(s.Errors, func(a, b ErrorCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Details.Code, b.Details.Code),
			cmp.Compare(a.Details.Type, b.Details.Type), cmp.Compare(a.Details.Message, b.Details.Message))
	})
	return s
}

// figures computes the metrics of a phase that exist.
func figures(p *phase) []Figure {
	var figures []Figure
	for _, m := range metrics {
		f := Figure{metric: m}
		ok := false
		if m.perRequest() {
			f.Stats = newStats(p.values(m))
			ok = f.Stats != nil
		} else {
			f.Value, ok = m.run(p)
		}
		if ok {
			figures = append(figures, f)
		}
	}
	return figures
}

// hasStats reports whether any request carried stats, so that there is something to show.
func (s *Summary) hasStats() bool { return s.Coverage.Verified+s.Coverage.ZeroStep > 0 }

// hint is what to do when there are no stats at all, by what the answers gave away.
func (s *Summary) hint() string {
	switch s.Missing {
	case semconv.MissingUsage:
		return `The streams had no usage, and vLLM sends stats with it: ask for "stream_options": {"include_usage": true}, with --per-request-spec-decode-metrics summary on the server`
	case semconv.MissingRequestFlag:
		return `SGLang sends them to requests that ask: "return_spec_tokens_details": true`
	case semconv.MissingKind:
		return none
	case semconv.MissingGateway:
		return "They came through LiteLLM, which passes on no members that it does not know: ask the engine itself"
	}
	return "vLLM sends them with --per-request-spec-decode-metrics summary (older builds: --per-request-spec-decode-stats summary); a gateway can strip them"
}

// none is which requests vLLM gives no stats for, measured on vLLM 0.32.
const none = "vLLM gives none for n > 1, several prompts, beam search, stop strings and /v1/responses"

// maxNotes bounds how many reasons and failures the console lists one by one.
const maxNotes = 5

// notes are the lines that say what the figures do not cover.
func (s *Summary) notes() []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	c := s.Coverage
	if s.IncompleteReason != "" {
		add("Incomplete: %s.", s.IncompleteReason)
	}
	if s.Cancelled {
		add("The run was cancelled before its end.")
	}
	switch {
	case c.Requests == 0:
	case c.NoStats == c.Requests:
		add("No speculative decoding stats in %s. %s.", plural(c.Requests, "answer"), s.hint())
	case c.Verified < c.Requests:
		add("Stats of %d of %s: %d ran no verify step, %d carried none, %d were corrupt.",
			c.Verified, plural(c.Requests, "answer"), c.ZeroStep, c.NoStats, c.Corrupt)
		if c.NoStats > 0 {
			add("No stats: %s.", none)
		}
	}
	if c.Histograms < c.Verified {
		add("The histogram covers %d of %s.", c.Histograms, plural(c.Verified, "request"))
	}
	for _, reason := range frequent(c.CorruptReasons) {
		add("Corrupt stats, %s", reason)
	}
	for _, reason := range frequent(c.Ignored) {
		add("Left out, %s", reason)
	}
	for _, reason := range frequent(c.Skipped) {
		add("Skipped malformed telemetry, %s", reason)
	}
	if c.Failed > 0 {
		add("Failed: %d of %s.", c.Failed, plural(c.Requests+c.Failed, "request"))
	}
	for i, e := range s.Errors {
		if i == maxNotes {
			add("Failed, %d other errors", len(s.Errors)-i)
			break
		}
		add("Failed, %s: %s: %s", times(e.Count), e.Details.Type, e.Details.Message)
	}
	if c.Cancelled > 0 {
		add("Cancelled: %s.", plural(c.Cancelled, "request"))
	}
	return notes
}

// frequent lists reasons with their counts, the most frequent first, bounded by maxNotes.
func frequent(counts map[string]int64) []string {
	reasons := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var lines []string
	for i, reason := range reasons {
		if i == maxNotes {
			return append(lines, fmt.Sprintf("%d other reasons", len(reasons)-i))
		}
		lines = append(lines, fmt.Sprintf("%s: %s", times(counts[reason]), reason))
	}
	return lines
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
