package acceptance

import (
	"errors"
	"fmt"
)

// Record is what an engine reported about one request, in one form for all engines.
type Record struct {
	// Engine is one of the engine names of package semconv.
	Engine string
	// Accepted is A, Drafted is D. Both are always known: a payload without them is no record.
	Accepted, Drafted int64
	// Steps is S; absent when the engine does not count steps (llama.cpp).
	Steps Int
	// Histogram counts steps by accepted draft tokens; nil when not reported.
	Histogram Histogram
	// MaxDraft is k, the bound of draft tokens per step; absent when there is no fixed one.
	MaxDraft Int
	// CompletionTokens is the usage's count of output tokens; absent without usage.
	CompletionTokens Int
	// StepAccepted and StepDrafted have one element per step, in order; nil when not reported.
	StepAccepted, StepDrafted []int64
	// ByDraftLength is the joint histogram; nil when not reported.
	ByDraftLength ByDraftLength
}

// MaxCount bounds every count of a record. Up to here a count is exact as a double, so that ratios are exact to the
// last digit, and sums of many records stay far from overflow. Real requests stay below a million.
const MaxCount = 1 << 40

// MaxDraftLength bounds the number of draft tokens per step, and so the length of a histogram from the network. Real
// drafters stay below 300.
const MaxDraftLength = 4096

// Validate checks the identities that hold for every record and returns an error that says which one is broken. A
// record that breaks one is not used.
func (r *Record) Validate() error {
	steps, hasSteps := r.Steps.Get()
	k, hasK := r.MaxDraft.Get()
	if err := checkCounts(r.Accepted, r.Drafted, steps, k); err != nil {
		return err
	}
	if r.Accepted > r.Drafted {
		return fmt.Errorf("accepted draft tokens (%d) exceed draft tokens (%d)", r.Accepted, r.Drafted)
	}
	if hasSteps && steps == 0 && r.Drafted > 0 {
		return fmt.Errorf("%d draft tokens without a verify step", r.Drafted)
	}
	if r.Histogram != nil {
		if !hasSteps {
			return errors.New("a histogram without a number of steps")
		}
		if hasK && int64(len(r.Histogram)) > k+1 {
			return fmt.Errorf("the histogram has %d buckets, with at most %d draft tokens per step", len(r.Histogram), k)
		}
		if err := r.Histogram.check(steps, r.Accepted); err != nil {
			return err
		}
	}
	return r.validateSteps()
}

func checkCounts(counts ...int64) error {
	for _, c := range counts {
		if c < 0 {
			return fmt.Errorf("a count is negative (%d)", c)
		}
		if c > MaxCount {
			return fmt.Errorf("a count is out of range (%d)", c)
		}
	}
	return nil
}

// check holds the histogram against S and A without overflow, whatever the counts.
func (h Histogram) check(steps, accepted int64) error {
	if len(h) > MaxDraftLength+1 {
		return fmt.Errorf("the histogram has %d buckets, more than %d", len(h), MaxDraftLength+1)
	}
	var sum, weighted int64
	for j, c := range h {
		if err := checkCounts(c); err != nil {
			return err
		}
		sum += c
		if weighted += int64(j) * c; weighted > MaxCount {
			return fmt.Errorf("the histogram's accepted tokens exceed %d", accepted)
		}
	}
	if sum != steps {
		return fmt.Errorf("the histogram counts %d steps, not %d", sum, steps)
	}
	if weighted != accepted {
		return fmt.Errorf("the histogram's accepted tokens are %d, not %d", weighted, accepted)
	}
	return nil
}

func (r *Record) validateSteps() error {
	if r.StepAccepted == nil && r.StepDrafted == nil {
		return nil
	}
	steps, hasSteps := r.Steps.Get()
	if !hasSteps || int64(len(r.StepAccepted)) != steps || int64(len(r.StepDrafted)) != steps {
		return fmt.Errorf("per-step arrays of %d and %d entries for %d steps", len(r.StepAccepted), len(r.StepDrafted), steps)
	}
	var accepted, drafted int64
	for i, a := range r.StepAccepted {
		d := r.StepDrafted[i]
		if err := checkCounts(a, d); err != nil {
			return err
		}
		if a > d {
			return fmt.Errorf("step %d accepts %d of %d draft tokens", i, a, d)
		}
		accepted += a
		drafted += d
	}
	if accepted != r.Accepted || drafted != r.Drafted {
		return fmt.Errorf("per-step arrays sum to %d of %d draft tokens, not %d of %d", accepted, drafted, r.Accepted, r.Drafted)
	}
	return nil
}

// CheckByDraftLength says how the joint histogram contradicts the record's other fields, or nil when it agrees. It is
// apart from [Record.Validate] because a joint histogram that disagrees is left out and the record stays good.
func (r *Record) CheckByDraftLength() error {
	if r.ByDraftLength == nil {
		return nil
	}
	if len(r.ByDraftLength) > MaxDraftLength+1 {
		return fmt.Errorf("%d rows, more than %d", len(r.ByDraftLength), MaxDraftLength+1)
	}
	var columns Histogram
	var drafted int64
	for d, row := range r.ByDraftLength {
		for _, c := range row {
			if err := checkCounts(c); err != nil {
				return err
			}
			if drafted += int64(d) * c; drafted > MaxCount {
				return fmt.Errorf("draft tokens exceed %d", r.Drafted)
			}
		}
		if len(row) > d+1 {
			return fmt.Errorf("row %d has %d columns", d, len(row))
		}
		columns = columns.Add(row)
	}
	if drafted != r.Drafted {
		return fmt.Errorf("%d draft tokens, not %d", drafted, r.Drafted)
	}
	steps, _ := r.Steps.Get()
	return columns.check(steps, r.Accepted)
}

// ZeroStep reports whether the engine reported stats and ran no verify step. Such a request counts as such and is in
// no other figure.
func (r *Record) ZeroStep() bool {
	steps, known := r.Steps.Get()
	return known && steps == 0
}

// Triple returns the counts from which every figure of the request follows.
func (r *Record) Triple() Triple {
	return Triple{Accepted: r.Accepted, Drafted: r.Drafted, Steps: r.Steps}
}

// Merge adds the record of another choice of the same request: counts and histograms are added, so that every figure
// derives again from the sums. What only one of the two knows is unknown of both; k is the larger one. The usage's
// completion tokens are the whole request's already and stay as they are.
func (r *Record) Merge(o *Record) {
	r.Accepted += o.Accepted
	r.Drafted += o.Drafted
	r.Steps = r.Steps.Plus(o.Steps)
	if k, ok := r.MaxDraft.Get(); ok {
		if other, ok := o.MaxDraft.Get(); ok {
			r.MaxDraft = Some(max(k, other))
		} else {
			r.MaxDraft = Int{}
		}
	}
	if r.Histogram == nil || o.Histogram == nil {
		r.Histogram = nil
	} else {
		r.Histogram = r.Histogram.Add(o.Histogram)
	}
	// Steps of different choices have no common order, and joint counts need every choice's.
	r.StepAccepted, r.StepDrafted, r.ByDraftLength = nil, nil, nil
}
