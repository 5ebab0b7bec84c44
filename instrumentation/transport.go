package instrumentation

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/propagation"
	conv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/specdecode/otel/semconv"
)

// Transport is an [http.RoundTripper] that records what becomes of requests to an inference server. It is safe for
// concurrent use.
type Transport struct {
	base    http.RoundTripper
	config  *config
	tracer  trace.Tracer
	logger  log.Logger // nil without raw records
	metrics *metrics
}

// NewTransport wraps base, or [http.DefaultTransport] when base is nil. Without options it uses the global
// OpenTelemetry providers.
func NewTransport(base http.RoundTripper, opts ...Option) *Transport {
	if base == nil {
		base = http.DefaultTransport
	}
	c := newConfig(opts)
	t := &Transport{
		base:    base,
		config:  c,
		tracer:  c.tracers.Tracer(ScopeName, trace.WithSchemaURL(conv.SchemaURL)),
		metrics: newMetrics(c.meters),
	}
	if c.loggers != nil && c.maxRaw > 0 {
		t.logger = c.loggers.Logger(ScopeName)
	}
	return t
}

// RoundTrip sends the request. For a request to an inference API it starts a span before, sends its context along,
// and ends the span when the response's body has ended or is closed.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	endpoint := endpointOf(r)
	ok := endpoint != nil
	for _, filter := range t.config.filters {
		ok = ok && filter(r)
	}
	if !ok {
		return t.base.RoundTrip(r)
	}

	call := callFrom(r.Context())
	q, body := readRequest(r, endpoint, t.config.maxBody)
	x := t.start(r, call, q)
	// A RoundTripper must not change the caller's request. This copy gets another body and more headers.
	r = r.WithContext(x.ctx)
	r.Body = body
	if r.Header = r.Header.Clone(); r.Header == nil {
		r.Header = http.Header{}
	}
	if t.config.ask {
		ask(r, q, t.config.askEngines)
	}
	t.config.propagators.Inject(x.ctx, propagation.HeaderCarrier(r.Header))
	x.headers(r)

	resp, err := t.base.RoundTrip(r)
	if err != nil || resp == nil {
		x.fail(cmp.Or(err, errNoResponse))
		return resp, err
	}
	x.respond(resp)
	return resp, nil
}

// errNoResponse stands for a base that breaks its contract; the caller sees what it returned.
var errNoResponse = errors.New("neither a response nor an error")

// start begins the request's span.
func (t *Transport) start(r *http.Request, call *Call, q *request) *exchange {
	name := string(q.endpoint.operation)
	if q.model != "" {
		name += " " + q.model
	}
	attrs := append(q.attrs, conv.GenAIProviderNameKey.String(t.provider()), conv.ServerAddress(r.URL.Hostname()), conv.ServerPort(port(r.URL)))
	attrs = append(attrs, call.Attributes...)
	if call.Phase != "" {
		attrs = append(attrs, semconv.RunPhaseKey.String(call.Phase))
	}
	x := &exchange{t: t, call: call, request: q, started: time.Now()}
	x.ctx, x.span = t.tracer.Start(r.Context(), name,
		clientSpan, trace.WithTimestamp(x.started), trace.WithAttributes(attrs...))
	return x
}

var clientSpan = trace.WithSpanKind(trace.SpanKindClient)

// defaultProvider is the API that is spoken, for as long as the engine is not known.
const defaultProvider = "openai"

func (t *Transport) provider() string {
	if t.config.provider != "" {
		return t.config.provider
	}
	return defaultProvider
}

// port is the server's, by the scheme when the URL has none.
func port(u *url.URL) int {
	n, err := strconv.Atoi(u.Port())
	switch {
	case err == nil:
		return n
	case u.Scheme == "https":
		return 443
	}
	return 80
}
