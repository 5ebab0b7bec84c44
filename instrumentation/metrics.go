package instrumentation

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	conv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"

	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

// metrics are the instruments. Bucket bounds are for readers that do not make histograms exponential: without them
// nearly all acceptance lengths fall into the first default bucket, 0 to 5.
type metrics struct {
	length, rate, perVerified  metric.Float64Histogram
	steps, drafted, accepted   metric.Int64Histogram
	stepsByJ, tokens, requests metric.Int64Counter
	duration                   genaiconv.ClientOperationDuration
	firstChunk                 genaiconv.ClientOperationTimeToFirstChunk
	usage                      genaiconv.ClientTokenUsage
}

var (
	lengthBounds = []float64{1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32}
	ratioBounds  = []float64{0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95}
	countBounds  = []float64{0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000}
)

func newMetrics(p metric.MeterProvider) *metrics {
	meter := p.Meter(ScopeName, metric.WithSchemaURL(conv.SchemaURL))
	ratio := func(name, unit, description string, bounds []float64) metric.Float64Histogram {
		h, err := meter.Float64Histogram(name, metric.WithUnit(unit), metric.WithDescription(description), metric.WithExplicitBucketBoundaries(bounds...))
		handle(err)
		return h
	}
	count := func(name, unit, description string) metric.Int64Histogram {
		h, err := meter.Int64Histogram(name, metric.WithUnit(unit), metric.WithDescription(description), metric.WithExplicitBucketBoundaries(countBounds...))
		handle(err)
		return h
	}
	sum := func(name, unit, description string) metric.Int64Counter {
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		handle(err)
		return c
	}
	m := &metrics{
		length:      ratio(semconv.MetricAcceptanceLength, semconv.UnitToken, "Tokens per verify step of a request, 1 + accepted/steps.", lengthBounds),
		rate:        ratio(semconv.MetricAcceptanceRate, semconv.UnitRatio, "Share of a request's draft tokens that were accepted.", ratioBounds),
		perVerified: ratio(semconv.MetricAcceptedPerVerified, semconv.UnitRatio, "Share of the tokens computed in a request's verify steps that were used.", ratioBounds),
		steps:       count(semconv.MetricRequestSteps, semconv.UnitStep, "Verify steps of a request."),
		drafted:     count(semconv.MetricRequestDraftTokens, semconv.UnitToken, "Draft tokens of a request."),
		accepted:    count(semconv.MetricRequestAcceptedDraftTokens, semconv.UnitToken, "Accepted draft tokens of a request."),
		stepsByJ:    sum(semconv.MetricSteps, semconv.UnitStep, "Verify steps by the number of accepted draft tokens."),
		tokens:      sum(semconv.MetricDraftTokens, semconv.UnitToken, "Draft tokens by what became of them."),
		requests:    sum(semconv.MetricRequests, semconv.UnitRequest, "Requests by what became of them."),
	}
	var err error
	m.duration, err = genaiconv.NewClientOperationDuration(meter)
	handle(err)
	m.firstChunk, err = genaiconv.NewClientOperationTimeToFirstChunk(meter)
	handle(err)
	m.usage, err = genaiconv.NewClientTokenUsage(meter)
	handle(err)
	return m
}

func handle(err error) {
	if err != nil {
		otel.Handle(err)
	}
}

// record takes in one request. The context carries its span, so that exemplars lead to the trace.
func (m *metrics) record(x *exchange, result *Result) {
	base := make([]attribute.KeyValue, 0, 4)
	engine := ""
	if result.Record != nil {
		engine = result.Record.Engine
		base = append(base, semconv.EngineKey.String(engine))
	}
	if x.request.model != "" {
		base = append(base, conv.GenAIRequestModel(x.request.model))
	}
	if x.call.Phase != "" {
		base = append(base, semconv.RunPhaseKey.String(x.call.Phase))
	}
	m.requests.Add(x.ctx, 1, with(base, semconv.OutcomeKey.String(result.Outcome)))
	if result.Outcome == semconv.OutcomeVerified {
		m.recordStats(x.ctx, result.Record, base)
	}
	m.recordGenAI(x, result, engine)
}

// with is the set of the base and one more attribute, as an option of a measurement.
func with(base []attribute.KeyValue, kv attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(append(base[:len(base):len(base)], kv)...))
}

func (m *metrics) recordStats(ctx context.Context, r *acceptance.Record, base []attribute.KeyValue) {
	set := metric.WithAttributeSet(attribute.NewSet(base...))
	t := r.Triple()
	if v, ok := t.Length(); ok {
		m.length.Record(ctx, v, set)
	}
	if v, ok := t.Rate(); ok {
		m.rate.Record(ctx, v, set)
	}
	if v, ok := t.PerVerified(); ok {
		m.perVerified.Record(ctx, v, set)
	}
	if n, ok := r.Steps.Get(); ok {
		m.steps.Record(ctx, n, set)
	}
	m.drafted.Record(ctx, r.Drafted, set)
	m.accepted.Record(ctx, r.Accepted, set)
	for j, n := range r.Histogram {
		if n > 0 {
			m.stepsByJ.Add(ctx, n, with(base, semconv.StepAcceptedCountKey.Int(j)))
		}
	}
	m.tokens.Add(ctx, r.Accepted, with(base, semconv.DraftTokenOutcomeKey.String(semconv.DraftTokenAccepted)))
	m.tokens.Add(ctx, r.Drafted-r.Accepted, with(base, semconv.DraftTokenOutcomeKey.String(semconv.DraftTokenRejected)))
}

// recordGenAI records the metrics of the GenAI conventions.
func (m *metrics) recordGenAI(x *exchange, result *Result, engine string) {
	attrs := []attribute.KeyValue{
		conv.GenAIOperationNameKey.String(string(x.request.operation)),
		conv.GenAIProviderNameKey.String(x.t.provider()),
	}
	if engine != "" {
		attrs[1] = conv.GenAIProviderNameKey.String(engine)
	}
	if x.request.model != "" {
		attrs = append(attrs, conv.GenAIRequestModel(x.request.model))
	}
	set := attribute.NewSet(attrs...)
	for kind, tokens := range map[genaiconv.TokenTypeAttr]acceptance.Int{
		genaiconv.TokenTypeInput: result.InputTokens, genaiconv.TokenTypeOutput: result.OutputTokens,
	} {
		if n, ok := tokens.Get(); ok {
			m.usage.Inst().Record(x.ctx, n, with(attrs, conv.GenAITokenTypeKey.String(string(kind))))
		}
	}
	if x.answer.streamed && result.FirstChunk > 0 {
		m.firstChunk.RecordSet(x.ctx, result.FirstChunk.Seconds(), set)
	}
	if result.Failure != nil {
		set = attribute.NewSet(append(attrs, conv.ErrorTypeKey.String(result.Failure.Type))...)
	}
	m.duration.RecordSet(x.ctx, result.End.Seconds(), set)
}
