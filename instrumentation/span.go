package instrumentation

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	conv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

// finish records everything of a request whose end has come: span, metrics, raw record, and the caller's own use.
func (x *exchange) finish(result Result, ignored string) {
	attrs := append(make([]attribute.KeyValue, 0, 32), semconv.OutcomeKey.String(result.Outcome))
	add := func(kv attribute.KeyValue) { attrs = append(attrs, kv) }
	count := func(key attribute.Key, i acceptance.Int) {
		if n, ok := i.Get(); ok {
			add(key.Int64(n))
		}
	}
	a := &x.answer
	if x.status != 0 {
		add(conv.HTTPResponseStatusCode(x.status))
	}
	if a.id != "" {
		add(conv.GenAIResponseID(a.id))
	}
	if a.model != "" {
		add(conv.GenAIResponseModel(a.model))
	}
	if reasons := slices.DeleteFunc(a.finishReasons, func(s string) bool { return s == "" }); len(reasons) > 0 {
		add(conv.GenAIResponseFinishReasons(reasons...))
	}
	count(conv.GenAIUsageInputTokensKey, result.InputTokens)
	count(conv.GenAIUsageOutputTokensKey, result.OutputTokens)
	attrs = x.timings(attrs)
	if a.streamed && a.first > 0 {
		add(conv.GenAIResponseTimeToFirstChunk(a.first.Seconds()))
	}
	if len(a.gaps) > 0 {
		add(semconv.ChunkGapsKey.Int64Slice(a.gaps))
	}
	if result.Record != nil {
		attrs = x.appendRecord(attrs, result.Record)
	}
	if result.CorruptReason != "" {
		add(semconv.CorruptReasonKey.String(result.CorruptReason))
	}
	if ignored != "" {
		add(semconv.IgnoredKey.String(ignored))
	}
	if result.Outcome == semconv.OutcomeNoStats && ignored == "" {
		sent, _ := decodeMembers(x.request.body)
		if missing := a.missing(sent, x.header); missing != "" {
			add(semconv.MissingKey.String(missing))
		}
	}
	if f := result.Failure; f != nil {
		add(conv.ErrorTypeKey.String(f.Type))
		if f.Code != 0 && f.Code != x.status {
			add(semconv.ErrorCodeKey.Int(f.Code))
		}
		x.span.SetStatus(codes.Error, f.Message)
	}
	x.span.SetAttributes(attrs...)
	x.t.metrics.record(x, &result)
	if x.raw != nil {
		result.Raw, result.RawDropped = true, x.raw.emit(x, &result)
	}
	x.span.End(trace.WithTimestamp(x.started.Add(result.End)))
	if x.call.Done != nil {
		x.call.Done(result)
	}
}

// timings appends the arrivals that were seen, for the span and the raw record.
func (x *exchange) timings(attrs []attribute.KeyValue) []attribute.KeyValue {
	for _, t := range []struct {
		key attribute.Key
		at  time.Duration
	}{
		{semconv.HeadersKey, x.received},
		{semconv.FirstChunkKey, x.answer.first},
		{semconv.SecondChunkKey, x.answer.second},
		{semconv.LastChunkKey, x.answer.last},
	} {
		if t.at > 0 {
			attrs = append(attrs, t.key.Int64(int64(t.at)))
		}
	}
	return attrs
}

// appendRecord appends the span's attributes that hold the record.
func (x *exchange) appendRecord(attrs []attribute.KeyValue, r *acceptance.Record) []attribute.KeyValue {
	attrs = append(attrs,
		semconv.EngineKey.String(r.Engine),
		conv.GenAIProviderNameKey.String(r.Engine),
		semconv.DraftTokensKey.Int64(r.Drafted),
		semconv.AcceptedDraftTokensKey.Int64(r.Accepted),
	)
	if n, ok := r.Steps.Get(); ok {
		attrs = append(attrs, semconv.StepsKey.Int64(n))
	}
	if n, ok := r.MaxDraft.Get(); ok {
		attrs = append(attrs, semconv.MaxDraftTokensKey.Int64(n))
	}
	t := r.Triple()
	if v, ok := t.Length(); ok {
		attrs = append(attrs, semconv.AcceptanceLengthKey.Float64(v))
	}
	if v, ok := t.Rate(); ok {
		attrs = append(attrs, semconv.AcceptanceRateKey.Float64(v))
	}
	if r.Histogram != nil {
		attrs = append(attrs, semconv.AcceptanceHistogramKey.Int64Slice(r.Histogram))
	}
	if r.ByDraftLength != nil {
		attrs = append(attrs, semconv.AcceptanceByDraftLengthKey.Int64Slice(r.ByDraftLength.Flat()))
	}
	if keep := min(x.t.config.maxSteps, len(r.StepAccepted)); keep > 0 {
		attrs = append(attrs, semconv.StepAcceptedKey.Int64Slice(r.StepAccepted[:keep]), semconv.StepDraftedKey.Int64Slice(r.StepDrafted[:keep]))
		if dropped := len(r.StepAccepted) - keep; dropped > 0 {
			attrs = append(attrs, semconv.StepDroppedKey.Int(dropped))
		}
	}
	return attrs
}
