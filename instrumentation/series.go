package instrumentation

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	conv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"

	"github.com/specdecode/otel/semconv"
)

// seriesKey is what requests share when their measurements go into the same series.
type seriesKey struct{ engine, operation, provider, model, phase string }

// series are the attribute sets of a key's measurements, made once: making them costs more than measuring.
type series struct {
	attributes, callAttributes     []attribute.KeyValue
	base, call                     []metric.RecordOption
	inputTokens, outputTokens      []metric.RecordOption
	outcomes                       map[string][]metric.AddOption
	acceptedTokens, rejectedTokens []metric.AddOption
	steps                          [keptSteps][]metric.AddOption
}

const (
	// keptSteps is how many numbers of accepted tokens have their sets made once; more per step are rare.
	keptSteps = 17
	// maxSeries bounds how many keys are kept: the model's name is the request's.
	maxSeries = 1000
)

// seriesOf returns the sets of a key.
func (m *metrics) seriesOf(key seriesKey) *series {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.series[key]; ok {
		return s
	}
	s := newSeries(key)
	if len(m.series) < maxSeries {
		m.series[key] = s
	}
	return s
}

func newSeries(key seriesKey) *series {
	s := &series{outcomes: map[string][]metric.AddOption{}}
	s.callAttributes = []attribute.KeyValue{conv.GenAIOperationNameKey.String(key.operation), conv.GenAIProviderNameKey.String(key.provider)}
	if key.engine != "" {
		s.attributes = append(s.attributes, semconv.EngineKey.String(key.engine))
	}
	if key.model != "" {
		s.attributes = append(s.attributes, conv.GenAIRequestModel(key.model))
		s.callAttributes = append(s.callAttributes, conv.GenAIRequestModel(key.model))
	}
	if key.phase != "" {
		s.attributes = append(s.attributes, semconv.RunPhaseKey.String(key.phase))
	}
	s.base, s.call = record(s.attributes), record(s.callAttributes)
	s.inputTokens = record(s.callAttributes, conv.GenAITokenTypeKey.String(string(genaiconv.TokenTypeInput)))
	s.outputTokens = record(s.callAttributes, conv.GenAITokenTypeKey.String(string(genaiconv.TokenTypeOutput)))
	for _, outcome := range []string{semconv.OutcomeVerified, semconv.OutcomeZeroStep, semconv.OutcomeNoStats, semconv.OutcomeCorruptStats, semconv.OutcomeError} {
		s.outcomes[outcome] = add(s.attributes, semconv.OutcomeKey.String(outcome))
	}
	s.acceptedTokens = add(s.attributes, semconv.DraftTokenOutcomeKey.String(semconv.DraftTokenAccepted))
	s.rejectedTokens = add(s.attributes, semconv.DraftTokenOutcomeKey.String(semconv.DraftTokenRejected))
	for j := range s.steps {
		s.steps[j] = add(s.attributes, semconv.StepAcceptedCountKey.Int(j))
	}
	return s
}

// step returns the set of steps that accepted j draft tokens.
func (s *series) step(j int) []metric.AddOption {
	if j < keptSteps {
		return s.steps[j]
	}
	return add(s.attributes, semconv.StepAcceptedCountKey.Int(j))
}

func set(base, more []attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(append(base[:len(base):len(base)], more...)...))
}

func record(base []attribute.KeyValue, more ...attribute.KeyValue) []metric.RecordOption {
	return []metric.RecordOption{set(base, more)}
}

func add(base []attribute.KeyValue, more ...attribute.KeyValue) []metric.AddOption {
	return []metric.AddOption{set(base, more)}
}
