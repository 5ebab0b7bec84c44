package instrumentation

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
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

// readRequest looks at the body and leaves it in r as it was: r is our own copy of the caller's request.
func readRequest(r *http.Request, operation genaiconv.OperationNameAttr, max int) *request {
	q := &request{operation: operation}
	if q.body = peek(r, max); len(q.body) > max {
		q.body, q.unread = nil, tooLarge("request body", max)
	}
	m, _ := decodeMembers(q.body)
	q.model = cleaned(m.text("model"), maxName)
	q.streamed = string(m.get("stream")) == "true"
	q.attrs = q.attributes(m)
	return q
}

// peek returns the body's bytes, of a longer body the first max+1, and leaves the body to be read again. An error is
// the transport's to meet.
func peek(r *http.Request, max int) []byte {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	if r.GetBody != nil {
		copied, err := r.GetBody()
		if err != nil {
			return nil
		}
		defer copied.Close()
		b, err := io.ReadAll(io.LimitReader(copied, int64(max)+1))
		if err != nil {
			return nil
		}
		return b
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, int64(max)+1))
	rest := r.Body
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(b), errorReader{err}, rest), rest}
	if err != nil {
		return nil
	}
	return b
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
	attrs := []attribute.KeyValue{conv.GenAIOperationNameKey.String(string(q.operation))}
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
		var v float64
		if m.has(p.name) && json.Unmarshal(m.get(p.name), &v) == nil {
			attrs = append(attrs, p.key.Float64(v))
		}
	}
	return attrs
}
