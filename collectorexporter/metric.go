package collectorexporter

import (
	"github.com/specdecode/otel/semconv/acceptance"
)

// metric declares one figure of the report, once for every format. Exactly one of the functions is set; a function
// that returns false says that the figure is absent.
type metric struct {
	tag, header, unit string
	// order is the metric's place on the console; 0 keeps it off.
	order int

	// triple derives a per-request figure from the request's counts.
	triple func(acceptance.Triple) (float64, bool)
	// count is a per-request count.
	count func(*observation) acceptance.Int
	// timing is a per-request time or speed.
	timing func(*observation) (float64, bool)
	// timings are several times of one request; statistics are over all of them.
	timings func(*observation) []float64
	// run derives a figure of the whole phase.
	run func(*phase) (float64, bool)
}

// perRequest tells metrics that have statistics over requests from metrics of the whole run.
func (m *metric) perRequest() bool { return m.run == nil }

// name is the header with the unit, as the CSV has it.
func (m *metric) name() string {
	if m.unit == "count" || m.unit == "requests" {
		return m.header
	}
	return m.header + " (" + m.unit + ")"
}

// metrics are all figures, sorted by tag.
var metrics = []*metric{
	{tag: "benchmark_duration", header: "Benchmark Duration", unit: "sec", run: (*phase).duration},
	{tag: "error_request_count", header: "Error Request Count", unit: "requests", run: func(p *phase) (float64, bool) {
		return float64(p.failed), p.failed > 0
	}},
	{tag: "input_sequence_length", header: "Input Sequence Length", unit: "tokens", count: func(o *observation) acceptance.Int {
		return o.inputTokens
	}},
	{tag: "inter_chunk_latency", header: "Inter Chunk Latency", unit: "ms", timings: (*observation).gaps},
	{tag: "inter_token_latency", header: "Inter Token Latency", unit: "ms", timing: (*observation).interToken},
	{tag: "output_sequence_length", header: "Output Sequence Length", unit: "tokens", count: func(o *observation) acceptance.Int {
		return o.outputTokens
	}},
	{tag: "output_token_throughput", header: "Output Token Throughput", unit: "tokens/sec", run: func(p *phase) (float64, bool) {
		return p.perSecond(p.total("output_sequence_length"))
	}},
	{tag: "output_token_throughput_per_user", header: "Output Token Throughput Per User", unit: "tokens/sec/user", timing: (*observation).tokensPerSecond},
	{tag: "request_count", header: "Request Count", unit: "requests", run: func(p *phase) (float64, bool) {
		return float64(p.succeeded), true
	}},
	{tag: "request_error_rate", header: "Request Error Rate", unit: "%", run: func(p *phase) (float64, bool) {
		return percent(acceptance.Ratio(p.failed, p.succeeded+p.failed))
	}},
	{tag: "request_latency", header: "Request Latency", unit: "ms", timing: (*observation).latency},
	{tag: "request_throughput", header: "Request Throughput", unit: "requests/sec", run: func(p *phase) (float64, bool) {
		return p.perSecond(p.succeeded, true)
	}},
	{tag: "spec_decode_acceptance_length", header: "Acceptance Length", unit: "ratio", order: 5000, triple: acceptance.Triple.Length},
	{tag: "spec_decode_accepted_draft_tokens", header: "Accepted Draft Tokens", unit: "tokens", triple: func(t acceptance.Triple) (float64, bool) {
		return float64(t.Accepted), true
	}},
	{tag: "spec_decode_accepted_per_verified", header: "Accepted per Verified", unit: "ratio", order: 5030, triple: acceptance.Triple.PerVerified},
	{tag: "spec_decode_draft_acceptance_rate", header: "Draft Acceptance Rate", unit: "%", order: 5020, triple: func(t acceptance.Triple) (float64, bool) {
		return percent(t.Rate())
	}},
	{tag: "spec_decode_draft_tokens", header: "Draft Tokens", unit: "tokens", triple: func(t acceptance.Triple) (float64, bool) {
		return float64(t.Drafted), true
	}},
	{tag: "spec_decode_overall_draft_acceptance_rate", header: "Overall Draft Acceptance Rate", unit: "%", order: 5025, run: func(p *phase) (float64, bool) {
		return percent(p.pool.Totals().Rate())
	}},
	{tag: "spec_decode_steps", header: "Spec Decode Steps", unit: "count", order: 5040, triple: func(t acceptance.Triple) (float64, bool) {
		return known(t.Steps)
	}},
	{tag: "spec_decode_token_weighted_acceptance_length", header: "Token-Weighted Acceptance Length", unit: "ratio", order: 5010, run: func(p *phase) (float64, bool) {
		return p.pool.Totals().Length()
	}},
	{tag: "spec_decode_zero_step_requests", header: "Zero-Step Requests", unit: "requests", order: 5045, run: func(p *phase) (float64, bool) {
		return float64(p.pool.ZeroStep), p.pool.ZeroStep > 0
	}},
	{tag: "time_to_first_token", header: "Time to First Token", unit: "ms", timing: (*observation).timeToFirst},
	{tag: "time_to_second_token", header: "Time to Second Token", unit: "ms", timing: (*observation).timeToSecond},
	{tag: "total_accepted_draft_tokens", header: "Total Accepted Draft Tokens", unit: "tokens", run: func(p *phase) (float64, bool) {
		return float64(p.pool.Totals().Accepted), p.pool.Requests() > 0
	}},
	{tag: "total_draft_tokens", header: "Total Draft Tokens", unit: "tokens", run: func(p *phase) (float64, bool) {
		return float64(p.pool.Totals().Drafted), p.pool.Requests() > 0
	}},
	{tag: "total_isl", header: "Total Input Sequence Length", unit: "tokens", run: func(p *phase) (float64, bool) {
		n, ok := p.total("input_sequence_length")
		return float64(n), ok
	}},
	{tag: "total_osl", header: "Total Output Sequence Length", unit: "tokens", run: func(p *phase) (float64, bool) {
		n, ok := p.total("output_sequence_length")
		return float64(n), ok
	}},
	{tag: "total_spec_decode_steps", header: "Total Spec Decode Steps", unit: "count", run: func(p *phase) (float64, bool) {
		n := p.pool.Totals().Steps
		return float64(n), n > 0
	}},
}

func known(i acceptance.Int) (float64, bool) {
	n, ok := i.Get()
	return float64(n), ok
}

// percent turns a ratio into a percentage; the order of division and multiplication decides the last digit.
func percent(ratio float64, ok bool) (float64, bool) { return ratio * 100, ok }
