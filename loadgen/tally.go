package main

import (
	"maps"
	"sync"

	"github.com/specdecode/otel/instrumentation"
	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

// counts is what became of the requests of a phase.
type counts struct {
	// Issued requests are those that were sent. Failed and Cancelled ones exclude each other.
	Issued, Failed, Cancelled int64
	// Outcomes counts finished requests by semconv's Outcome constants.
	Outcomes map[string]int64
	// OutputTokens is the sum of what the server reported.
	OutputTokens int64
	// Accepted is ΣA and Steps ΣS, over requests that know both.
	Accepted, Steps int64
	// RawRecords is how many raw records were made, RawDropped how many of them are without bodies.
	RawRecords, RawDropped int64
	// FirstFailure and FirstDropped say why the first request failed, and why the first raw record has no bodies.
	FirstFailure, FirstDropped string
}

// finished is the number of requests that have ended.
func (c *counts) finished() (n int64) {
	for _, o := range c.Outcomes {
		n += o
	}
	return n
}

// acceptanceLength is 1 + ΣA/ΣS, in tokens per step.
func (c *counts) acceptanceLength() (float64, bool) {
	return acceptance.Triple{Accepted: c.Accepted, Steps: acceptance.Some(c.Steps)}.Length()
}

// tally counts while requests come in. It is safe for concurrent use.
type tally struct {
	mu     sync.Mutex
	counts counts
}

func (t *tally) issue() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts.Issued++
}

// add takes in the result of a request.
func (t *tally) add(r instrumentation.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &t.counts
	if c.Outcomes == nil {
		c.Outcomes = map[string]int64{}
	}
	c.Outcomes[r.Outcome]++
	if f := r.Failure; f != nil {
		if f.Type == semconv.ErrorCancelled {
			c.Cancelled++
		} else {
			c.Failed++
			if c.FirstFailure == "" {
				c.FirstFailure = failureText(f)
			}
		}
	}
	if n, ok := r.OutputTokens.Get(); ok {
		c.OutputTokens += n
	}
	if r.Record != nil {
		if steps, ok := r.Record.Steps.Get(); ok {
			c.Accepted += r.Record.Accepted
			c.Steps += steps
		}
	}
	if r.Raw {
		c.RawRecords++
	}
	if r.RawDropped != "" {
		c.RawDropped++
		if c.FirstDropped == "" {
			c.FirstDropped = r.RawDropped
		}
	}
}

// snapshot returns the counts as they are now.
func (t *tally) snapshot() counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.counts
	c.Outcomes = maps.Clone(c.Outcomes)
	return c
}
