package collectorexporter

import (
	"cmp"
	"net/http"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	conv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

// resource is what a batch's resource says for all of its spans and logs.
type resource struct {
	runID, instance string
}

func decodeResource(r pcommon.Resource) (resource, error) {
	a := attributes{Map: r.Attributes()}
	return resource{runID: a.text(semconv.RunIDKey), instance: a.text(conv.ServiceInstanceIDKey)}, a.err
}

// decodeIdentity reads what spans and raw records have in common. Times are left to the caller.
func decodeIdentity(a *attributes, r resource, traceID pcommon.TraceID, spanID pcommon.SpanID) identity {
	id := identity{
		key:            spanKey{traceID, spanID},
		runID:          r.runID,
		instance:       r.instance,
		phase:          a.text(semconv.RunPhaseKey),
		phaseIndex:     a.int(semconv.RunPhaseIndexKey),
		index:          a.count(semconv.RequestIndexKey),
		requestID:      a.text(semconv.RequestIDKey),
		correlationID:  a.text(semconv.RequestCorrelationIDKey),
		conversationID: a.text(conv.GenAIConversationIDKey),
		turn:           a.int(semconv.RequestTurnKey),
		category:       a.text(semconv.RequestCategoryKey),
		issued:         a.int(semconv.RequestIssuedKey),
		cancelled:      a.text(conv.ErrorTypeKey) == semconv.ErrorCancelled,
	}
	switch id.phase {
	case semconv.PhaseWarmup, semconv.PhaseProfiling:
	case "":
		// Requests outside of a benchmark have no warm-up: all count.
		id.phase = semconv.PhaseProfiling
	default:
		a.fail("attribute %s is %q", semconv.RunPhaseKey, id.phase)
	}
	return id
}

// setHeaders turns the arrival of the headers into a time.
func (id *identity) setHeaders(a *attributes) {
	if after, ok := a.count(semconv.HeadersKey).Get(); ok {
		id.headers = id.start + after
	}
}

// isRequest tells the spans of instrumented requests from all others, such as the server's in the same trace: ours
// say what became of the request.
func isRequest(span ptrace.Span) bool {
	_, ok := span.Attributes().Get(string(semconv.OutcomeKey))
	return ok
}

// isRun tells the span of a run.
func isRun(span ptrace.Span) bool {
	return span.Name() == semconv.SpanRun && span.Kind() == ptrace.SpanKindInternal
}

// decodeRequest makes an observation of a request's span. An error means that the span cannot be used.
func decodeRequest(r resource, span ptrace.Span) (*observation, error) {
	a := attributes{Map: span.Attributes()}
	o := &observation{
		identity:     decodeIdentity(&a, r, span.TraceID(), span.SpanID()),
		outcome:      a.text(semconv.OutcomeKey),
		corrupt:      a.text(semconv.CorruptReasonKey),
		ignored:      a.text(semconv.IgnoredKey),
		missing:      a.text(semconv.MissingKey),
		inputTokens:  a.count(conv.GenAIUsageInputTokensKey),
		outputTokens: a.count(conv.GenAIUsageOutputTokensKey),
		streamed:     a.flag(conv.GenAIRequestStreamKey),
		firstChunk:   a.count(semconv.FirstChunkKey),
		secondChunk:  a.count(semconv.SecondChunkKey),
		lastChunk:    a.count(semconv.LastChunkKey),
		chunkGaps:    a.ints(semconv.ChunkGapsKey),
	}
	o.start, o.end = int64(span.StartTimestamp()), int64(span.EndTimestamp())
	o.setHeaders(&a)
	if span.TraceID().IsEmpty() || span.SpanID().IsEmpty() {
		a.fail("a request's span has no trace or span id")
	}
	if o.end < o.start {
		a.fail("a request's span ends before it starts")
	}
	switch o.outcome {
	case semconv.OutcomeVerified, semconv.OutcomeZeroStep:
		o.decodeRecord(&a)
	case semconv.OutcomeNoStats, semconv.OutcomeCorruptStats:
	case semconv.OutcomeError:
		o.decodeFailure(&a, span.Status().Message())
	default:
		a.fail("attribute %s is %q", semconv.OutcomeKey, o.outcome)
	}
	return o, a.err
}

// decodeFailure reads why a request failed. A failure by HTTP status has the status as its error.type; reports name
// it in words, as AIPerf does.
func (o *observation) decodeFailure(a *attributes, message string) {
	o.failure = &failure{
		Code:    cmp.Or(a.int(semconv.ErrorCodeKey), badStatus(a.int(conv.HTTPResponseStatusCodeKey))),
		Type:    a.text(conv.ErrorTypeKey),
		Message: bounded(message, maxText),
	}
	if o.failure.Type == strconv.FormatInt(o.failure.Code, 10) {
		o.failure.Type = cmp.Or(http.StatusText(int(o.failure.Code)), o.failure.Type)
	}
}

// badStatus is the status of a failed answer: a good one is not why the request failed.
func badStatus(status int64) int64 {
	if status >= 200 && status < 300 {
		return 0
	}
	return status
}

// decodeRecord reads the acceptance record. One that contradicts itself is none, and the request still counts.
func (o *observation) decodeRecord(a *attributes) {
	record := &acceptance.Record{
		Engine:           a.text(semconv.EngineKey),
		Accepted:         a.int(semconv.AcceptedDraftTokensKey),
		Drafted:          a.int(semconv.DraftTokensKey),
		Steps:            a.count(semconv.StepsKey),
		Histogram:        a.ints(semconv.AcceptanceHistogramKey),
		MaxDraft:         a.count(semconv.MaxDraftTokensKey),
		CompletionTokens: o.outputTokens,
	}
	if flat := a.ints(semconv.AcceptanceByDraftLengthKey); flat != nil {
		joint, ok := acceptance.Unflatten(flat)
		if !ok {
			a.fail("attribute %s has %d elements, which are no rows of 1, 2, 3, ...", semconv.AcceptanceByDraftLengthKey, len(flat))
		}
		record.ByDraftLength = joint
	}
	if a.int(semconv.StepDroppedKey) == 0 {
		// Arrays that leave steps out would be taken for the whole request.
		record.StepAccepted, record.StepDrafted = a.ints(semconv.StepAcceptedKey), a.ints(semconv.StepDraftedKey)
	}
	if a.err != nil {
		return
	}
	if err := record.Validate(); err != nil {
		o.outcome, o.corrupt = semconv.OutcomeCorruptStats, err.Error()
		return
	}
	if err := record.CheckByDraftLength(); err != nil {
		o.ignored = string(semconv.AcceptanceByDraftLengthKey) + ": " + err.Error()
		record.ByDraftLength = nil
	}
	if zero := record.ZeroStep(); zero != (o.outcome == semconv.OutcomeZeroStep) {
		o.outcome, o.corrupt = semconv.OutcomeCorruptStats, "the outcome contradicts the number of steps"
		return
	}
	o.record = record
}

// decodeRun reads a run's own span.
func decodeRun(r resource, span ptrace.Span) (*announcement, error) {
	a := attributes{Map: span.Attributes()}
	n := &announcement{
		key:       spanKey{span.TraceID(), span.SpanID()},
		runID:     r.runID,
		config:    a.whole(semconv.RunConfigKey),
		version:   a.text(semconv.RunToolVersionKey),
		cancelled: a.flag(semconv.RunCancelledKey),
		warmup: announced{
			requests:  a.int(semconv.RunWarmupRequestsKey),
			failed:    a.int(semconv.RunWarmupFailedKey),
			cancelled: a.int(semconv.RunWarmupCancelledKey),
		},
		profiling: announced{
			requests:  a.int(semconv.RunProfilingRequestsKey),
			failed:    a.int(semconv.RunProfilingFailedKey),
			cancelled: a.int(semconv.RunProfilingCancelledKey),
		},
		rawRecords: a.int(semconv.RunRawRecordsKey),
	}
	return n, a.err
}
