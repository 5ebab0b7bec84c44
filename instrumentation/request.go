package instrumentation

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	conv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
)

// endpoint is a path that is looked at, by how it ends, with the operation that it is.
type endpoint struct {
	suffix    string
	operation genaiconv.OperationNameAttr
	// asks is set where a request can ask for stats.
	asks bool
}

var (
	responses = &endpoint{suffix: "/responses", operation: genaiconv.OperationNameChat}
	endpoints = []*endpoint{
		{"/chat/completions", genaiconv.OperationNameChat, true},
		{"/completions", genaiconv.OperationNameTextCompletion, true},
		responses,
		// Native endpoints: SGLang's and llama.cpp's.
		{"/generate", genaiconv.OperationNameTextCompletion, false},
		{"/completion", genaiconv.OperationNameTextCompletion, false},
	}
)

// endpointOf is the endpoint that a request goes to, or nil for one that is not looked at.
func endpointOf(r *http.Request) *endpoint {
	if r.Method != http.MethodPost || r.URL == nil {
		return nil
	}
	for _, e := range endpoints {
		if strings.HasSuffix(r.URL.Path, e.suffix) {
			return e
		}
	}
	return nil
}

// request is what is known of a request from its body.
type request struct {
	endpoint *endpoint
	model    string
	streamed bool
	// several is set when it asks for more than one text: several choices, or several prompts.
	several bool
	// body is the request's body; unread says why it is not here, if it is not.
	body   []byte
	unread string
	attrs  []attribute.KeyValue
}

// readRequest looks at the request's body. It returns the body to send: when the caller's own had to be read, that
// is another one with the same bytes.
func readRequest(r *http.Request, e *endpoint, max int) (q *request, body io.ReadCloser) {
	q = &request{endpoint: e}
	if q.body, body = peek(r, max); len(q.body) > max {
		q.body, q.unread = nil, tooLarge("request body", max)
	}
	m, _ := decodeMembers(q.body)
	q.model = cleaned(m.text("model"), maxName)
	q.streamed = string(m.get("stream")) == "true"
	q.several = asksForSeveral(m)
	q.attrs = q.attributes(m)
	return q, body
}

// asksForSeveral tells requests for more than one text. A list of numbers is one prompt, as tokens.
func asksForSeveral(m members) bool {
	if n, ok := m.tokens("n").Get(); ok && n > 1 {
		return true
	}
	for _, key := range promptKeys {
		for i, prompt := range elements(m.get(key)) {
			if i > 0 {
				return prompt[0] == '"' || prompt[0] == '['
			}
		}
	}
	return false
}

var promptKeys = []string{"prompt", "text", "input_ids"}

// peek returns the body's bytes, of a longer body the first max+1, and the body to send. An error is the transport's
// to meet.
func peek(r *http.Request, max int) ([]byte, io.ReadCloser) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, r.Body
	}
	if r.GetBody != nil {
		copied, err := r.GetBody()
		if err != nil {
			return nil, r.Body
		}
		defer copied.Close()
		b, err := readUpTo(copied, r.ContentLength, max)
		if err != nil {
			return nil, r.Body
		}
		return b, r.Body
	}
	// The body may be a pipe that nobody writes to. A RoundTripper closes it in any case.
	stop := context.AfterFunc(r.Context(), func() { r.Body.Close() })
	b, err := readUpTo(r.Body, r.ContentLength, max)
	stop()
	again := struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(b), errorReader{err}, r.Body), r.Body}
	if err != nil {
		return nil, again
	}
	return b, again
}

// readUpTo reads at most limit+1 bytes. length is what the request says, -1 when it does not know.
func readUpTo(r io.Reader, length int64, limit int) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(max(length, 0), int64(limit), 1<<20)) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(r, int64(limit)+1))
	return b.Bytes(), err
}

// errorReader gives the error that reading ended with, so that the transport sees what it would have seen.
type errorReader struct{ err error }

func (e errorReader) Read([]byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	return 0, io.EOF
}

// intParameters and floatParameters are the request's parameters that the GenAI conventions name, by the first of
// their names in the body that is there.
var (
	intParameters = []struct {
		key   attribute.Key
		names []string
	}{
		{conv.GenAIRequestMaxTokensKey, []string{"max_completion_tokens", "max_tokens"}},
		{conv.GenAIRequestSeedKey, []string{"seed"}},
		{conv.GenAIRequestChoiceCountKey, []string{"n"}},
	}
	floatParameters = []struct {
		key  attribute.Key
		name string
	}{
		{conv.GenAIRequestTemperatureKey, "temperature"},
		{conv.GenAIRequestTopPKey, "top_p"},
		{conv.GenAIRequestFrequencyPenaltyKey, "frequency_penalty"},
		{conv.GenAIRequestPresencePenaltyKey, "presence_penalty"},
	}
)

func (q *request) attributes(m members) []attribute.KeyValue {
	attrs := append(make([]attribute.KeyValue, 0, 16), conv.GenAIOperationNameKey.String(string(q.endpoint.operation)))
	if q.model != "" {
		attrs = append(attrs, conv.GenAIRequestModel(q.model))
	}
	if q.streamed {
		attrs = append(attrs, conv.GenAIRequestStream(true))
	}
	for _, p := range intParameters {
		for _, name := range p.names {
			if n, err := parseCount(m.get(name)); err == nil {
				attrs = append(attrs, p.key.Int64(n))
				break
			}
		}
	}
	for _, p := range floatParameters {
		if !m.has(p.name) {
			continue
		}
		if v, err := strconv.ParseFloat(string(m.get(p.name)), 64); err == nil {
			attrs = append(attrs, p.key.Float64(v))
		}
	}
	return attrs
}
