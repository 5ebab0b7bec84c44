package instrumentation

import (
	"net/http"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// ScopeName is the instrumentation scope of everything that this package records.
const ScopeName = "github.com/specdecode/otel/instrumentation"

// DefaultMaxBody is how much of an unstreamed body, or of one event of a stream, is kept to be read, in bytes.
const DefaultMaxBody = 8 << 20

// maxMaxBody is the highest limit that can be set, so that sums of it and small numbers stay integers.
const maxMaxBody = 1 << 30

type config struct {
	tracers     trace.TracerProvider
	meters      metric.MeterProvider
	loggers     log.LoggerProvider
	propagators propagation.TextMapPropagator
	filters     []func(*http.Request) bool
	provider    string
	maxBody     int
	maxSteps    int
	maxGaps     int
	maxError    int
	maxRaw      int
	ask         bool
	askEngines  []string
}

// Option configures a [Transport].
type Option func(*config)

func newConfig(opts []Option) *config {
	c := &config{maxBody: DefaultMaxBody}
	for _, o := range opts {
		o(c)
	}
	c.maxBody = min(max(c.maxBody, 0), maxMaxBody)
	if c.tracers == nil {
		c.tracers = otel.GetTracerProvider()
	}
	if c.meters == nil {
		c.meters = otel.GetMeterProvider()
	}
	if c.propagators == nil {
		c.propagators = otel.GetTextMapPropagator()
	}
	return c
}

// WithTracerProvider sets where spans go; the default is the global provider.
func WithTracerProvider(p trace.TracerProvider) Option { return func(c *config) { c.tracers = p } }

// WithMeterProvider sets where metrics go; the default is the global provider.
func WithMeterProvider(p metric.MeterProvider) Option { return func(c *config) { c.meters = p } }

// WithPropagators sets how the trace context is sent to the server; the default is the global propagator.
func WithPropagators(p propagation.TextMapPropagator) Option {
	return func(c *config) { c.propagators = p }
}

// WithFilter adds a condition: a request for which any filter returns false passes without being looked at. Requests
// that are not a POST to an endpoint of an inference API pass so in any case.
func WithFilter(f func(*http.Request) bool) Option {
	return func(c *config) { c.filters = append(c.filters, f) }
}

// WithProvider sets gen_ai.provider.name for as long as the engine is not known from its answer; without it the
// attribute is "openai", the API that is spoken.
func WithProvider(name string) Option { return func(c *config) { c.provider = name } }

// WithMaxBody bounds how many bytes of an unstreamed body, or of one event of a stream, are kept to be read; the
// default is [DefaultMaxBody], the most is 1 GiB. What is larger passes on all the same, and its stats go unread.
func WithMaxBody(bytes int) Option { return func(c *config) { c.maxBody = bytes } }

// WithPerStep records per-step arrays of up to max steps, when the engine reports them. The default is none: at
// thousands of steps they are larger than many backends take.
func WithPerStep(max int) Option { return func(c *config) { c.maxSteps = max } }

// WithChunkGaps records up to max times between chunks of a stream. The default is none.
func WithChunkGaps(max int) Option { return func(c *config) { c.maxGaps = max } }

// WithErrorBody puts up to max bytes of a failed answer's body into the span's status. The default is none, because a
// server's error can quote the prompt.
func WithErrorBody(max int) Option { return func(c *config) { c.maxError = max } }

// WithRaw makes a log record of each request and its answer in full: prompt, answer and headers. Of headers whose name
// speaks of a key, a token, authorization, a cookie or the like the value is redacted. Bodies that together exceed max bytes are left out, and the record says so. It is off by
// default.
func WithRaw(p log.LoggerProvider, max int) Option {
	return func(c *config) { c.loggers, c.maxRaw = p, max }
}

// WithRequestStats adds to each request what makes servers send stats: stream_options.include_usage in a request for a
// stream, and, when SGLang is among the named engines (semconv.EngineSGLang), its return_spec_tokens_details. Only chat
// and text completions of the OpenAI API can ask so. Nothing else of a request changes, and what a request says itself stays. The default is to leave requests alone.
func WithRequestStats(engines ...string) Option {
	return func(c *config) { c.ask, c.askEngines = true, engines }
}
