package collectorexporter

import (
	"encoding/json"
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/specdecode/otel/semconv"
)

// rawLine is a line of profile_export_raw.jsonl: the record's metadata and what the sender put into its body.
type rawLine struct {
	identity `json:"-"`

	Metadata  lineMetadata    `json:"metadata"`
	StartPerf int64           `json:"start_perf_ns,omitempty"`
	Headers   json.RawMessage `json:"request_headers,omitempty"`
	Payload   json.RawMessage `json:"payload,omitempty"`
	Status    int64           `json:"status,omitempty"`
	Responses json.RawMessage `json:"responses,omitempty"`
	Error     *failure        `json:"error,omitempty"`
	// Dropped says why payload and responses are missing.
	Dropped string `json:"dropped,omitempty"`
}

// isRaw tells raw records from other logs.
func isRaw(record plog.LogRecord) bool { return record.EventName() == semconv.EventRaw }

// decodeRaw reads one raw record. The sender sets its timestamps to the request's start and end.
func decodeRaw(r resource, record plog.LogRecord) (*rawLine, error) {
	a := attributes{Map: record.Attributes()}
	line := &rawLine{identity: decodeIdentity(&a, r, record.TraceID(), record.SpanID())}
	line.start, line.end = int64(record.Timestamp()), int64(record.ObservedTimestamp())
	line.setHeaders(&a)
	if a.err != nil {
		return nil, a.err
	}
	if record.TraceID().IsEmpty() || record.SpanID().IsEmpty() {
		return nil, fmt.Errorf("a raw record has no trace or span id")
	}
	if record.Body().Type() != pcommon.ValueTypeStr {
		return nil, fmt.Errorf("a raw record's body is %s, not %s", record.Body().Type(), pcommon.ValueTypeStr)
	}
	if err := json.Unmarshal([]byte(record.Body().Str()), line); err != nil {
		return nil, fmt.Errorf("a raw record's body: %w", err)
	}
	return line, nil
}
