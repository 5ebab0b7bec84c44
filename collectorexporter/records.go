package collectorexporter

import (
	"encoding/hex"

	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

// lineMetadata is the first member of every line of the JSONL files.
type lineMetadata struct {
	SessionNum     int64  `json:"session_num"`
	RequestID      string `json:"x_request_id,omitempty"`
	CorrelationID  string `json:"x_correlation_id,omitempty"`
	ConversationID string `json:"conversation_id,omitempty"`
	TurnIndex      int64  `json:"turn_index"`
	CreditIssued   int64  `json:"credit_issued_ns"`
	RequestStart   int64  `json:"request_start_ns"`
	RequestAck     int64  `json:"request_ack_ns,omitempty"`
	RequestEnd     int64  `json:"request_end_ns"`
	WorkerID       string `json:"worker_id"`
	ProcessorID    string `json:"record_processor_id"`
	Phase          string `json:"benchmark_phase"`
	PhaseKind      string `json:"phase_kind"`
	PhaseIndex     int64  `json:"phase_index"`
	WasCancelled   bool   `json:"was_cancelled"`
	SourceKind     string `json:"source_kind,omitempty"`
	TraceID        string `json:"trace_id"`
	SpanID         string `json:"span_id"`
}

// processorID names this exporter where AIPerf names one of its processes.
const processorID = "spec_decode"

// newMetadata fills in what follows from other members; arrival is the session's number if the sender gave none.
func newMetadata(id *identity, arrival int64) lineMetadata {
	m := lineMetadata{
		SessionNum:     arrival,
		RequestID:      id.requestID,
		CorrelationID:  id.correlationID,
		ConversationID: id.conversationID,
		TurnIndex:      id.turn,
		CreditIssued:   id.issued,
		RequestStart:   id.start,
		RequestAck:     id.headers,
		RequestEnd:     id.end,
		WorkerID:       id.instance,
		ProcessorID:    processorID,
		Phase:          id.phase,
		PhaseKind:      id.phase,
		PhaseIndex:     id.phaseIndex,
		WasCancelled:   id.cancelled,
		SourceKind:     id.category,
		TraceID:        hex.EncodeToString(id.key.trace[:]),
		SpanID:         hex.EncodeToString(id.key.span[:]),
	}
	if index, ok := id.index.Get(); ok {
		m.SessionNum = index
	}
	if id.issued == 0 {
		m.CreditIssued = id.start
	}
	return m
}

// recordLine is a line of profile_export.jsonl.
type recordLine struct {
	Metadata lineMetadata           `json:"metadata"`
	Metrics  map[string]recordValue `json:"metrics"`
	Error    *failure               `json:"error,omitempty"`
	Record   *acceptance.Record     `json:"spec_decode_acceptance,omitempty"`
}

type recordValue struct {
	// Value is a number, or a list of them.
	Value any    `json:"value"`
	Unit  string `json:"unit"`
}

func newRecordLine(o *observation, arrival int64) recordLine {
	line := recordLine{
		Metadata: newMetadata(&o.identity, arrival),
		Metrics:  map[string]recordValue{},
		Error:    o.failure,
	}
	if o.outcome == semconv.OutcomeError {
		return line
	}
	if o.outcome == semconv.OutcomeVerified {
		line.Record = o.record
	}
	for _, m := range metrics {
		if v := m.valueOf(o, line.Record); v != nil {
			line.Metrics[m.tag] = recordValue{v, m.unit}
		}
	}
	return line
}

// valueOf is one request's value of a per-request metric, or nil.
func (m *metric) valueOf(o *observation, r *acceptance.Record) any {
	var v float64
	var ok bool
	switch {
	case m.triple != nil && r != nil:
		v, ok = m.triple(r.Triple())
	case m.count != nil:
		v, ok = known(m.count(o))
	case m.timing != nil:
		v, ok = m.timing(o)
	case m.timings != nil:
		if list := m.timings(o); len(list) > 0 {
			return list
		}
	}
	if !ok {
		return nil
	}
	return v
}
