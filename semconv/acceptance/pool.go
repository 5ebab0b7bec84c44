package acceptance

// Triple is (A, D, S) of one request. Requests with the same triple have the same figures.
type Triple struct {
	Accepted, Drafted int64
	// Steps is absent when the engine counts none.
	Steps Int
}

// Length is the acceptance length, 1 + A/S tokens per step.
func (t Triple) Length() (float64, bool) {
	steps, _ := t.Steps.Get()
	r, ok := Ratio(t.Accepted, steps)
	return 1 + r, ok
}

// Rate is the draft acceptance rate A/D, in 0..1.
func (t Triple) Rate() (float64, bool) { return Ratio(t.Accepted, t.Drafted) }

// PerVerified is (A+S)/(D+S), in 0..1: the share of the tokens that a verify step computed which were used.
func (t Triple) PerVerified() (float64, bool) {
	steps, known := t.Steps.Get()
	if !known {
		return 0, false
	}
	return Ratio(t.Accepted+steps, t.Drafted+steps)
}

// Pool is the state of many requests: how many had each triple, and their histograms added up. It is integers only,
// so pools merge exactly and in any order, and it grows with distinct triples, not with requests.
type Pool struct {
	// Triples counts requests by their triple. Requests that ran no step are not among them.
	Triples map[Triple]int64
	// Histogram is the pooled acceptance histogram; Histograms is the number of requests in it.
	Histogram  Histogram
	Histograms int64
	// ZeroStep is the number of requests whose engine reported stats and ran no step.
	ZeroStep int64
}

// Add takes in one request's record.
func (p *Pool) Add(r *Record) {
	if r.ZeroStep() {
		p.ZeroStep++
		return
	}
	if p.Triples == nil {
		p.Triples = map[Triple]int64{}
	}
	p.Triples[r.Triple()]++
	if r.Histogram != nil {
		p.Histogram = p.Histogram.Add(r.Histogram)
		p.Histograms++
	}
}

// Merge takes in another pool.
func (p *Pool) Merge(o *Pool) {
	for t, n := range o.Triples {
		if p.Triples == nil {
			p.Triples = map[Triple]int64{}
		}
		p.Triples[t] += n
	}
	p.Histogram = p.Histogram.Add(o.Histogram)
	p.Histograms += o.Histograms
	p.ZeroStep += o.ZeroStep
}

// Requests is the number of requests in the pool that ran a step or drafted, that is, all but [Pool.ZeroStep].
func (p *Pool) Requests() int64 {
	var n int64
	for _, c := range p.Triples {
		n += c
	}
	return n
}

// Totals are sums over a pool. AcceptedInSteps sums A over the requests that know their steps, so that a ratio to
// Steps uses only requests that have both terms.
type Totals struct {
	Accepted, Drafted, Steps, AcceptedInSteps int64
}

// Totals adds up the pool.
func (p *Pool) Totals() Totals {
	var s Totals
	for t, n := range p.Triples {
		s.Accepted += n * t.Accepted
		s.Drafted += n * t.Drafted
		if steps, known := t.Steps.Get(); known {
			s.Steps += n * steps
			s.AcceptedInSteps += n * t.Accepted
		}
	}
	return s
}

// Length is the token-weighted acceptance length, 1 + ΣA/ΣS tokens per step.
func (s Totals) Length() (float64, bool) {
	r, ok := Ratio(s.AcceptedInSteps, s.Steps)
	return 1 + r, ok
}

// Rate is the overall draft acceptance rate ΣA/ΣD, in 0..1.
func (s Totals) Rate() (float64, bool) { return Ratio(s.Accepted, s.Drafted) }
