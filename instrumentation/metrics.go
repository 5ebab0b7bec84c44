package instrumentation

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	conv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"

	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

// metrics are the instruments. Bucket bounds are for readers that do not make histograms exponential: without them
// nearly all acceptance lengths fall into the first default bucket, 0 to 5.
type metrics struct {
	mu     sync.Mutex
	series map[seriesKey]*series

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
		series:      map[seriesKey]*series{},
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
	key := seriesKey{operation: string(x.request.endpoint.operation), provider: x.t.provider(), model: x.request.model, phase: x.call.Phase}
	if result.Record != nil {
		key.engine, key.provider = result.Record.Engine, result.Record.Engine
	}
	s := m.seriesOf(key)
	m.requests.Add(x.ctx, 1, s.outcomes[result.Outcome]...)
	if result.Outcome == semconv.OutcomeVerified {
		m.recordStats(x.ctx, result.Record, s)
	}
	m.recordGenAI(x, result, s)
}

func (m *metrics) recordStats(ctx context.Context, r *acceptance.Record, s *series) {
	t := r.Triple()
	if v, ok := t.Length(); ok {
		m.length.Record(ctx, v, s.base...)
	}
	if v, ok := t.Rate(); ok {
		m.rate.Record(ctx, v, s.base...)
	}
	if v, ok := t.PerVerified(); ok {
		m.perVerified.Record(ctx, v, s.base...)
	}
	if n, ok := r.Steps.Get(); ok {
		m.steps.Record(ctx, n, s.base...)
	}
	m.drafted.Record(ctx, r.Drafted, s.base...)
	m.accepted.Record(ctx, r.Accepted, s.base...)
	for j, n := range r.Histogram {
		if n > 0 {
			m.stepsByJ.Add(ctx, n, s.step(j)...)
		}
	}
	m.tokens.Add(ctx, r.Accepted, s.acceptedTokens...)
	m.tokens.Add(ctx, r.Drafted-r.Accepted, s.rejectedTokens...)
}

// recordGenAI records the metrics of the GenAI conventions.
func (m *metrics) recordGenAI(x *exchange, result *Result, s *series) {
	if n, ok := result.InputTokens.Get(); ok {
		m.usage.Inst().Record(x.ctx, n, s.inputTokens...)
	}
	if n, ok := result.OutputTokens.Get(); ok {
		m.usage.Inst().Record(x.ctx, n, s.outputTokens...)
	}
	if x.answer.streamed && result.FirstChunk > 0 {
		m.firstChunk.Inst().Record(x.ctx, result.FirstChunk.Seconds(), s.call...)
	}
	call := s.call
	if result.Failure != nil {
		call = record(s.callAttributes, conv.ErrorTypeKey.String(result.Failure.Type))
	}
	m.duration.Inst().Record(x.ctx, result.End.Seconds(), call...)
}
