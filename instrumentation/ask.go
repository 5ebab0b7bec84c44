package instrumentation

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"github.com/specdecode/otel/semconv"
)

// ask adds to a request's body what makes the server send stats, and changes nothing else of it, not a byte. A member
// that the caller set stays as it is. Bodies that cannot be read stay as they are, too.
func ask(r *http.Request, q *request, engines []string) {
	m, ok := decodeMembers(q.body)
	if !ok || !q.endpoint.asks {
		return
	}
	body := q.body
	if q.streamed {
		body = addUsage(body, m)
	}
	if slices.Contains(engines, semconv.EngineSGLang) && m.get(sglangFlag) == nil {
		body = insert(body, bytes.IndexByte(body, '{'), `"`+sglangFlag+`":true`, len(m) > 0)
	}
	if len(body) == len(q.body) {
		return
	}
	q.body = body
	r.Body.Close()
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
	r.ContentLength = int64(len(body))
}

const (
	streamOptions = "stream_options"
	includeUsage  = "include_usage"
	// sglangFlag is what a request to SGLang asks for stats with.
	sglangFlag = "return_spec_tokens_details"
)

// addUsage asks for a stream's usage: vLLM sends a stream's stats on the chunk that has it.
func addUsage(body []byte, m members) []byte {
	options := m.object(streamOptions)
	switch {
	case m.get(streamOptions) == nil:
		return insert(body, bytes.IndexByte(body, '{'), `"`+streamOptions+`":{"`+includeUsage+`":true}`, len(m) > 0)
	case options == nil || options.get(includeUsage) != nil:
		return body
	}
	return insert(body, memberStart(body, streamOptions), `"`+includeUsage+`":true`, len(options) > 0)
}

// insert puts a member at the beginning of the object that starts at the place.
func insert(body []byte, at int, member string, more bool) []byte {
	if more {
		member += ","
	}
	return slices.Concat(body[:at+1], []byte(member), body[at+1:])
}

// memberStart is where the value of the root's member starts, which is an object.
func memberStart(body []byte, key string) int {
	d := json.NewDecoder(bytes.NewReader(body))
	d.Token() // The object's brace: the body has been decoded before.
	for d.More() {
		name, _ := d.Token()
		var value json.RawMessage
		if d.Decode(&value) != nil {
			break
		}
		if name == key {
			return int(d.InputOffset()) - len(value)
		}
	}
	return bytes.IndexByte(body, '{')
}
