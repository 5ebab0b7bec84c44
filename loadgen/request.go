package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"

	"github.com/google/uuid"

	"github.com/specdecode/otel/semconv"
)

// payload is the body of a request, in the form in which AIPerf sends it. Extra inputs go before what is set here.
func (c *config) payload(prompt string, index int64) map[string]any {
	body := map[string]any{"model": c.Model, "stream": c.Streaming}
	limit := "max_tokens"
	if c.EndpointType == endpointChat {
		body["messages"] = []map[string]string{{"role": "user", "content": prompt}}
		limit = "max_completion_tokens"
	} else {
		body["prompt"] = prompt
	}
	if c.OutputTokens > 0 {
		body[limit] = c.OutputTokens
	}
	if c.Simulated {
		// Without it the engine would answer a prompt in the same way each time that it comes.
		body["seed"] = index
		if c.Engine == semconv.EngineSGLang {
			body["return_spec_tokens_details"] = true
		}
	}
	maps.Copy(body, c.Extra)
	if body["stream"] == true {
		body["stream_options"] = withUsage(body["stream_options"])
	}
	return body
}

// withUsage asks for usage unless the options say otherwise: vLLM sends a stream's record on the chunk that has it.
func withUsage(options any) any {
	given, ok := options.(map[string]any)
	if !ok && options != nil {
		return options
	}
	merged := map[string]any{"include_usage": true}
	maps.Copy(merged, given)
	return merged
}

// newRequest builds a request. Its ids are in the headers X-Request-Id and X-Correlation-ID.
func (c *config) newRequest(ctx context.Context, prompt string, index int64) (*http.Request, error) {
	payload := c.payload(prompt, index)
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(payload); err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Target.String(), bytes.NewReader(bytes.TrimSuffix(body.Bytes(), []byte("\n"))))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if payload["stream"] == true {
		r.Header.Set("Accept", "text/event-stream")
	}
	r.Header.Set("X-Request-Id", uuid.NewString())
	r.Header.Set("X-Correlation-ID", uuid.NewString())
	c.addHeaders(r)
	return r, nil
}

// addHeaders sets what every request to the server has. The user's headers go before ours, the key before theirs.
func (c *config) addHeaders(r *http.Request) {
	r.Header.Set("User-Agent", "specdecode-loadgen/"+version)
	for name, values := range c.Header {
		r.Header[name] = values
		if name == "Host" {
			r.Host = values[0]
		}
	}
	if c.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+c.APIKey)
	}
}
