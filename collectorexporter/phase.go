package collectorexporter

import (
	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

// phase is the state of one phase of a run: integers, from which every figure is derived at the end, and the
// latencies.
type phase struct {
	pool acceptance.Pool

	// counts holds, for each per-request count, how many requests have each value.
	counts map[*metric]map[int64]int64
	// samples holds all values of each per-request time.
	samples map[*metric][]float64

	// outcomes is the number of requests of each outcome.
	outcomes map[string]int64
	// corrupt and ignored count requests by what was wrong with their stats.
	corrupt, ignored map[string]int64
	// missing counts requests without stats by the reason that their answers gave away.
	missing  map[string]int64
	failures map[failure]int64

	// A request succeeded, failed or was cancelled.
	succeeded, failed, cancelled int64

	// firstStart and lastEnd span all requests, firstGood and lastGood those that succeeded; Unix nanoseconds.
	firstStart, lastEnd, firstGood, lastGood int64
}

func newPhase() *phase {
	return &phase{
		counts:   map[*metric]map[int64]int64{},
		samples:  map[*metric][]float64{},
		outcomes: map[string]int64{},
		corrupt:  map[string]int64{},
		ignored:  map[string]int64{},
		missing:  map[string]int64{},
		failures: map[failure]int64{},
	}
}

// requests is the number of requests seen.
func (p *phase) requests() int64 { return p.succeeded + p.failed + p.cancelled }

// maxReasons bounds the distinct reasons and failures that are told apart; the rest is counted together.
const maxReasons = 100

func bump[K comparable](counts map[K]int64, key, other K) {
	if _, seen := counts[key]; !seen && len(counts) >= maxReasons {
		key = other
	}
	counts[key]++
}

const otherReasons = "other reasons"

func (p *phase) add(o *observation) {
	extend(&p.firstStart, &p.lastEnd, o)
	p.outcomes[o.outcome]++
	if o.outcome == semconv.OutcomeError {
		if o.cancelled {
			p.cancelled++
		} else {
			p.failed++
			bump(p.failures, *o.failure, failure{Type: otherReasons})
		}
		return
	}
	p.succeeded++
	extend(&p.firstGood, &p.lastGood, o)
	if o.outcome == semconv.OutcomeCorruptStats {
		bump(p.corrupt, o.corrupt, otherReasons)
	}
	if o.outcome == semconv.OutcomeNoStats {
		bump(p.missing, o.missing, "")
	}
	if o.ignored != "" {
		bump(p.ignored, o.ignored, otherReasons)
	}
	if o.record != nil {
		p.pool.Add(o.record)
	}
	for _, m := range metrics {
		p.addMetric(m, o)
	}
}

func (p *phase) addMetric(m *metric, o *observation) {
	switch {
	case m.count != nil:
		if n, ok := m.count(o).Get(); ok {
			if p.counts[m] == nil {
				p.counts[m] = map[int64]int64{}
			}
			p.counts[m][n]++
		}
	case m.timing != nil:
		if v, ok := m.timing(o); ok {
			p.samples[m] = append(p.samples[m], v)
		}
	case m.timings != nil:
		p.samples[m] = append(p.samples[m], m.timings(o)...)
	}
}

func extend(first, last *int64, o *observation) {
	if *first == 0 || o.start < *first {
		*first = o.start
	}
	*last = max(*last, o.end)
}

// values are the values of a per-request metric with their numbers of requests, in no order.
func (p *phase) values(m *metric) []weighted {
	var values []weighted
	switch {
	case m.triple != nil:
		for t, n := range p.pool.Triples {
			if v, ok := m.triple(t); ok {
				values = append(values, weighted{v, n})
			}
		}
	case m.count != nil:
		for v, n := range p.counts[m] {
			values = append(values, weighted{float64(v), n})
		}
	default:
		for _, v := range p.samples[m] {
			values = append(values, weighted{v, 1})
		}
	}
	return values
}

// total adds up a per-request count, named by its tag; ok is false when no request has it.
func (p *phase) total(tag string) (total int64, ok bool) {
	for m, counts := range p.counts {
		if m.tag == tag {
			for v, n := range counts {
				total += v * n
			}
			return total, true
		}
	}
	return 0, false
}

// duration is from the first start to the last end of the requests that succeeded, in seconds.
func (p *phase) duration() (float64, bool) {
	return float64(p.lastGood-p.firstGood) / 1e9, p.succeeded > 0
}

func (p *phase) perSecond(n int64, ok bool) (float64, bool) {
	seconds, _ := p.duration()
	if !ok || seconds <= 0 {
		return 0, false
	}
	return float64(n) / seconds, true
}
