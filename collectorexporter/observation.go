package collectorexporter

import (
	"github.com/specdecode/otel/semconv/acceptance"
)

// spanKey identifies a span over all traces.
type spanKey struct {
	trace [16]byte
	span  [8]byte
}

// identity is what a request's span and its raw record have in common: which request it was, and when.
type identity struct {
	key spanKey

	runID, instance string

	phase      string
	phaseIndex int64
	// index is the order of issue within the phase; absent outside of a benchmark.
	index acceptance.Int

	requestID, correlationID, conversationID string
	turn                                     int64
	category                                 string

	// Times in nanoseconds since the Unix epoch. issued and headers are 0 when unknown.
	issued, start, headers, end int64

	cancelled bool
}

// observation is one request as the report sees it.
type observation struct {
	identity

	outcome string
	// record is nil when there is none; corrupt then says why, when that was because of its contents.
	record           *acceptance.Record
	corrupt, ignored string
	// missing says why there are no stats, if the answer gave it away.
	missing string

	inputTokens, outputTokens acceptance.Int

	streamed bool
	// Arrivals of chunks with content in nanoseconds after the start; absent when there was no such chunk.
	firstChunk, secondChunk, lastChunk acceptance.Int
	// chunkGaps are the nanoseconds between chunks; nil when they were not sent.
	chunkGaps []int64

	failure *failure
}

// failure is why a request failed. Failures that are equal are counted as one.
type failure struct {
	Code    int64  `json:"code,omitempty"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

// announcement is what a run's own span says about the run.
type announcement struct {
	key   spanKey
	runID string

	config    string
	version   string
	cancelled bool

	warmup, profiling announced
	rawRecords        int64
}

// announced counts the requests that a sender made in one phase.
type announced struct {
	requests, failed, cancelled int64
}
