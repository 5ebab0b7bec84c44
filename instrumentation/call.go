package instrumentation

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/specdecode/otel/semconv/acceptance"
)

// Call is what a caller tells the transport about one request, beyond the request itself. It travels in the
// request's context, see [ContextWithCall].
type Call struct {
	// Attributes are added to the span at its start.
	Attributes []attribute.KeyValue
	// Phase is the phase of a benchmark run, for the span and the metrics; empty outside of runs.
	Phase string
	// NoRedirects is set by a caller that does not follow redirects: one is a failed request then. Otherwise the request
	// that follows tells what became of it, and the redirect's span has no outcome.
	NoRedirects bool
	// Done, when not nil, is called once, after the span has ended: before the body's last Read or its Close returns,
	// or before RoundTrip returns an error. It must not block.
	Done func(Result)
}

type callKey struct{}

// ContextWithCall returns a context that carries c to the transport.
func ContextWithCall(ctx context.Context, c *Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// noCall is what a caller says who says nothing.
var noCall Call

func callFrom(ctx context.Context) *Call {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		return c
	}
	return &noCall
}

// Result is what became of one request.
type Result struct {
	// SpanContext leads to the request's span.
	SpanContext trace.SpanContext
	// Outcome is one of semconv's Outcome constants.
	Outcome string
	// Failure says what went wrong; nil unless Outcome is semconv.OutcomeError.
	Failure *Failure
	// Record is the acceptance record; nil unless Outcome is semconv.OutcomeVerified or semconv.OutcomeZeroStep.
	Record *acceptance.Record
	// CorruptReason says which identity the stats broke, when Outcome is semconv.OutcomeCorruptStats.
	CorruptReason string
	// InputTokens and OutputTokens are the usage that the server reported.
	InputTokens, OutputTokens acceptance.Int
	// Start is when the request was handed on; End and the timings are after Start.
	Start time.Time
	End   time.Duration
	// Headers is when the response's headers had arrived. FirstChunk and LastChunk are when the first and the last
	// chunk with text, reasoning text or a tool call arrived. Zero when there were none.
	Headers, FirstChunk, LastChunk time.Duration
	// Raw reports whether a raw record was made; RawDropped says why its bodies were left out, if they were.
	Raw        bool
	RawDropped string
}

// Failure is the error of a request, in the form that reports list.
type Failure struct {
	// Code is the HTTP status, or the code that an error event gives; 0 when there was no answer.
	Code int
	// Type is the value of error.type: the status code as text, or one of semconv's Error constants.
	Type string
	// Message says what happened: the status text or the transport's error. It quotes the server's error body only
	// with [WithErrorBody].
	Message string
}
