package instrumentation

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	conv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
)

// endpoints are the paths that are looked at, by how they end, with the operation that they are.
var endpoints = []struct {
	suffix    string
	operation genaiconv.OperationNameAttr
}{
	{"/chat/completions", genaiconv.OperationNameChat},
	{"/completions", genaiconv.OperationNameTextCompletion},
	{"/responses", genaiconv.OperationNameChat},
	// Native endpoints: SGLang's and llama.cpp's.
	{"/generate", genaiconv.OperationNameTextCompletion},
	{"/completion", genaiconv.OperationNameTextCompletion},
}

// operationOf tells requests that are looked at from others.
func operationOf(r *http.Request) (genaiconv.OperationNameAttr, bool) {
	if r.Method != http.MethodPost || r.URL == nil {
		return "", false
	}
	for _, e := range endpoints {
		if strings.HasSuffix(r.URL.Path, e.suffix) {
			return e.operation, true
		}
	}
	return "", false
}

// request is what is known of a request from its body.
type request struct {
	operation genaiconv.OperationNameAttr
	model     string
	streamed  bool
	// body is the request's body; unread says why it is not here, if it is not.
	body   []byte
	unread string
	attrs  []attribute.KeyValue
}

// readRequest looks at the request's body. It returns the body to send: when the caller's own had to be read, that
// is another one with the same bytes.
func readRequest(r *http.Request, operation genaiconv.OperationNameAttr, max int) (q *request, body io.ReadCloser) {
	q = &request{operation: operation}
	if q.body, body = peek(r, max); len(q.body) > max {
		q.body, q.unread = nil, tooLarge("request body", max)
	}
	m, _ := decodeMembers(q.body)
	q.model = cleaned(m.text("model"), maxName)
	q.streamed = string(m.get("stream")) == "true"
	q.attrs = q.attributes(m)
	return q, body
}

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
	b, err := readUpTo(r.Body, r.ContentLength, max)
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
	attrs := append(make([]attribute.KeyValue, 0, 16), conv.GenAIOperationNameKey.String(string(q.operation)))
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
		if v, err := strconv.ParseFloat(string(m.get(p.name)), 64); m.has(p.name) && err == nil {
			attrs = append(attrs, p.key.Float64(v))
		}
	}
	return attrs
}
