package telemetry

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

const (
	// messageLimit is what a gRPC receiver takes by default, in bytes.
	messageLimit = 4 << 20
	// batchLimit leaves room for the resource and for what the estimate does not see.
	batchLimit = messageLimit / 4 * 3
	// RawLimit bounds a raw record's body, in bytes: a record is never cut in two, so it must fit a message with all
	// of its attributes.
	RawLimit = messageLimit - 64<<10
)

// losses counts what could not be sent.
type losses struct {
	mu    sync.Mutex
	lost  int
	first error
}

func (l *losses) add(n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost += n
	if l.first == nil {
		l.first = err
	}
}

func (l *losses) get() (lost int, first error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost, l.first
}

// splitter cuts batches of spans by size: a receiver refuses a message above its limit whole.
type splitter struct {
	sdktrace.SpanExporter
	losses *losses
}

// ExportSpans sends spans in as many messages as they need. Failures are counted, and do not keep the rest from being
// sent.
func (s splitter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	for len(spans) > 0 {
		n := fitting(spans)
		if err := s.SpanExporter.ExportSpans(ctx, spans[:n]); err != nil {
			s.losses.add(n, err)
		}
		spans = spans[n:]
	}
	return nil
}

// fitting returns how many of the spans fit one message, at least one.
func fitting(spans []sdktrace.ReadOnlySpan) int {
	size := 0
	for i, s := range spans {
		if size += spanSize(s); size > batchLimit && i > 0 {
			return i
		}
	}
	return len(spans)
}

// Bounds of what things take on the wire, in bytes.
const (
	spanBytes      = 256
	attributeBytes = 16
	// elementBytes is an int64 in an array: at most ten bytes as a varint, and two for each of two enclosing messages.
	elementBytes = 14
)

// spanSize is an upper bound of a span's size on the wire, in bytes.
func spanSize(s sdktrace.ReadOnlySpan) int {
	size := spanBytes + len(s.Name()) + len(s.Status().Description) + attributesSize(s.Attributes())
	for _, e := range s.Events() {
		size += spanBytes + len(e.Name) + attributesSize(e.Attributes)
	}
	for _, l := range s.Links() {
		size += spanBytes + attributesSize(l.Attributes)
	}
	return size
}

func attributesSize(attrs []attribute.KeyValue) int {
	size := 0
	for _, a := range attrs {
		size += attributeBytes + len(a.Key)
		switch a.Value.Type() {
		case attribute.STRING:
			size += len(a.Value.AsString())
		case attribute.INT64SLICE:
			size += elementBytes * len(a.Value.AsInt64Slice())
		case attribute.FLOAT64SLICE:
			size += elementBytes * len(a.Value.AsFloat64Slice())
		case attribute.BOOLSLICE:
			size += elementBytes * len(a.Value.AsBoolSlice())
		case attribute.STRINGSLICE:
			for _, v := range a.Value.AsStringSlice() {
				size += elementBytes + len(v)
			}
		default:
			size += elementBytes
		}
	}
	return size
}

// countingLogs counts the raw records that could not be sent.
type countingLogs struct {
	sdklog.Exporter
	losses *losses
}

func (c countingLogs) Export(ctx context.Context, records []sdklog.Record) error {
	if err := c.Exporter.Export(ctx, records); err != nil {
		c.losses.add(len(records), err)
	}
	return nil
}
